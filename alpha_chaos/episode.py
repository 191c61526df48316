"""What is learned in the course of one attempt, and the journal row that comes of it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from alpha_chaos.experiment import Episode
from alpha_chaos.journal import GuardFailure, GuardVerdict, Row
from alpha_chaos.tasks.base import Judgement, distance_m

Vector = Sequence[float]

# What a planner cost that was never asked, because nothing was seen: nothing, and that is known.
NOT_ASKED = {'prompt_tokens': 0, 'completion_tokens': 0, 'wall_s': 0.0}


class Abort(Exception):
    """The infrastructure failed; says nothing about the task."""

    def __init__(self, kind: str, message: str) -> None:
        """Say what failed.

        :param kind: type of the failure, one word ('timeout', 'missed_step' ...)
        """
        super().__init__(kind, message)
        self.kind = kind
        self.message = message

    def __str__(self) -> str:
        """Return the reason as the journal has it."""
        return f'{self.kind}: {self.message}' if self.message else self.kind


@dataclass
class EpisodeRecord:
    """Facts of one attempt, filled in as they come."""

    episode: Episode
    attempt: int
    bag: str = ''
    failure: str = ''  # first thing that went wrong with the task, empty so far
    observation: dict[str, Any] = field(default_factory=dict)  # of the first plan's scene
    plan: dict[str, Any] = field(default_factory=dict)
    planner: dict[str, Any] = field(default_factory=dict)
    safety: dict[str, Any] = field(default_factory=dict)
    recording: dict[str, Any] = field(default_factory=dict)
    faults: list[dict[str, Any]] = field(default_factory=list)
    verdicts: list[GuardVerdict] = field(default_factory=list)
    objections: tuple[str, ...] = ()  # of the guard, against a plan that it stopped
    ledger: list[dict[str, Any]] = field(default_factory=list)
    judgement: Judgement | None = None
    steps: int | None = None
    digest: str = ''
    plans: int = 0  # asked for
    observations: int = 0
    rounds: int = 0  # of recovery

    def observed(
        self, now_s: float, sampled_s: float, seen: Vector | None, true: Vector | None
    ) -> None:
        """Note how old and how wrong the scene was that the planner is given.

        :param seen: where the scene puts the block of the task [m], None if it is not in it
        :param true: where the block really is [m]
        """
        requested = self._setting('sensor_lag', 'lag_s')
        staleness = math.nan if true is None else distance_m(seen, true)
        self.observations += 1
        if self.plans:
            return
        self.observation = {
            'requested_lag_s': requested,
            'delivered_lag_s': now_s - sampled_s,
            'staleness_m': staleness,
        }

    def asked(self, planner: Mapping[str, Any]) -> None:
        """Note where an answer came from; tokens and time add up over all answers."""
        self.plans += 1
        sums = {
            key: self.planner.get(key, 0) + planner[key]
            for key in ('prompt_tokens', 'completion_tokens', 'wall_s')
        }
        cached = bool(planner['cached'] and self.planner.get('cached', True))
        self.planner = {**planner, **sums, 'cached': cached, 'calls': self.plans}

    def planned(self, actions: int, reasons: Sequence[str], text: str) -> None:
        """Note the parser's verdict."""
        self.objections = ()
        self.plan = {
            'valid': not reasons,
            'reasons': tuple(reasons),
            'n_actions': actions,
            'text': text,
        }
        if reasons:
            self.failed(f'plan_rejected: {reasons[0]}')

    def guarded(self, verdict: Any) -> None:
        """Note the guard's verdict on the plan that was accepted last.

        :param verdict: PlanVerdict.msg, or any object with its fields
        """
        said = GuardVerdict.model_validate(
            {
                'clean': verdict.clean,
                'blocked': verdict.blocked,
                'goal_reached': verdict.goal_reached,
                'failures': [
                    {name: getattr(failure, name) for name in GuardFailure.model_fields}
                    for failure in verdict.failures
                ],
            }
        )
        self.verdicts.append(said)
        if said.blocked:
            self.objections = said.objections
            self.failed(f'plan_blocked: {self.objections[0]}')

    def failed(self, reason: str) -> None:
        """Note why the task cannot succeed any more; the first reason stays."""
        self.failure = self.failure or reason

    def recovers(self, rounds: int) -> None:
        """Note that what went wrong so far is being put right."""
        self.rounds = rounds
        self.failure = ''

    def relayed(self, report: Mapping[str, Any]) -> None:
        """Note what the relay says about its faults."""
        self.ledger = list(report['ledger'])
        self.faults = [
            {key: proof[key] for key in ('fault', 'exercised', 'evidence')}
            for proof in report['faults']
        ]

    def row(self, wall_s: float, abort: Abort | None = None) -> Row:
        """Return the journal row: of an aborted attempt if `abort` is given."""
        episode, judgement = self.episode, self.judgement
        if abort is None and judgement is None:
            abort = Abort('harness', 'the episode was never judged')
        success = None if abort is not None or judgement is None else judgement.success
        reason = str(abort) if abort is not None else ''
        if success is False:
            missed = judgement.why if judgement is not None else ''
            reason = (
                self.failure or missed or f'not_in_zone: {self._error():.3f} m from its centre'
            )
        return Row.model_validate(
            {
                'run_id': episode.run_id,
                'arm': episode.arm,
                'attempt': self.attempt,
                'condition': episode.condition,
                'fault_class': episode.fault_class,
                'label': episode.label,
                'intensity': episode.intensity,
                'calibration': episode.calibration,
                'episode_index': episode.episode_index,
                'seed': episode.seed,
                'control': episode.control,
                'status': {None: 'aborted', True: 'done', False: 'task_failed'}[success],
                'reason': reason,
                'success': success,
                'secondary_success': None
                if success is None or judgement is None
                else judgement.success_secondary,
                'final_error_m': None if success is None else self._error(),
                'steps': self.steps,
                'digest': self.digest,
                'observation': self.observation,
                'slip': self._slip(),
                'offset_m': self._setting('unreachable_target', 'offset_m'),
                'corruption': self._corruption(),
                'plan': self.plan,
                'safety': self.safety,
                'planner': self.planner if self.plans or success is None else NOT_ASKED,
                'recovery': {
                    'kind': episode.recovery['kind'],
                    'tries': self.rounds,
                    'plans': self.plans,
                    'observations': self.observations,
                },
                'faults': tuple(self.faults),
                'guard': self._guard(),
                'recording': self.recording,
                'wall_s': wall_s,
                'bag': self.bag,
            }
        )

    def _error(self) -> float:
        return math.nan if self.judgement is None else self.judgement.final_error_m

    def _guard(self) -> dict[str, Any] | None:
        mode = self.episode.guard
        return None if mode == 'off' else {'mode': mode, 'verdicts': tuple(self.verdicts)}

    def _setting(self, kind: str, key: str) -> Any:
        for fault in self.episode.faults:
            if fault['kind'] == kind:
                return fault.get(key)
        return None

    def _decision(self, kind: str) -> dict[str, Any] | None:
        return next((entry for entry in self.ledger if entry['fault'] == kind), None)

    def _slip(self) -> dict[str, Any]:
        if (probability := self._probability('grasp_slip')) is None:
            return {}
        decision = self._decision('grasp_slip')
        if decision is None:  # nothing was ever lifted
            return {'probability': probability}
        return {
            'probability': probability,
            'draw': decision['draw'],
            'slipped': decision['triggered'],
        }

    def _corruption(self) -> dict[str, Any]:
        if (probability := self._probability('plan_corruption')) is None:
            return {}
        decision = self._decision('plan_corruption')
        if decision is None:
            return {'probability': probability}
        kind = decision['detail'].get('kind', '') if decision['triggered'] else ''
        return {'probability': probability, 'draw': decision['draw'], 'kind': kind}

    def _probability(self, kind: str) -> Any:
        for fault in self.episode.faults:
            if fault['kind'] == kind:
                return fault.get('probability', 1.0)
        return None
