"""Files in the form of the public release, small and written for these tests."""

import json
from pathlib import Path
from typing import Any

from alpha_chaos.worldmodel.release.data import Release, load_release

ROLES = {
    'walk': ['location'],
    'wait': ['duration'],
    'open': ['object'],
    'grab': ['object'],
    'put_on': ['object', 'target'],
    'put_in': ['object', 'target'],
    'take_out': ['object', 'container', 'tool?'],
    'pour': ['source', 'target'],
    'switch_on': ['object'],
    'switch_off': ['object'],
    'wash': ['object', 'water'],
    'rinse': ['object', 'water'],
    'cut': ['object', 'cutting_board', 'tool'],
    'slice': ['object', 'cutting_board', 'tool'],
    'peel': ['object', 'tool'],
    'heat': ['object?', 'receptacle', 'heatsource'],
    'fry': ['object', 'receptacle', 'heatsource'],
    'drain': ['object', 'receptacle'],
    'combine': ['container', 'product_name'],
    'discard': ['object', 'target'],
    'serve': ['object', 'target'],
    'spread': ['object', 'target', 'tool'],
}
OBJECTS = [
    ('apple', 'edible cuttable grabbable', 'raw dirty whole', 'fridge'),
    ('pear', 'edible cuttable grabbable', 'raw dirty whole', 'counter'),
    ('chicken', 'protein cuttable grabbable', 'raw', 'fridge'),
    ('egg', 'protein breakable grabbable', 'raw dirty', 'fridge'),
    ('lettuce', 'edible cuttable grabbable', 'whole', 'fridge'),
    ('oil', 'pourable grabbable', 'full', 'pantry'),
    ('pan', 'receptacle grabbable', 'clean empty', 'cabinet'),
    ('bowl', 'receptacle grabbable', 'clean empty', 'cabinet'),
    ('plate', 'receptacle grabbable', 'clean empty', 'cabinet'),
    ('cutting_board', 'surface grabbable', 'clean', 'cabinet'),
    ('knife', 'sharp tool grabbable', 'clean', 'drawer'),
    ('stove', 'surface heatsource switchable', 'off', 'kitchen'),
    ('water', 'switchable fillable_source', 'off', 'sink'),
    ('counter', 'surface', 'clean', 'kitchen'),
    ('fridge', 'openable container', 'closed on', 'kitchen'),
    ('trash_bin', 'container', 'open', 'kitchen'),
]


def write_release(folder: Path, extra: list[dict[str, Any]] | None = None) -> Path:
    """Write a release of one task, 000, into a folder and return it."""
    task = folder / 'benchmark' / 'tasks' / '000'
    task.mkdir(parents=True, exist_ok=True)
    (folder / 'world_model').mkdir(exist_ok=True)
    actions = {
        name: {'definition': {'args': roles, 'preconditions': [], 'effects': []}}
        for name, roles in ROLES.items()
    }
    (folder / 'world_model' / 'action_def.json').write_text(json.dumps(actions))
    objects: list[dict[str, Any]] = [
        {
            'id': 1,
            'class_name': name,
            'properties': properties.split(),
            'states': states.split(),
            'location': location,
        }
        for name, properties, states, location in OBJECTS
    ]
    environment = {'initial_objects': [*objects, *(extra or [])], 'action_definitions': {}}
    (task / 'env_000.json').write_text(json.dumps(environment))
    (task / 'task_000.txt').write_text('Task: Fry a chicken\n\n--- Plan ---\nStep 1: ...\n')
    return folder


def little_release(folder: Path, extra: list[dict[str, Any]] | None = None) -> Release:
    """Return that release."""
    return load_release(write_release(folder, extra))
