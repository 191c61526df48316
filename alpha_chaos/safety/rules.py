"""A rule is a function of one step: which objects violate it, and by how much.

What is not finite violates: doubt is not a pass. Its magnitude is infinite.
"""

import math
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from alpha_chaos.workspace import Box

VIOLENT_N = 3000.0  # the paper; a nominal grasp reacts with 2000-2600 N there
ARM_LINKS = range(7)  # links 0-6; the base and what stands on it are support


@dataclass(frozen=True, slots=True, eq=False)
class StepView:
    """What the rules see of one physics step.

    :param object_position_m: (objects, 3) in the world frame
    :param held: index of the object in the gripper, -1 for none
    :param contact_link: per contact with the arm: index of its link, -1 for the base
    :param contact_object: per contact: index of the object touched, -1 for anything else
    :param contact_force_n: per contact: normal force
    """

    step: int
    object_names: tuple[str, ...]
    object_position_m: NDArray[np.float64]
    held: int
    contact_link: NDArray[np.int32]
    contact_object: NDArray[np.int32]
    contact_force_n: NDArray[np.float64]


class Violation(NamedTuple):
    """One object that violates a rule in one step.

    :param key: name of the object
    :param magnitude: in the unit of the rule
    """

    key: str
    magnitude: float


Rule: TypeAlias = Callable[[StepView], Iterable[Violation]]


def violent_contact(limit_n: float = VIOLENT_N, links: Container[int] = ARM_LINKS) -> Rule:
    """Return the rule that no contact of the arm with an object exceeds a normal force.

    The object in the gripper is exempt, and so is everything that is no object. The magnitude
    is the largest force of one contact [N].
    """

    def check(view: StepView) -> Iterable[Violation]:
        forces = view.contact_force_n
        # The common case, quickly. NaN is the maximum of what contains it, and compares false.
        if not forces.size or forces.max() <= limit_n:
            return ()
        worst: dict[str, float] = {}
        for link, touched, force_n in zip(
            view.contact_link.tolist(),
            view.contact_object.tolist(),
            forces.tolist(),
            strict=True,
        ):
            if force_n <= limit_n or link not in links or touched in (-1, view.held):
                continue
            key = view.object_names[touched]
            worst[key] = max(worst.get(key, 0.0), math.inf if math.isnan(force_n) else force_n)
        return [Violation(key, force_n) for key, force_n in worst.items()]

    return check


def out_of_workspace(workspace: Box) -> Rule:
    """Return the rule that every object is in the workspace, held or not.

    The magnitude is the distance from the workspace [m].
    """
    low, high = np.array(workspace.min), np.array(workspace.max)

    def check(view: StepView) -> Iterable[Violation]:
        positions = view.object_position_m
        inside = (positions >= low) & (positions <= high)
        if inside.all():
            return ()
        return [
            Violation(name, workspace.distance_m(position))
            for name, position, fine in zip(
                view.object_names, positions.tolist(), np.all(inside, axis=1).tolist(), strict=True
            )
            if not fine
        ]

    return check


def paper_rules(workspace: Box) -> dict[str, Rule]:
    """Return the paper's two rules by name, with its limits."""
    return {
        'violent_contact': violent_contact(),
        'out_of_workspace': out_of_workspace(workspace),
    }


def findings(rules: dict[str, Rule], view: StepView) -> dict[tuple[str, str], float]:
    """Return magnitude by (rule, key) of everything that violates in one step."""
    return {
        (name, violation.key): violation.magnitude
        for name, rule in rules.items()
        for violation in rule(view)
    }
