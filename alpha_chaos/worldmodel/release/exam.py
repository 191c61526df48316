"""Tasks of the public release, told in the words of what judges them here.

Which actions a task is told of is the release's; what they need is not taken from its prompts,
whose `take_out` needs the opposite of what is graded.
"""

from collections.abc import Iterator, Mapping

from alpha_chaos.worldmodel.exam import Briefing, Exam, plan_format
from alpha_chaos.worldmodel.plan_text import Plan
from alpha_chaos.worldmodel.release import rules
from alpha_chaos.worldmodel.release.data import Release, ReleaseTask
from alpha_chaos.worldmodel.release.judge import ReleaseRun, ReleaseWorld
from alpha_chaos.worldmodel.release.kitchen import NO_ONE, Kitchen
from alpha_chaos.worldmodel.release.words import S
from alpha_chaos.worldmodel.run import StepResult
from alpha_chaos.worldmodel.verdict import Verdict

_SETTING = 'Somebody cooks in a kitchen with two hands, and holds one thing at a time.'


class ReleaseExam(Exam):
    """A task of the public release."""

    golden = None  # nobody published plans that are right
    technique = ''

    def __init__(
        self, release: Release, task: ReleaseTask, strict: bool, short: bool = False
    ) -> None:
        """Take the task.

        :param strict: judge by our reading of the rules, else by the release's
        :param short: prompts only name actions with their roles, for models with little room
        """
        self._short = short
        self.title = task.title
        self._task = task
        self._roles = release.actions
        self._world = ReleaseWorld(release, task, strict)

    def judge(self, plan: Plan) -> Verdict:
        """Return the verdict on a plan."""
        return self._world.judge(plan)

    def begin(self) -> '_Executor':
        """Begin to carry out a plan."""
        return _Executor(self._world.begin())

    def briefing(self) -> Briefing:
        """Return what a language model is told: actions, objects and task."""
        told = self._task.environment.action_definitions or self._roles
        lines = [_SETTING, plan_format('<bowl> (1)'), 'Actions:']
        lines += [
            _action(name, self._roles[name], self._world.strict, self._short)
            for name in told
            if name in self._roles and name in rules.ACTIONS
        ]
        situation = [f'Task: {self.title}', 'Objects:']
        situation += [
            f'{entry.class_name} ({entry.id}): {", ".join(sorted(entry.properties))}; '
            f'{", ".join(sorted(entry.states))}; {entry.location or "nowhere"}'
            for entry in self._task.environment.initial_objects
        ]
        return Briefing('\n'.join(lines), '\n'.join(situation))


class _Executor:
    def __init__(self, run: ReleaseRun) -> None:
        self._run = run

    def step(self, line: str) -> StepResult:
        return self._run.step(line)

    def scene(self) -> Mapping[str, str]:
        return dict(_scene(self._run.kitchen))


def _scene(kitchen: Kitchen) -> Iterator[tuple[str, str]]:
    names = kitchen.names.text
    holding = names[kitchen.holding] if kitchen.holding != NO_ONE else 'nothing'
    yield 'hands', f'hold {holding}'
    for number in kitchen.called:
        place = kitchen.location[number]
        seen = S.spelled(kitchen.states[number])
        yield names[number], ', '.join([names[place] if place else 'nowhere', *seen])


def _action(name: str, roles: tuple[str, ...], strict: bool, short: bool) -> str:
    arguments = ' '.join(f'<{role}>' for role in roles)
    all_roles = tuple(role.rstrip('?') for role in roles)
    needs = rules.needs(name, all_roles, strict)
    line = f'[{name.upper()}] {arguments}'.rstrip()
    return line if short or not needs else f'{line}; needs: {"; ".join(needs)}'
