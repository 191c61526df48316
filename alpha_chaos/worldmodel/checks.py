"""What a world promises about itself: every audit shown by two plans, every task by one."""

from alpha_chaos.worldmodel.parts import Domain
from alpha_chaos.worldmodel.plan_text import Plan, read_plan
from alpha_chaos.worldmodel.verdict import Verdict
from alpha_chaos.worldmodel.world import Task, World, scene_world, task_world


def audit_problems(domain: Domain, name: str) -> list[str]:
    """Return what is wrong with the test of an audit; nothing if it shows what it should.

    Its plan has no immediate failure and breaks the audit, and what else it says; without any one
    of its steps the verdict is another. Its repaired plan has no failure at all.
    """
    world, test = scene_world(domain, name), domain.audits[name].test
    plan = read_plan(test.plan)
    verdict = world.judge(plan)
    problems = [
        f'plan: step {failure.step}: {failure.message}'
        for failure in verdict.failures
        if failure.kind != 'latent'
    ]
    expected, broken = {name, *test.also}, _rules(verdict)
    if not problems and broken != expected:
        problems.append(f'plan: breaks {sorted(broken)}, expected {sorted(expected)}')
    if not problems:
        problems += [
            f'plan: step {i + 1} can be left out: {plan.steps[i].text}'
            for i in range(len(plan.steps))
            if _rules(_without(world, plan, i)) == broken
        ]
    if not plan.steps:
        problems.append('plan: it has no step')
    problems += [
        f'repaired: step {failure.step}: {failure.rule}: {failure.message}'
        for failure in world.judge(test.repaired).failures
    ]
    return problems


def task_problems(domain: Domain, task: Task) -> list[str]:
    """Return what is wrong with the golden plan of a task, and with plans that do nothing.

    The golden plan is clean and reaches the goal; the empty plan does not reach it.
    """
    world = task_world(domain, task)
    verdict = world.judge(task.document.golden)
    problems = [
        f'golden: step {failure.step}: {failure.rule}: {failure.message}'
        for failure in verdict.failures
    ]
    if not verdict.goal_reached:
        problems.append('golden: the goal is not reached')
    if world.judge('').goal_reached:
        problems.append('the goal is reached before anything is done')
    return problems


def _without(world: World, plan: Plan, left_out: int) -> Verdict:
    return world.judge(Plan.of(plan.steps[:left_out] + plan.steps[left_out + 1 :]))


def _rules(verdict: Verdict) -> set[str]:
    return {failure.rule for failure in verdict.failures}
