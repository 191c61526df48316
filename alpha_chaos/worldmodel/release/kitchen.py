"""The state of a kitchen as the release keeps it, in flat lists by number of a name.

Everything that can stand in a plan as an object has a number, whether there is such an object or
not: the release goes on with names nobody knows, and they can come to be later. An object's
place is a name too, and its contents need not agree with the places of what is in it.
"""

from typing import NamedTuple

from alpha_chaos.worldmodel.release.data import Environment
from alpha_chaos.worldmodel.release.words import P, S

NO_ONE = 0  # number of the missing name
MAX_NAMES = 4096  # kept from one plan to the next


class Record(NamedTuple):
    """An object that a product of the same name hides from the last look around."""

    name: str
    properties: int
    states: int
    location: int
    contaminated: int


class Names:
    """Numbers of names, the same for all plans of a task, and what a name says by itself."""

    def __init__(self) -> None:
        self.number: dict[str, int] = {'': NO_ONE}
        self.text: list[str] = ['']
        self.first_of: list[int] = []  # the name with _1 behind it: where things are at first
        self.stored: list[bool] = [False]
        self.first_of.append(self('None_1'))

    def __call__(self, text: str) -> int:
        """Return the number of a name."""
        found = self.number.get(text)
        if found is None:
            found = self.number[text] = len(self.text)
            self.text.append(text)
            self.stored.append(text.rstrip('_0123456789') in STORAGE)
        return found

    def first(self, name: int) -> int:
        """Return the number of the name with _1 behind it."""
        known = self.first_of
        while len(known) <= name:
            known.append(NO_ONE)
        if not known[name] and name:
            known[name] = self(f'{self.text[name]}_1')
        return known[name]


STORAGE = frozenset(('fridge', 'pantry', 'cabinet', 'drawer', 'freezer'))


class Start(NamedTuple):
    """A kitchen before a plan: what every plan's kitchen is copied from.

    :param order: the objects, in the order of the file
    """

    names: Names
    order: tuple[int, ...]
    called: dict[int, str]
    properties: list[int]
    states: list[int]
    location: list[int]
    contents: list[tuple[int, ...]]


def start(environment: Environment) -> Start:
    """Return the kitchen that a task begins with."""
    names = Names()
    order = []
    called, properties, states, location = {}, {}, {}, {}
    for entry in environment.initial_objects:
        number = names(f'{entry.class_name}_{entry.id}')
        if number not in called:
            order.append(number)
        called[number] = entry.class_name
        properties[number] = P(*entry.properties)
        states[number] = S(*entry.states)
        location[number] = names(entry.location) if entry.location is not None else NO_ONE
    contents: dict[int, tuple[int, ...]] = {}
    for number in order:
        holder = names.first(location[number]) if location[number] else NO_ONE
        if holder in called and holder != number:
            contents[holder] = (*contents.get(holder, ()), number)
    size = range(len(names.text))
    return Start(
        names,
        tuple(order),
        called,
        [properties.get(i, 0) for i in size],
        [states.get(i, 0) for i in size],
        [location.get(i, NO_ONE) for i in size],
        [contents.get(i, ()) for i in size],
    )


