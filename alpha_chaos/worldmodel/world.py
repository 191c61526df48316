"""Worlds with objects in them: tasks and scenes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from alpha_chaos.plugins import unknown
from alpha_chaos.settings_file import SettingsFile
from alpha_chaos.worldmodel import state as st
from alpha_chaos.worldmodel.classes import changed, class_place, parse_place
from alpha_chaos.worldmodel.documents import (
    ObjectDocument,
    Place,
    SceneDocument,
    TaskDocument,
    read_part,
    task_files,
)
from alpha_chaos.worldmodel.parts import Domain
from alpha_chaos.worldmodel.plan_text import Plan, read_plan
from alpha_chaos.worldmodel.run import Run, settle
from alpha_chaos.worldmodel.scope import Fact, Scope
from alpha_chaos.worldmodel.state import State
from alpha_chaos.worldmodel.things import CONCRETE
from alpha_chaos.worldmodel.verdict import Verdict


@dataclass(frozen=True)
class Task:
    """A task of a world, as read from its file."""

    name: str
    document: TaskDocument
    place: Place


class World:
    """The objects of a task or scene in their places, before anything is done.

    Made once; every plan is carried out on a copy.

    :raises BadSetting: with file, line and key of what is wrong with the task
    """

    def __init__(self, domain: Domain, scene: SceneDocument, at: Place) -> None:
        self.domain = domain
        self.scene = scene
        self.start = State(domain.tables)
        self._fill(at)
        self.goal: Fact | None = None
        if isinstance(scene, TaskDocument):
            scope = Scope(objects=dict(self.start.named))
            goal = domain.compiler.fact(scene.goal, scope, at / 'goal')
            test, frame = goal.test, scope.frame()
            self.goal = Fact(lambda s, v: test(s, frame.copy()), goal.reads)
        settle(domain, self.start)
        self.start.made.clear()
        self.start.touched.clear()

    @property
    def objects(self) -> Mapping[tuple[str, str], int]:
        """Return the number of each object by class and id, the agent's included."""
        return self.start.named

    def begin(self) -> Run:
        """Return a run that is to be told step by step."""
        return Run(self.domain, self.start, self.goal)

    def judge(self, plan: str | bytes | Plan) -> Verdict:
        """Return the verdict on a plan."""
        if not isinstance(plan, Plan):
            plan = read_plan(plan)
        run = self.begin()
        for complaint in plan.complaints:
            run.complain(complaint)
        for step in plan.steps:
            run.step(step)
        return run.finish()

    # ---- objects

    def _fill(self, at: Place) -> None:
        domain, files = self.domain, self.domain.files
        agent = files.document.agent
        assert agent is not None
        agent_at = files.place('agent', '')
        self._add(
            ObjectDocument.model_validate({'class': agent.class_, 'has': agent.has}), agent_at
        )
        placed: list[tuple[int, ObjectDocument, Place]] = []
        for document, where in self._listed(at):
            placed.append((self._add(document, where), document, where))
        if agent.at is not None:
            self._put(st.AGENT, agent.at, agent_at / 'at')
        for number, document, where in placed:
            if document.at == 'nowhere':
                continue
            if document.at is not None:
                self._put(number, document.at, where / 'at')
                continue
            place, defined = class_place(domain.files, document.class_)
            if place is not None:
                self._put(number, place, defined, where)
        self._refer(st.AGENT, agent.has, agent_at / 'has')
        for number, document, where in placed:
            self._refer(number, document.has, where / 'has')

    def _listed(self, at: Place) -> list[tuple[ObjectDocument, Place]]:
        files = self.domain.files
        listed = [(raw, at / 'objects' / i) for i, raw in enumerate(self.scene.objects)]
        known = {(document.class_, document.id) for document, _ in listed}
        universal = [
            (raw, files.place('universal', '') / i)
            for i, raw in enumerate(files.document.universal)
        ]
        names = {document.class_ for document, _ in universal}
        for i, name in enumerate(self.scene.without):
            if name not in names:
                raise (at / 'without' / i).wrong(unknown('universal object', name, names))
        there = [
            (document, where)
            for document, where in universal
            if document.class_ not in self.scene.without
            and (document.class_, document.id) not in known
        ]
        return [*there, *listed]

    def _add(self, document: ObjectDocument, at: Place) -> int:
        domain = self.domain
        if document.class_ not in domain.rows:
            raise at.wrong(unknown('class that objects can have', document.class_, domain.rows))
        named = (document.class_, str(document.id))
        if named in self.start.named:
            raise at.wrong(f'{document.class_} {document.id} is there already')
        row = changed(
            domain.words,
            domain.rows[document.class_],
            document.is_,
            document.not_,
            {k: v for k, v in document.has.items() if not self._refers(k, v)},
            at,
        )
        return self.start.create(named, *row)

    def _refers(self, name: str, written: Any) -> bool:
        """Tell a value that names other objects, so that these have to be there first."""
        word = self.domain.words.states.get(name)
        return (
            word is not None
            and (word.kind == 'object' or (word.kind == 'set' and not word.options))
            and written not in (None, 'nothing', [], ())
        )

    def _refer(self, number: int, has: Mapping[str, Any], at: Place) -> None:
        """Give an object the sets of objects, and the objects, that it starts with."""
        for name, written in has.items():
            if not self._refers(name, written):
                continue
            word = self.domain.words.states[name]
            if word.kind == 'object':
                self.start.write(word.index, word.column, number, self._named(written, at / name))
                continue
            if not isinstance(written, list | tuple):
                raise (at / name).wrong(f'{name} is a set: a list of objects, not {written!r}')
            for i, element in enumerate(written):
                found = self._named(element, at / name / i)
                self.start.gain(word.index, word.column, number, found)

    def _named(self, written: Any, at: Place) -> int:
        match = CONCRETE.fullmatch(written) if isinstance(written, str) else None
        key = (match[1], match[2]) if match else (str(written), '1')
        if key not in self.start.named:
            labels = [' '.join(label) for label in self.start.named]
            raise at.wrong(unknown('object of the task', written, labels))
        return self.start.named[key]

    def _put(
        self, number: int, written: tuple[str, str], at: Place, task: Place | None = None
    ) -> None:
        """Place an object; `task` is where to complain if the class's own place is not there."""
        start = self.start
        try:
            relation, target = parse_place(written, self.domain.words, start.named, at)
        except ValueError:
            if task is None:
                raise
            label = start.labels[number]
            raise task.wrong(
                f'{label} is at first {" ".join(written)}, which is not there; '
                f'add it, or give `at` (nowhere, or [relation, object])'
            ) from None
        start.go(number, relation, target)
        if start.parent[number] != target:
            raise (task or at).wrong(f'{start.labels[number]} would be within itself')


