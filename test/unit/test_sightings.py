"""When a picture of the scene is complete."""

from alpha_chaos.sightings import Picture, Sightings


def feed(*seen):
    sightings = Sightings(('red', 'green', 'blue'))
    pictures = [picture for one in seen for picture in sightings.see(*one)]
    return pictures, sightings.late


def test_a_picture_is_complete_when_all_was_seen_and_is_ordered_by_name():
    pictures, late = feed(('blue', 7, 'b'), ('red', 7, 'r'), ('green', 7, 'g'))
    assert pictures == [Picture(7, {'red': 'r', 'green': 'g', 'blue': 'b'})]
    assert list(pictures[0].poses) == ['red', 'green', 'blue']
    assert late == 0


def test_what_is_hidden_is_left_out_once_the_next_picture_comes():
    pictures, _ = feed(('red', 7, 'r'), ('red', 8, 'r2'))
    assert pictures == [Picture(7, {'red': 'r'})]


def test_one_sighting_can_complete_two_pictures():
    sightings = Sightings(('red',))
    assert sightings.see('red', 7, 'r') == [Picture(7, {'red': 'r'})]
    two = Sightings(('red', 'green'))
    two.see('red', 7, 'r')
    assert two.see('green', 8, 'g') == [Picture(7, {'red': 'r'})]


def test_what_comes_late_is_dropped_and_counted():
    pictures, late = feed(('red', 7, 'r'), ('red', 8, 's'), ('green', 7, 'g'))
    assert pictures == [Picture(7, {'red': 'r'})]
    assert late == 1
    sightings = Sightings(('red',))
    assert sightings.see('red', 7, 'r')
    assert sightings.see('red', 7, 'again') == []
    assert sightings.late == 1


def test_the_newer_of_two_sightings_in_one_picture_counts():
    pictures, _ = feed(('red', 7, 'old'), ('red', 7, 'new'), ('red', 8, 'x'))
    assert pictures == [Picture(7, {'red': 'new'})]
