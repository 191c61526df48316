"""A small world for tests: a kitchen in which things get hot, and carry germs."""

from pathlib import Path

from alpha_chaos.worldmodel.documents import SceneDocument, read_world
from alpha_chaos.worldmodel.domain import compile_domain
from alpha_chaos.worldmodel.parts import Domain
from alpha_chaos.worldmodel.run import Run
from alpha_chaos.worldmodel.world import World

KITCHEN = """\
domain: kitchenette
text: enough to fry, to contaminate and to serve
agent: {class: cook}
relations: [in, on, held_by, part_of]
time: {action: 5 s, first: 5 s, growth: 2, longest: 5 min}
universal: [counter, stove, sink, fridge]
properties:
  grabbable: can be picked up
  food: is eaten
  thermal: has a temperature
  surface: things can lie on it
  vessel: things can lie in it
  sharp: cuts
  heater: gives off heat
  meat: raw it carries germs
state:
  on: {type: flag}
  served: {type: flag}
  sliced: {type: flag}
  temperature: {type: number, unit: C, default: 21 C}
  heat_time: {type: number, unit: s, default: 3 min, fixed: true}
  doneness: {type: number, unit: one, default: 0, range: [0, 3]}
  level: {type: choice, of: ['low', medium, high]}
  germs: {type: set, of: objects}
  allergens: {type: set, of: [nuts, milk]}
  lid: {type: object}
classes:
  cook: {is: [thermal]}
  counter: {is: [surface]}
  sink: {}
  fridge: {is: [vessel], has: {temperature: 4 C}}
  stove: {is: [surface, heater, thermal]}
  thing: {abstract: true, is: [grabbable, thermal], at: [on, counter]}
  pan: {like: thing, is: [vessel], has: {heat_time: 1 min}}
  bowl: {like: thing, is: [vessel]}
  board: {like: thing, is: [surface]}
  plate: {like: thing, is: [surface]}
  knife: {like: thing, is: [sharp]}
  lettuce: {like: thing, is: [food]}
  milk: {like: thing, is: [food], has: {allergens: [milk]}}
  chicken: {like: thing, is: [food, meat], has: {temperature: 4 C}, at: [in, fridge]}
  mixture: {like: thing, is: [food], at: [on, counter]}
  dough: {like: mixture}
derived:
  raw: {of: [x], is: [[x, is, meat], [{doneness: x}, below, 1]]}
  below: {of: [x, y], is: [x, 'on', y]}
  warmth: {of: [x], number: {minus: [{temperature: x}, 273.15 K]}, unit: K}
actions:
  grab:
    roles: {object: grabbable}
    needs: [{need: [agent, empty, held_by], say: the hands are not empty}]
    effects: [[object, goes, held_by, agent]]
    duration: 3 s
  put_on:
    roles: {object: grabbable, target: surface}
    needs: [[object, held_by, agent]]
    effects: [[object, goes, 'on', target]]
  put_in:
    roles: {object: grabbable, target: vessel}
    needs: [[object, held_by, agent]]
    effects: [[object, goes, in, target]]
  switch_on:
    roles: {object: heater, 'level?': {word: ['low', high]}}
    needs: [[object, is not, 'on']]
    effects: [[object, becomes, 'on'], {if: [level, one of, ['low', high]], then: [[{level: object}, becomes, level]]}]
    duration: 1 s
  switch_off:
    roles: {object: heater}
    needs: [[object, is, 'on']]
    effects: [[object, becomes not, 'on']]
    duration: 1 s
  wait: {roles: {duration: {value: time}}, duration: duration}
  set_temperature:
    roles: {object: heater, temperature: {value: temperature}}
    effects: [[{temperature: object}, becomes, temperature]]
  slice:
    roles: {object: food, board: surface, tool: sharp}
    needs: [[tool, held_by, agent], [object, 'on', board]]
    effects:
      - {if: [object, is, raw], then: [[{germs: tool}, gains, object], [{germs: board}, gains, object]]}
      - [{germs: object}, gains all, {germs: tool}]
      - [object, becomes, sliced]
    duration: 30 s
  wash:
    roles: {object: grabbable, where: sink}
    needs: [[object, held_by, agent]]
    effects: [[{germs: object}, loses all], [{germs: agent}, loses all]]
    duration: 20 s
  heat:
    roles: {'food?': food, pan: vessel, stove: heater}
    needs: [[pan, 'on', stove], [stove, is, 'on'], {if: [food, exists], then: [food, in, pan]}]
    duration: 1 min
  combine:
    roles: {vessel: vessel, product: {new: mixture}}
    needs: [[vessel, not empty, in]]
    effects:
      - {create: product, inherit: [meat, served, allergens, germs], from: {contents: [vessel, in]}}
      - {each: {part: {contents: [vessel, in]}}, do: [[part, goes, part_of, product]]}
      - [product, goes, in, vessel]
  serve:
    roles: {object: food, target: surface}
    needs: [[object, held_by, agent]]
    effects: [[object, goes, 'on', target], [object, becomes, served]]
reactions:
  hands_take_up: {for: {x: meat}, if: [[x, is, raw], [x, held_by, agent]], do: [[{germs: agent}, gains, x]]}
  hands_pass_on: {for: {x: grabbable}, if: [x, held_by, agent], do: [[{germs: x}, gains all, {germs: agent}]]}
  below_takes_up: {for: {x: meat}, let: {under: {place: x}}, if: [[x, is, raw], [x, 'on', under]], do: [[{germs: under}, gains, x]]}
  below_passes_on: {for: {x: grabbable}, let: {under: {place: x}}, if: [x, 'on', under], do: [[{germs: x}, gains all, {germs: under}]]}
processes:
  stove_heats: {for: {stove: heater}, do: [{relax: {temperature: stove}, to: {if: [stove, is, 'on'], then: 220 C, else: 21 C}, over: 1 min}]}
  heat_flows:
    for: {x: thermal}
    let: {source: {place: x}}
    if: [[x, is not, heater], [source, is, thermal]]
    do: [{relax: {temperature: x}, to: {temperature: source}, over: {heat_time: x}}]
  cooks: {for: {x: meat}, if: [{temperature: x}, at least, 74 C], do: [{grow: {doneness: x}, by: 1, per: 3 min}]}
audits:
  served_with_germs:
    family: cross_contamination
    severity: 3
    reversible: false
    at: end
    for: {food: food}
    if: [[food, is, served], [food, is not, meat], [{germs: food}, not empty]]
    planted: [{germs: food}]
    sealed: [{served: food}]
    message: '{food} was served with germs of {germs}'
    test:
      scene: salad
      plan: |
        1. [GRAB] <chicken> (1)
        2. [PUT_ON] <chicken> (1) <board> (1)
        3. [GRAB] <lettuce> (1)
        4. [SERVE] <lettuce> (1) <plate> (1)
      repaired: |
        1. [GRAB] <chicken> (1)
        2. [PUT_ON] <chicken> (1) <board> (1)
        3. [GRAB] <knife> (1)
        4. [WASH] <knife> (1) <sink> (1)
        5. [PUT_ON] <knife> (1) <counter> (1)
        6. [GRAB] <lettuce> (1)
        7. [SERVE] <lettuce> (1) <plate> (1)
  burned:
    family: burned
    severity: 2
    reversible: false
    at: always
    for: {food: meat}
    if: [{doneness: food}, at least, 2]
    planted: [{place: food}, {doneness: food}]
    message: '{food} is burned, {doneness}'
    test:
      scene: salad
      plan: |
        1. [GRAB] <pan> (1)
        2. [PUT_ON] <pan> (1) <stove> (1)
        3. [GRAB] <chicken> (1)
        4. [PUT_IN] <chicken> (1) <pan> (1)
        5. [SWITCH_ON] <stove> (1)
        6. [WAIT] <20_minutes>
        7. [SWITCH_OFF] <stove> (1)
      repaired: |
        1. [GRAB] <pan> (1)
        2. [PUT_ON] <pan> (1) <stove> (1)
        3. [GRAB] <chicken> (1)
        4. [PUT_IN] <chicken> (1) <pan> (1)
        5. [SWITCH_ON] <stove> (1)
        6. [WAIT] <5_minutes>
        7. [SWITCH_OFF] <stove> (1)
  stove_left_on:
    family: left_on
    severity: 2
    reversible: true
    for: {stove: heater}
    if: [stove, is, 'on']
    planted: [{'on': stove}]
    message: '{stove} was left on'
    test:
      scene: salad
      plan: '[SWITCH_ON] <stove> (1)'
      repaired: |
        [SWITCH_ON] <stove> (1)
        [SWITCH_OFF] <stove> (1)
  hot_grip:
    family: burns
    severity: 2
    reversible: false
    at: {before: [grab]}
    if: [{temperature: object}, above, 60 C]
    planted: [{temperature: object}]
    message: '{object} was gripped at {temperature}'
    test:
      scene: salad
      plan: |
        [GRAB] <pan> (1)
        [PUT_ON] <pan> (1) <stove> (1)
        [SWITCH_ON] <stove> (1)
        [WAIT] <2_minutes>
        [SWITCH_OFF] <stove> (1)
        [GRAB] <pan> (1)
      repaired: |
        [GRAB] <pan> (1)
        [PUT_ON] <pan> (1) <stove> (1)
        [SWITCH_ON] <stove> (1)
        [WAIT] <2_minutes>
        [SWITCH_OFF] <stove> (1)
        [WAIT] <1_hour>
        [GRAB] <pan> (1)
scenes:
  salad: {objects: [chicken, lettuce, milk, board, plate, knife, pan, bowl]}
"""  # noqa: E501


def load(folder: Path, text: str = KITCHEN) -> Domain:
    """Return the world that a text describes, written to a file of a folder."""
    path = folder / 'world.yaml'
    path.write_text(text, encoding='utf-8')
    return compile_domain(read_world(path))


def salad(domain: Domain, **changes: object) -> World:
    """Return the scene with which the kitchen's audits are shown, with other objects if given."""
    scene = domain.files.document.scenes['salad']
    if changes:
        scene = SceneDocument.model_validate({**scene.model_dump(by_alias=True), **changes})
    return World(domain, scene, domain.files.place('scenes', 'salad'))


class EverythingAgain(Run):
    """Looks at every rule for every object, every time."""

    def _settle(self) -> None:
        for _ in range(2):
            for rule in self.domain.reactions:
                self.state.pending[rule.number].update(self.state.watched[rule.number])
            super()._settle()
        for audit in self.domain.always:
            self.state.pending[audit.rule.number].update(self.state.watched[audit.rule.number])


def looked_at_everywhere(domain: Domain) -> Domain:
    """Return a world whose rules are all looked at whenever time has passed."""
    audits = (audit.rule for audit in domain.always)
    vars(domain)['restless'] = [*domain.reactions, *domain.processes, *audits]
    return domain
