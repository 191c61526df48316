"""Worlds as PDDL and PDDL as worlds, checked against the simulator of unified-planning."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_worlds import KITCHEN, load, salad

pytest.importorskip('unified_planning', reason='unified-planning is not installed')

from unified_planning.engines.sequential_simulator import UPSequentialSimulator
from unified_planning.io import PDDLReader

from alpha_chaos.plugins import BadSetting
from alpha_chaos.worldmodel.documents import WorldDocument
from alpha_chaos.worldmodel.domain import load_domain
from alpha_chaos.worldmodel.pddl_export import export
from alpha_chaos.worldmodel.pddl_import import read_pddl
from alpha_chaos.worldmodel.run import Run
from alpha_chaos.worldmodel.world import World, open_task

# unified-planning 1.3.0 calls pyparsing by names that pyparsing gives up.
pytestmark = pytest.mark.filterwarnings('ignore::DeprecationWarning')

# The kitchen without reactions, which PDDL does not have, and without heat.
COLD = (
    KITCHEN[: KITCHEN.index('reactions:')]
    .replace('is: [[x, is, meat], [{doneness: x}, below, 1]]', 'is: [x, is, meat]')
    .replace('      - [{germs: object}, gains all, {germs: tool}]\n', '')
    .replace('[agent, empty, held_by]', '{none: {x: {contents: [agent, held_by]}}}')
    + KITCHEN[KITCHEN.index('scenes:') :]
)

BLOCKS_DOMAIN = """
(define (domain blocks-world)
 (:requirements :strips :typing :equality :conditional-effects :negative-preconditions)
 (:types block table - support)
 (:constants t - table)
 (:predicates (on ?x - block ?y - support) (clear ?x - support) (handempty)
              (holding ?x - block) (painted ?x - block))
 (:functions (moves) (wear ?x - block))
 (:action pick-up
  :parameters (?x - block ?y - support)
  :precondition (and (on ?x ?y) (clear ?x) (handempty) (not (= ?x ?y)) (< (wear ?x) 3))
  :effect (and (not (on ?x ?y)) (not (handempty)) (holding ?x) (clear ?y)
               (increase (moves) 1) (increase (wear ?x) 1)))
 (:action put-down
  :parameters (?x - block ?y - support)
  :precondition (and (holding ?x) (or (clear ?y) (= ?y t)))
  :effect (and (not (holding ?x)) (handempty) (on ?x ?y) (clear ?x)
               (when (not (= ?y t)) (not (clear ?y)))))
 (:action paint-all
  :parameters ()
  :precondition (exists (?b - block) (not (painted ?b)))
  :effect (forall (?b - block) (when (clear ?b) (painted ?b)))))
"""
BLOCKS_PROBLEM = """
(define (problem three)
 (:domain blocks-world)
 (:objects a b now - block)
 (:init (on a t) (on b a) (on now t) (clear b) (clear now) (handempty) (= (moves) 0)
        (= (wear a) 0) (= (wear b) 0) (= (wear now) 2))
 (:goal (and (on a b) (forall (?x - block) (not (holding ?x))))))
