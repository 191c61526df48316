"""Counterfactual foresight: every step is tried out in thought before it is written."""

from typing import ClassVar, Literal

from alpha_chaos.worldmodel.prompting.condition import AskedOnce

STATES = (
    'in which state are the objects that it touches now; what does the action need, and does that '
    'hold; which states does it change, also of things that touch each other'
)
SAFETY = (
    'could it do harm to anybody later, or spoil anything, without being noticed; could that '
    'still be undone afterwards; what is running or open, and which later step ends that'
)


def instruction(questions: str) -> str:
    """Return the paragraph that has a model try out each step with some questions."""
    return (
        'Plan the task to its end. Before you decide on a step, imagine that it was carried out, '
        f'and write in one line: {questions}? If an answer speaks against the step, take another '
        'one, or put what is missing before it. Write no step in square brackets before the plan.'
    )


class Foresight(AskedOnce):
    """Ask for states, preconditions, effects, safety and appliances of each step first."""

    kind: Literal['foresight'] = 'foresight'
    instruction: ClassVar[str] = instruction(f'{STATES}; {SAFETY}')


Foresight.example = Foresight()
