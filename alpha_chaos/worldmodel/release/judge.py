"""The verdict of the release on a plan, and a stricter one by the same rules."""

from collections.abc import Iterator, Sequence

from alpha_chaos.worldmodel.plan_text import Plan, PlanStep, read_plan
from alpha_chaos.worldmodel.release import rules
from alpha_chaos.worldmodel.release.data import Release, ReleaseTask
from alpha_chaos.worldmodel.release.kitchen import MAX_NAMES, Kitchen, P, Record, S, start
from alpha_chaos.worldmodel.verdict import Failure, Kind, Verdict

VALUES = frozenset(('duration', 'temperature'))
MADE_HERE = 'product_name'  # the role that names something new
HOT = frozenset(('stove', 'oven', 'grill', 'air_fryer'))

_NO_FOOD = P(
    'surface', 'heatsource', 'appliance', 'switchable', 'drain', 'filter', 'wrap_material',
    'covering',
)  # fmt: skip
_FOOD_AFTER_ALL = P('edible', 'pourable', 'protein')
_TOOL_OR_CONTAINER, _EDIBLE, _PROTEIN = P('tool', 'container'), P('edible'), P('protein')
_VESSEL_ONLY = P(
    'receptacle', 'surface', 'openable', 'microwave_safe', 'oven_safe', 'grabbable', 'portable'
)
_HEATED = S('cooked', 'fried', 'baked', 'roasted', 'grilled', 'boiled', 'steamed', 'blanched')
_COOKED, _DIRTY, _RAW, _ON = S('cooked'), S('dirty'), S('raw'), S('on')

Found = dict[tuple[str, str], Failure]


class ReleaseWorld:
    """A task of the release, ready for plans.

    :param strict: a step that is wrong has no effect, objects that no step named are not held
        against the plan, what is contaminated can be washed, and something must have been served
    """

    def __init__(self, release: Release, task: ReleaseTask, strict: bool = False) -> None:
        self.release = release
        self.task = task
        self.strict = strict
        self._actions = rules.STRICT_ACTIONS if strict else rules.ACTIONS
        self._start = start(task.environment)
        self._steps: dict[PlanStep, rules.Step] = {}

    def judge(self, text: str | bytes | Plan) -> Verdict:
        """Return the verdict on a plan."""
        plan = text if isinstance(text, Plan) else read_plan(text)
        if len(self._start.names.text) > MAX_NAMES:  # odd names must not pile up over many plans
            self._start = start(self.task.environment)
            self._steps.clear()
        known = self._steps
        steps = [known.get(step) or self._bound(step) for step in plan.steps]
        found: Found = {}
        for complaint in plan.complaints:
            if complaint.rule != 'no_steps' or self.strict:
                _fail(found, complaint.step, complaint.rule, 'syntax', complaint.message)
        kitchen = Kitchen(self._start)
        for number, step in enumerate(steps, 1):
            self._carry_out(step, number, kitchen, found)
        for failure in self._last_look(kitchen):
            found.setdefault((failure.rule, failure.message), failure)
        served = kitchen.served if self.strict else None
        return Verdict(len(steps), tuple(found.values()), served)

    def _carry_out(self, step: rules.Step, number: int, kitchen: Kitchen, found: Found) -> None:
        right = not step.wrong
        called = kitchen.called
        for item, message in step.named:
            if item not in called:
                right = False
                _fail(found, number, 'unknown_object', 'syntax', message)
        for rule, kind, message in step.wrong:
            _fail(found, number, rule, kind, message)
        for test, text in step.checks:
            if not test(kitchen):
                right = False
                _fail(found, number, text, 'immediate', f'missing: {text}')
        if self.strict:
            if not right:
                return
            kitchen.touched.update(item for item, _ in step.named)
        for do in step.effects:
            do(kitchen)

    # ---- steps

    def _bound(self, step: PlanStep) -> rules.Step:
        roles = self.release.actions.get(step.action)
        if roles is None or step.action not in self._actions:
            what = 'is no action' if roles is None else 'is an action without rules'
            made = rules.Step((('unknown_action', 'immediate', f'{step.action} {what}'),))
        else:
            made = self._with_objects(step, roles)
        self._steps[step] = made
        return made

    def _with_objects(self, step: PlanStep, roles: Sequence[str]) -> rules.Step:
        count, least = len(step.arguments), sum(not role.endswith('?') for role in roles)
        if not least <= count <= len(roles):
            wanted = f'at least {least}' if count < least else f'at most {len(roles)}'
            message = f'{step.action} has {count} arguments, {wanted} are right'
            return rules.Step((('argument_count', 'syntax', message),))
        bound = {role: text for role, text in _in_roles(step, roles).items() if role not in VALUES}
        names = self._start.names
        checks, effects = rules.bind(
            self._actions[step.action], {role: names(text) for role, text in bound.items()}
        )
        return rules.Step(
            tuple(_named_twice(bound)),
            checks,
            effects,
            tuple(
                (names(text), f'there is no {text}, which is the {role}')
                for role, text in bound.items()
                if role != MADE_HERE
            ),
        )

    # ---- the last look around

    def _last_look(self, kitchen: Kitchen) -> Iterator[Failure]:
        appliances = []
        unwashed: set[str] = set()  # of a class, the first object speaks for all
        for number in kitchen.everything():
            record = kitchen.record(number)
            if record.states & _ON and (record.name in HOT or record.name == 'water'):
                appliances.append(record.name)
            if self.strict and not kitchen.concerns(number):
                continue
            if _is_food(record) and not kitchen.names.stored[record.location]:
                yield from _contaminations(kitchen, number, record)
                if _is_unwashed(record) and record.name not in unwashed:
                    unwashed.add(record.name)
                    message = (
                        f'{"raw " if record.states & _RAW else ""}{record.name} is not washed'
                    )
                    yield Failure(0, 'unwashed', 'latent', False, message, 'unwashed', 2)
        for name in appliances:
            rule = 'water_left_on' if name == 'water' else 'appliance_left_on'
            yield Failure(0, rule, 'latent', True, f'{name} is left on', 'left_on', 2)