class Kitchen:
    """A kitchen while a plan is carried out."""

    __slots__ = (
        'called',
        'contaminated',
        'contents',
        'counters',
        'created',
        'given',
        'hands',
        'hidden',
        'holding',
        'location',
        'names',
        'order',
        'properties',
        'served',
        'states',
        'touched',
        'water_on',
    )

    def __init__(self, begin: Start) -> None:
        self.names = begin.names
        self.order = begin.order
        self.given = begin.called
        self.called = begin.called.copy()
        missing = len(begin.names.text) - len(begin.states)
        none = [0] * missing
        self.properties = begin.properties + none
        self.states = begin.states + none
        self.location = begin.location + none
        self.contents: list[tuple[int, ...]] = begin.contents + [()] * missing
        self.contaminated = [0] * len(self.states)  # a bit for each name that it comes from
        self.created: dict[int, None] = {}
        self.hidden: dict[int, Record] = {}
        self.counters: dict[str, int] = {}
        self.holding = NO_ONE
        self.hands = 0
        self.water_on = False
        self.touched: set[int] = set()
        self.served = False

    def number(self, text: str) -> int:
        """Return the number of a name that came up, with room for an object of it."""
        number = self.names(text)
        while len(self.states) < len(self.names.text):
            self.properties.append(0)
            self.states.append(0)
            self.location.append(NO_ONE)
            self.contents.append(())
            self.contaminated.append(0)
        return number

    # ---- reading

    def place_of(self, item: int) -> int:
        """Return the object that `item` is at, by its place or by the first of that name."""
        place = self.location[item]
        if place in self.called:
            return place
        return self.number_of_first(place)

    def number_of_first(self, name: int) -> int:
        """Return the number of the name with _1 behind it, with room for it."""
        number = self.names.first(name)
        if number >= len(self.states):
            self.number(self.names.text[number])
        return number

    def has_within(self, vessel: int, part: str) -> bool:
        """Tell whether the name of anything in a vessel has a part."""
        text = self.names.text
        return any(part in text[item] for item in self.contents[vessel])

    def held_anywhere(self, item: int) -> bool:
        """Tell whether anything has `item` in it."""
        contents = self.contents
        return any(item in contents[holder] for holder in self.called if holder not in self.hidden)

    # ---- writing

    def add(self, item: int, mask: int) -> None:
        """Give states to an object, if there is one."""
        if item in self.called:
            self.states[item] |= mask

    def remove(self, item: int, mask: int) -> None:
        """Take states from an object."""
        self.states[item] &= ~mask

    def put_into(self, holder: int, item: int) -> None:
        """Add to the contents of a holder, if there is one."""
        if holder in self.called:
            self.contents[holder] = (*self.contents[holder], item)

    def take_from(self, holder: int, item: int) -> None:
        """Remove from the contents of a holder, once."""
        inside = self.contents[holder]
        if item in inside:
            at = inside.index(item)
            self.contents[holder] = inside[:at] + inside[at + 1 :]

    def put_at(self, item: int, place: int) -> None:
        """Change the place of an object, if there is one."""
        if item in self.called:
            self.location[item] = place

    def detach(self, item: int) -> None:
        """Remove an object from the contents of where it is."""
        if item in self.called and self.location[item]:
            self.take_from(self.place_of(item), item)

    def contaminate(self, item: int, sources: int) -> None:
        """Note where contamination of an object comes from."""
        if item in self.called:
            self.contaminated[item] |= sources

    def make(
        self, number: int, name: str, properties: int, states: int, location: int, sources: int
    ) -> None:
        """Let a product come to be. One named like an object of the task only hides it."""
        self.created[number] = None
        if number in self.given:
            self.hidden[number] = Record(name, properties, states, location, sources)
            return
        self.called[number] = name
        self.properties[number] = properties
        self.states[number] = states
        self.location[number] = location
        self.contents[number] = ()
        self.contaminated[number] = sources

    def make_unique(self, name: str, properties: int, states: int, location: int) -> int:
        """Let a product come to be under the next free number; return it."""
        counter = self.counters.get(name, 1)
        while self.number(f'{name}_{counter}') in self.called:
            counter += 1
        self.counters[name] = counter
        number = self.number(f'{name}_{counter}')
        self.make(number, name, properties, states, location, 0)
        return number

    # ---- the last look around

    def record(self, number: int) -> Record:
        """Return an object as the last look around sees it."""
        return self.hidden.get(number) or Record(
            self.called[number],
            self.properties[number],
            self.states[number],
            self.location[number],
            self.contaminated[number],
        )

    def concerns(self, number: int) -> bool:
        """Tell whether a step named an object, or made it."""
        return number in self.touched or number in self.created