"""


def test_a_world_goes_over_and_what_does_not_is_named(tmp_path: Path) -> None:
    exported = export(salad(load(tmp_path)))
    assert {action.name for action in exported.problem.actions} == {
        'grab',
        'put_on',
        'put_in',
        'switch_off',
        'wait',
        'wash',
        'heat',
        'heat_without_food',
        'serve',
    }
    assert exported.left_out['slice'] == 'it works with the number doneness'
    assert exported.left_out['combine'] == 'it makes new objects'
    assert exported.left_out['hands_pass_on'] == 'PDDL has no reactions of this kind'
    assert '(:action grab' in exported.domain_text()
    assert '(placed_in chicken_1 fridge_1)' in exported.problem_text()


def test_the_files_of_an_export_are_pddl(tmp_path: Path) -> None:
    exported = export(salad(load(tmp_path, COLD)))
    (tmp_path / 'd.pddl').write_text(exported.domain_text())
    (tmp_path / 'p.pddl').write_text(exported.problem_text())
    read = PDDLReader().parse_problem(str(tmp_path / 'd.pddl'), str(tmp_path / 'p.pddl'))
    assert len(read.actions) == len(exported.problem.actions)
    assert {f.name for f in read.fluents} == {f.name for f in exported.problem.fluents}


def atoms(run: Run, fluent: str) -> set[tuple[str, ...]]:
    """Return the atoms of a predicate that are true in our state."""
    state, words = run.state, run.domain.words
    names = {number: f'{name}_{id_}' for (name, id_), number in state.named.items()}
    kind, _, word = fluent.partition('_')
    found: set[tuple[str, ...]] = set()
    for number, name in names.items():
        if kind == 'placed':
            if state.relation[number] == words.relations.index(word):
                found.add((name, names[state.parent[number]]))
        elif kind == 'is':
            mask = words.bit(word)
            if state.bits[number] & mask or state.classes[number] & words.classes.get(word, 0):
                found.add((name,))
        elif word in words.states:
            value = state.values[number * words.width + words.states[word].column]
            found |= {(name, names[element]) for element in value}
        else:
            choice, _, option = word.rpartition('_')
            known = words.states[choice]
            value = state.values[number * words.width + known.column]
            index = known.options.index(option)
            if index in value if known.kind == 'set' else value == index:
                found.add((name,))
    return found


def test_an_exported_world_goes_the_same_way_step_by_step(tmp_path: Path) -> None:
    world = salad(load(tmp_path, COLD))
    exported = export(world)
    assert 'slice' not in exported.left_out
    problem = exported.problem
    simulator = UPSequentialSimulator(problem)
    rng = np.random.default_rng(3)
    named = {f'{name}_{id_}': f'<{name}> ({id_})' for name, id_ in world.objects}
    movable = ['chicken_1', 'lettuce_1', 'knife_1', 'pan_1', 'board_1', 'bowl_1']
    carried_out = refused = 0
    for _ in range(12):
        run, state = world.begin(), simulator.get_initial_state()
        for _ in range(45):
            action = problem.actions[int(rng.integers(len(problem.actions)))]
            chosen = [str(rng.choice(list(named))) for _ in action.parameters]
            if chosen and rng.random() < 0.7:
                action = problem.action(str(rng.choice(['grab', 'put_on', 'put_in', 'wash'])))
                held = next((n for n, at in atoms(run, 'placed_held_by')), None)
                chosen = [held or str(rng.choice(movable))]
                places = ['sink_1'] if action.name == 'wash' else ['board_1', 'bowl_1', 'pan_1']
                chosen += [str(rng.choice(places))] * (len(action.parameters) - 1)
            words = ' '.join(named[name] for name in chosen)
            name = action.name.replace('_without_food', '').replace('_without_level', '')
            if name == 'wait':
                words = '<1_s>'
            arguments = tuple(problem.object(item) for item in chosen)
            if len(set(chosen)) < len(chosen) or would_go_round(run, chosen):
                continue
            done = run.step(f'[{name}] {words}').done
            assert done == simulator.is_applicable(state, action, arguments), (action, chosen)
            if not done:
                refused += 1
                continue
            carried_out += 1
            state = simulator.apply(state, action, arguments)
        for fluent in problem.fluents:
            ours = atoms(run, fluent.name)
            for items in everything(problem, fluent):
                value = state.get_value(fluent(*items)).bool_constant_value()
                assert value == (tuple(item.name for item in items) in ours), (fluent, items)
    assert carried_out > 80
    assert refused > 80


def would_go_round(run: Run, chosen: list[str]) -> bool:
    """Tell a placement of something within itself: ours leaves it, PDDL cannot say that."""
    if len(chosen) < 2:
        return False
    item, target = (run.state.named[tuple(name.rsplit('_', 1))] for name in chosen[:2])  # type: ignore[index]
    return item in run.state.around(target)


def everything(problem: Any, fluent: Any) -> list[tuple[Any, ...]]:
    objects = list(problem.all_objects)
    if fluent.arity == 1:
        return [(item,) for item in objects]
    return [(one, other) for one in objects for other in objects]


def imported(folder: Path, domain: str = BLOCKS_DOMAIN, problem: str = BLOCKS_PROBLEM) -> World:
    (folder / 'd.pddl').write_text(domain)
    (folder / 'p.pddl').write_text(problem)
    made = read_pddl(folder / 'd.pddl', folder / 'p.pddl')
    world = folder / 'blocks'
    (world / 'tasks').mkdir(parents=True)
    (world / 'blocks.yaml').write_text(made.world)
    (world / 'tasks' / 'three.yaml').write_text(made.task)
    return open_task(load_domain(world), world / 'tasks' / 'three.yaml')


def test_a_pddl_problem_becomes_a_world_in_which_its_plan_reaches_its_goal(tmp_path: Path) -> None:
    world = imported(tmp_path)
    plan = """
        1. [PICK_UP] <b> (1) <a> (1)
        2. [PUT_DOWN] <b> (1) <t> (1)
        3. [PICK_UP] <a> (1) <t> (1)
        4. [PUT_DOWN] <a> (1) <b> (1)
    """
    verdict = world.judge(plan)
    assert verdict.failures == ()
    assert verdict.goal_reached
    assert not world.judge('').goal_reached
    held = world.judge('[PICK_UP] <now_> (1) <t> (1)\n[PICK_UP] <b> (1) <a> (1)')
    assert [(failure.step, failure.kind) for failure in held.failures] == [(2, 'immediate')]


def test_an_imported_world_goes_the_same_way_step_by_step(tmp_path: Path) -> None:
    world = imported(tmp_path)
    problem = PDDLReader().parse_problem(str(tmp_path / 'd.pddl'), str(tmp_path / 'p.pddl'))
    simulator = UPSequentialSimulator(problem)
    rng = np.random.default_rng(9)
    words = {'a': '<a> (1)', 'b': '<b> (1)', 'now': '<now_> (1)', 't': '<t> (1)'}
    carried_out = 0
    for _ in range(25):
        run, state = world.begin(), simulator.get_initial_state()
        for _ in range(40):
            action = problem.actions[int(rng.integers(3))]
            chosen = [str(rng.choice(list(words))) for _ in action.parameters]
            fits = all(
                problem.object(name).type.is_compatible(parameter.type)
                for name, parameter in zip(chosen, action.parameters, strict=True)
            )
            if not fits or len(set(chosen)) < len(chosen):
                continue
            arguments = tuple(problem.object(name) for name in chosen)
            spelled = ' '.join(words[name] for name in chosen)
            done = run.step(f'[{action.name.replace("-", "_")}] {spelled}').done
            assert done == simulator.is_applicable(state, action, arguments)
            if done:
                carried_out += 1
                state = simulator.apply(state, action, arguments)
        assert run.finish().goal_reached == simulator.is_goal(state)
    assert carried_out > 100


@pytest.mark.parametrize(
    ('old', 'new', 'complaint'),
    [
        ('(handempty)', '(handempty) (among ?x ?y ?z - block)', 'among is about 3 objects'),
        ('(clear ?x - support)', '(clear ?x ?y - support)', 'clear has arity 2'),
        ('(:action paint-all', '(:durative-action paint-all', 'cannot be read as PDDL'),
        ('(when (clear ?b) (painted ?b))', '(when (painted ?b) (not (painted ?b)))', 'paint-all'),
        ('(define', '(defin', 'cannot be read as PDDL'),
    ],
)
def test_pddl_that_cannot_be_said_is_refused(
    tmp_path: Path, old: str, new: str, complaint: str
) -> None:
    with pytest.raises(BadSetting, match=r'(?i)pddl') as raised:
        imported(tmp_path, BLOCKS_DOMAIN.replace(old, new, 1))
    assert complaint in str(raised.value)


def test_a_missing_pddl_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match=r'no\.pddl'):
        read_pddl(tmp_path / 'no.pddl', tmp_path / 'no.pddl')


def test_an_imported_world_is_a_valid_document(tmp_path: Path) -> None:
    import yaml

    (tmp_path / 'd.pddl').write_text(BLOCKS_DOMAIN)
    (tmp_path / 'p.pddl').write_text(BLOCKS_PROBLEM)
    text = read_pddl(tmp_path / 'd.pddl', tmp_path / 'p.pddl').world
    document = WorldDocument.model_validate(yaml.safe_load(text))
    assert document.classes['a'].like == 'block'
    assert document.state['wear'].type == 'number'
    assert document.state['holding'].type == 'flag'