def load_tasks(domain: Domain, names: Sequence[str] | None = None) -> dict[str, Task]:
    """Return the tasks of a world by name, in the order of their names.

    :param names: only these
    :raises BadSetting: with file, line and key of the first mistake
    """
    found = {}
    for path in task_files(domain.files.folder):
        if names is None or path.stem in names:
            file = SettingsFile(path)
            found[path.stem] = Task(path.stem, file.read_as(TaskDocument), Place(file, ()))
    return found


def task_world(domain: Domain, task: Task) -> World:
    """Return the world that a task starts in, with its goal."""
    return World(domain, task.document, task.place)


def scene_world(domain: Domain, audit: str) -> World:
    """Return the world in which the two plans of an audit's test are carried out.

    :raises BadSetting: if there is no such scene, or with what is wrong with it
    """
    scene, at = domain.audits[audit].test.scene, domain.files.place('audits', audit)
    at = at / 'test' / 'scene'
    if not isinstance(scene, str):
        return World(domain, read_part(SceneDocument, scene, at), at)
    scenes = domain.files.document.scenes
    if scene not in scenes:
        raise at.wrong(unknown('scene', scene, scenes))
    return World(domain, scenes[scene], domain.files.place('scenes', scene))


def open_task(domain: Domain, path: Path) -> World:
    """Return the world of a task file anywhere."""
    file = SettingsFile(path)
    return World(domain, file.read_as(TaskDocument), Place(file, ()))