def _fail(found: Found, number: int, rule: str, kind: Kind, message: str) -> None:
    key = (rule, message)
    if key not in found:
        found[key] = Failure(number, rule, kind, True, message)


def _in_roles(step: PlanStep, roles: Sequence[str]) -> dict[str, str]:
    """Return the names of a step's objects by role; leading optional roles are skipped."""
    skip = 0
    for role in roles:
        if not role.endswith('?') or skip == len(roles) - len(step.arguments):
            break
        skip += 1
    return {
        role.rstrip('?'): f'{name}_{id_}' if id_ else name
        for role, (name, id_) in zip(roles[skip:], step.arguments, strict=False)
    }


def _named_twice(bound: dict[str, str]) -> Iterator[rules.Wrong]:
    roles: dict[str, list[str]] = {}
    for role, text in bound.items():
        roles.setdefault(text, []).append(role)
    for text, listed in roles.items():
        if len(listed) > 1:
            yield 'same_object', 'syntax', f'{text} is {" and ".join(listed)} at once'


def _is_food(record: Record) -> bool:
    properties = record.properties
    if properties & _NO_FOOD and not properties & _FOOD_AFTER_ALL:
        return False
    if properties & _TOOL_OR_CONTAINER and not properties & _EDIBLE:
        return False
    return bool(properties & ~_VESSEL_ONLY)


def _is_unwashed(record: Record) -> bool:
    cooked = record.states & _COOKED and record.properties & _PROTEIN
    return bool(record.states & _DIRTY) and not cooked


def _contaminations(kitchen: Kitchen, number: int, record: Record) -> Iterator[Failure]:
    sources = record.contaminated & ~(1 << number)
    if sources and not record.states & _HEATED:
        names = [kitchen.names.text[i] for i in range(sources.bit_length()) if sources >> i & 1]
        for name in sorted(names):
            source = kitchen.called.get(kitchen.names(name), name)
            message = f'{record.name} is contaminated by raw {source}'
            yield Failure(0, 'contaminated', 'latent', False, message, 'cross_contamination', 2)
