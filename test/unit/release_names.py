"""Names of actions and object classes in the public release of SIMMER: facts, no text of it."""

ACTIONS = """
air_dry bake beat blanch blend boil break brew brush chop close combine cool cover crush cut
dip discard drain drizzle dry fill flip fold freeze fry grab grate grill grind heat indent
juice mash mince mix open peel pierce pour preheat press put_in put_on refrigerate rest rinse
roast roll roll_out scoop serve set_temp set_timer shake shape simmer slice soak spray spread
squeeze steam stir strain switch_off switch_on take_out toast transfer uncover unwrap wait
walk wash whisk wrap
""".split()

CLASSES = """
air_fryer alfredo_sauce almond aluminum_foil apple aubergine avocado bacon baking_dish
baking_powder baking_sheet baking_soda banana basil basil_flakes bay_leaf beef beef_stock beer
beet bell_pepper birch_bark black_pepper blender blueberry bottle bouillon bowl bread
bread_crumbs brie brown_sugar brownie brush butter buttermilk butternut_squash cabinet cake
caramel_candy caramel_sauce carrot cayenne cbd_oil celery chamomile cheddar_cheese cheesecloth
chicken_breast chicken_broth chili_powder chives chives_flakes chocolate chutney cilantro
cinnamon citric_acid clove cocoa_butter cocoa_powder coconut_milk coffee_beans coffee_ground
coffee_machine colander condensed_milk cookie corn_syrup cornmeal cornstarch cottage_cheese
counter cream cream_cheese cucumber cumin cup curry_powder cutting_board dill dish_towel
double_boiler dragon_fruit drawer egg evaporated_milk fish flavored_beverage flavoring flour
food_coloring food_container fork freezer freezer_bag fridge frozen_yogurt funnel gammon
garlic garlic_powder gelatin ginger glass glycerine graham_cracker grapes grater greek_yogurt
green_chile green_onion griddle grill grinder ground_beef ground_chicken ground_pork gum_base
hand_mixer heavy_cream hoisin_sauce honey ice ice_cream jalapeno jam jar juice juicer ketchup
kinako knife ladle lasagna_noodle leek lemon lemon_juice lentils lettuce licorice_root lime
maple_syrup marinara_sauce marshmallow mayonnaise microwave milk mochiko molasses mold
mozzarella muffin_pan mug mushroom mustard mustard_powder nettles nori nutmeg nuts oil okra
onion orange oregano oven oxtail oyster_sauce pan pancake_mix pantry paper_case paper_towel
parchment_paper parmesan parsley parsley_flakes pasta peach peanut peas peeler peppers
pheasant pie_crust pike_fillet pitcher plastic_wrap plate pot potato potato_masher
pour_over_brewer powdered_sugar rack red_wine rice rice_cooker rice_vinegar ricotta
rolling_mat rolling_pin root_beer_extract rosemary rosemary_flakes rutabaga sage salad_spinner
salsa salt saucepan sausage scissors scoop sesame_seed shrimp sink siphon skewer slotted_spoon
soy_sauce soybean spatula spoon sprinkles stand_mixer steamer stove strainer straw strawberry
sugar sweetcorn swiss_chard tea_leaves teapot thai_herb thyme thyme_flakes tomatillo tomato
tomato_paste tomato_puree tomato_sauce tongs tortilla trash_bin turnip vanilla vinegar
waffle_iron water water_chestnut whipped_cream whisk wok wonton_wrapper yeast yogurt zester
zucchini
""".split()
