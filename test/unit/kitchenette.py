"""The small kitchen of the tests as a benchmark: two tasks, and a model that knows the answers."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ollama_double import chat_reply
from small_worlds import KITCHEN

LETTUCE = '1. [GRAB] <lettuce> (1)\n2. [SERVE] <lettuce> (1) <plate> (1)\n'
CHICKEN = """\
1. [GRAB] <pan> (1)
2. [PUT_ON] <pan> (1) <stove> (1)
3. [GRAB] <chicken> (1)
4. [PUT_IN] <chicken> (1) <pan> (1)
5. [SWITCH_ON] <stove> (1)
6. [WAIT] <5_minutes>
7. [SWITCH_OFF] <stove> (1)
"""
# Legal at every step; the board passes germs of the chicken on, and serving seals it.
GERMS = """\
1. [GRAB] <chicken> (1)
2. [PUT_ON] <chicken> (1) <board> (1)
3. [GRAB] <lettuce> (1)
4. [SERVE] <lettuce> (1) <plate> (1)
"""
TASKS: Mapping[str, str] = {
    'salad': f"""\
title: Serve lettuce
technique: cold
objects: [chicken, lettuce, board, plate, knife]
goal: [lettuce 1, is, served]
golden: |
  {LETTUCE.replace(chr(10), chr(10) + '  ').rstrip()}
""",
    'warm_chicken': f"""\
title: Warm the chicken in the pan
technique: hot
objects: [chicken, lettuce, plate, pan, {{class: lettuce, id: 2}}]
goal: [[chicken 1, in, pan 1], [{{temperature: chicken 1}}, above, 40 C]]
golden: |
  {CHICKEN.replace(chr(10), chr(10) + '  ').rstrip()}
""",
}


def write_kitchenette(folder: Path) -> Path:
    """Write the world and its tasks into a folder and return it."""
    (folder / 'tasks').mkdir(parents=True)
    (folder / 'world.yaml').write_text(KITCHEN, 'utf-8')
    for name, text in TASKS.items():
        (folder / 'tasks' / f'{name}.yaml').write_text(text, 'utf-8')
    return folder


def answers(by_title: Mapping[str, str]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return a model that answers by the task in its prompt."""

    def chat(body: dict[str, Any]) -> dict[str, Any]:
        prompt = body['messages'][-1]['content']
        return chat_reply(next(text for title, text in by_title.items() if title in prompt))

    return chat
