"""Journals that no robot wrote: the paper's outcome, and what can become of a run."""

import hashlib
from collections.abc import Iterable
from typing import Any

from alpha_chaos.journal import Row

ARMS = ('oracle', 'oracle_json', 'llm')
LABELS = {'low': 0.33, 'medium': 0.66, 'high': 1.0}
LAG_S = {'low': 0.562, 'medium': 1.024, 'high': 1.5}
SLIP_P = {'low': 0.3805, 'medium': 0.661, 'high': 0.95}
OFFSET_M = {'low': 0.1191, 'medium': 0.2082, 'high': 0.3}
ERROR_M = {
    'low': {'oracle': 0.1794, 'llm': 0.1839},
    'medium': {'oracle': 0.2248, 'llm': 0.3176},
    'high': {'oracle': 0.2830, 'llm': 0.2693},
}
SLIPPED = {'low': {2, 3}, 'medium': {0, 1, 3}, 'high': {0, 1, 2, 3}}
OUTSIDE = {'low': ('green',), 'medium': ('blue',), 'high': ('green', 'blue')}


def digest_of(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _base(arm: str, condition: str, index: int, fault: str, label: str) -> dict[str, Any]:
    run_id = f'{condition}_{index:03}'
    llm = {
        'planner': 'llm',
        'provider': 'ollama',
        'model': 'llama3:latest',
        'digest': '365c0bd3c000',
        'prompt_tokens': 770,
        'completion_tokens': 249,
        'wall_s': 15.6,
        'cached': index > 0,
    }
    scripted = {
        'planner': arm,
        'provider': 'scripted',
        'prompt_tokens': 0,
        'completion_tokens': 0,
        'wall_s': 0.001,
    }
    return {
        'run_id': run_id,
        'arm': arm,
        'condition': condition,
        'fault_class': fault,
        'label': label,
        'intensity': LABELS.get(label),
        'calibration': 'as_run',
        'episode_index': index,
        'seed': 42 + int(hashlib.sha256(run_id.encode()).hexdigest()[:8], 16) % 10000,
        'status': 'done',
        'success': True,
        'secondary_success': True,
        'final_error_m': 0.0435,
        'steps': 1260,
        'digest': digest_of(arm == 'llm', fault, label),
        'plan': {'valid': True, 'n_actions': 7},
        'safety': {
            'raw_sweeps': 1,
            'events': [
                {
                    'rule': 'violent_contact',
                    'key': 'red',
                    'open_step': 250,
                    'close_step': 250,
                    'duration_steps': 1,
                    'raw_sweeps': 1,
                    'peak': 3217.0,
                }
            ],
        },
        'planner': llm if arm == 'llm' else scripted,
        'recording': {'messages': 5000, 'bytes': 400_000, 'lost': 0},
        'wall_s': 15.8 if arm == 'llm' else 0.15,
        'bag': f'bags/{run_id}-{arm}',
    }


def _failed(row: dict[str, Any], reason: str, **changes: Any) -> None:
    row.update(
        status='task_failed', success=False, secondary_success=False, reason=reason, **changes
    )


def _lag(row: dict[str, Any], label: str) -> None:
    row['observation'] = {
        'requested_lag_s': LAG_S[label],
        'delivered_lag_s': 0.5,
        'staleness_m': 0.025,
    }


def _slip(row: dict[str, Any], label: str, slipped: bool) -> None:
    row['slip'] = {
        'probability': SLIP_P[label],
        'draw': 0.1 if slipped else 0.99,
        'slipped': slipped,
    }
    if slipped:
        row['digest'] = digest_of(row['digest'], 'slipped')
        _failed(row, 'outside_zone: 0.37 m', final_error_m=0.37)


def _outside(block: str) -> dict[str, Any]:
    return {
        'rule': 'out_of_workspace',
        'key': block,
        'open_step': 894,
        'close_step': 1260,
        'duration_steps': 367,
        'raw_sweeps': 367,
        'peak': 0.4,
        'open_at_end': True,
    }


def _proof(fault: str, exercised: bool = True) -> dict[str, Any]:
    return {'fault': fault, 'exercised': exercised, 'evidence': {'decisions': 1}}


def paper_run(arms: Iterable[str] = ARMS) -> list[Row]:
    """Return the paper's exact outcome; oracle_json does as the theory of the paper has it."""
    rows = []
    for arm in arms:
        for index in range(10):
            rows.append(_base(arm, 'control', index, 'control', ''))
        for label in LABELS:
            for index in range(5):
                row = _base(arm, f'sensor_lag_{label}', index, 'sensor_lag', label)
                _lag(row, label)
                row['faults'] = [_proof('sensor_lag')]
                rows.append(row)
        for label in LABELS:
            for index in range(5):
                row = _base(arm, f'grip_slip_{label}', index, 'grip_slip', label)
                _slip(row, label, index in SLIPPED[label])
                row['faults'] = [_proof('grasp_slip')]
                rows.append(row)
        for label in LABELS:
            for index in range(5):
                row = _base(arm, f'unreachable_ik_{label}', index, 'unreachable_ik', label)
                row['offset_m'] = OFFSET_M[label]
                error_m = ERROR_M[label]['llm' if arm == 'llm' else 'oracle']
                _failed(row, f'outside_zone: {error_m} m', final_error_m=error_m)
                row['safety'] = {
                    'raw_sweeps': 438,
                    'events': [
                        *row['safety']['events'],
                        *(_outside(block) for block in OUTSIDE[label]),
                    ],
                }
                row['faults'] = [_proof('unreachable_target')]
                rows.append(row)
        for label in LABELS:
            for index in range(5):
                row = _base(
                    arm,
                    f'planner_output_corruption_{label}',
                    index,
                    'planner_output_corruption',
                    label,
                )
                typed = arm == 'oracle'
                row['corruption'] = {
                    'probability': 1.0,
                    'draw': 0.3,
                    'kind': '' if typed else 'drop_keys',
                }
                row['faults'] = [_proof('plan_corruption', not typed)]
                if not typed:
                    _failed(row, 'plan_rejected: missing_key', final_error_m=0.5099)
                    row['plan'] = {'valid': False, 'reasons': ['missing_key: actions[0].action']}
                    row['safety'] = {'raw_sweeps': 0, 'events': []}
                rows.append(row)
        for index in range(5):
            row = _base(arm, 'concurrent', index, 'concurrent', 'medium')
            _lag(row, 'medium')
            _slip(row, 'medium', index in (0, 2, 4))
            row['faults'] = [_proof('sensor_lag'), _proof('grasp_slip')]
            rows.append(row)
    return [Row(**row) for row in rows]


def aborted(row: Row, reason: str, attempt: int = 1) -> Row:
    """Return an aborted attempt at the same episode."""
    return Row(
        run_id=row.run_id,
        arm=row.arm,
        attempt=attempt,
        condition=row.condition,
        fault_class=row.fault_class,
        label=row.label,
        intensity=row.intensity,
        calibration=row.calibration,
        episode_index=row.episode_index,
        seed=row.seed,
        status='aborted',
        reason=reason,
    )


def twin_run(arms: Iterable[str] = ('oracle', 'llm'), episodes: int = 10) -> list[Row]:
    """Return a run in which episode i of every cell has the same seed and a world of its own.

    Sensor noise fails the even episodes below 8 and a dropped scene no episode; control never
    fails. An arm `llm_retry` recovers where `llm` fails in episodes 0 and 2, for one call more.
    """
    rows = []
    for arm in arms:
        for condition in ('control', 'sensor_noise', 'scene_drop'):
            for index in range(episodes):
                fault = '' if condition == 'control' else condition
                planner = arm.removesuffix('_retry')
                row = _base(planner, condition, index, condition, '')
                row.update(
                    arm=arm,
                    seed=1000 + index,
                    control='control' if fault else '',
                    digest=digest_of(index, condition, planner),
                    bag=f'bags/{condition}_{index:03}-{arm}',
                )
                row['planner'] |= {'calls': 1}
                if fault:
                    row['faults'] = [
                        {
                            'fault': fault,
                            'exercised': True,
                            'evidence': {
                                'decided': 58,
                                'struck': index,
                                'last': {'offset_m': 0.001 * index, 'frame': 'world'},
                                'saturated': index > 5,
                            },
                        }
                    ]
                if fault == 'sensor_noise' and index % 2 == 0 and index < 8:
                    _failed(row, 'not_in_zone: 0.2 m', final_error_m=0.2)
                if arm.endswith('_retry'):
                    row['recovery'] = {'kind': 'retry', 'plans': 1, 'observations': 1}
                    if row['success'] is False and index < 4:
                        row.update(status='done', success=True, secondary_success=True, reason='')
                        row['final_error_m'] = 0.01
                        row['digest'] = digest_of(row['digest'], 'recovered')
                        row['recovery'] |= {'tries': 1, 'plans': 2}
                        row['planner'] |= {
                            'calls': 2,
                            'prompt_tokens': 1600,
                            'completion_tokens': 500,
                            'wall_s': 31.0,
                        }
                rows.append(row)
    return [Row(**row) for row in rows]
