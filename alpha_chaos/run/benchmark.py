"""The benchmark: tasks asked in every condition and judged, beside plans nobody thought about.

A run can be stopped anywhere, by anything; the same call goes on with what is missing.
"""

import hashlib
import signal
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import cast

from rich.console import Console
from rich.markup import escape
from rich.progress import Progress

from alpha_chaos.catalogues import conditions as known_conditions
from alpha_chaos.closing import Closing
from alpha_chaos.planners.base import CompletionRequest, Sampling
from alpha_chaos.planners.providers.base import Provider, ProviderError
from alpha_chaos.planners.providers.cache import write_atomically
from alpha_chaos.planners.providers.embedded import NAME as EMBEDDED
from alpha_chaos.planners.providers.select import ProviderKind, choose
from alpha_chaos.plugins import BadSetting, parse, unknown
from alpha_chaos.printable import printable
from alpha_chaos.report.wording import first_few, shown
from alpha_chaos.run.benchmark_manifest import settle
from alpha_chaos.run.command import DONE, HARNESS_ERRORS, INTERRUPTED
from alpha_chaos.run.language_model import replies_folder
from alpha_chaos.run.progress import LINE_EVERY_S, columns
from alpha_chaos.worldmodel.answers import (
    MAX_PLAN,
    Answer,
    Answers,
    Exchange,
    Origin,
    VerdictRecord,
    final,
)
from alpha_chaos.worldmodel.baselines import BASELINES
from alpha_chaos.worldmodel.benchmark_manifest import (
    BenchmarkManifest,
    Model,
    PlanFolder,
    Tasks,
)
from alpha_chaos.worldmodel.exam import Exam
from alpha_chaos.worldmodel.plan_text import Plan, read_plan, read_plan_file
from alpha_chaos.worldmodel.prompting.condition import Condition
from alpha_chaos.worldmodel.score import Benchmark, baseline_plans, plan_file

PLANS = 'plans'  # folder of the plans that a model wrote, as `simmer score` takes them
GIVE_UP_AFTER = 3  # tasks in a row without an answer: nobody is there any more
BYTES_PER_TOKEN = 2.5  # fewer than any prompt of ours was seen to have
MOST_BYTES_PER_TOKEN = 4.0  # of a model that counts no prompt
EMBEDDED_PLAN_S = 60.0  # measured: base 98 s, its replies fill 2048 tokens; foresight 4 to 19 s
ESTIMATED_OVER_S = 86_400.0  # a plan can take longer than the half minute that rich looks back
ESCAPED = ('utf-8', 'backslashreplace')  # a model can write what has no UTF-8 form


@dataclass(frozen=True)
class Options:
    """What a run asks, and whom.

    :param tasks: names or patterns of names; empty for all
    :param conditions: names of prompting conditions
    :param plans: folders of plans to be judged beside them
    :param reply_tokens: longest reply
    :param context_tokens: room for prompt and reply together
    :param retries: further attempts at a task that the model did not answer
    """

    tasks: Sequence[str] = ()
    conditions: Sequence[str] = ()
    plans: Sequence[Path] = ()
    llm: str = 'auto'
    model: str = ''
    reply_tokens: int = 2048
    context_tokens: int = 8192
    retries: int = 2


@dataclass
class Outcome:
    """What a call has done.

    :param left: plan set and task of what has no answer
    """

    left: list[tuple[str, str]] = field(default_factory=list)
    stopped: bool = False


def run_benchmark(
    benchmark: Benchmark, out: Path, options: Options, console: Console, report: bool = True
) -> int:
    """Run a benchmark, print its result, and return the exit code.

    :raises BadSetting: for anything the caller can put right
    :raises jsonl.Busy: when another runner works in `out`
    """
    exams = chosen_tasks(benchmark.exams, options.tasks)
    conditions = chosen_conditions(options.conditions)
    folders = plan_folders(options.plans, benchmark.exams, conditions)
    provider, model = _decide(options, out, console) if conditions else (None, None)
    manifest = BenchmarkManifest(
        tasks=Tasks(
            source=benchmark.name,
            mode=benchmark.mode,
            short_prompts=benchmark.short_prompts,
            fingerprint=benchmark.fingerprint,
            names=tuple(exams),
        ),
        conditions={condition.name: condition.model_dump() for condition in conditions},
        asked={condition.name: tuple(exams) for condition in conditions},
        plans={name: found for name, (found, _) in folders.items()},
        model=model,
    )
    try:
        room = 0
        if provider is not None:
            room = check_room(provider, conditions, exams, options.context_tokens)
        outcome = Outcome()
        with Answers(out) as answers:  # first, so that nobody else works here
            settle(out, manifest, new=not answers.answers)
            answers.add(_judged(answers, exams, folders))
            for answer in final(answers.answers).values():
                if answer.origin == 'model' and answer.status == 'done':
                    keep_plan(out, answer)  # unless a kill has prevented it, it is there
            if provider is not None:
                asking = _Asking(answers, provider, room, options, out, console)
                asking.run(exams, conditions)
                outcome = asking.outcome
    finally:
        if provider is not None:
            _close(provider)
    if not outcome.stopped:
        _show(out, console, report)
    return _conclude(outcome, out, console)


def _close(provider: Provider) -> None:
    """Let go of a model; whoever presses Ctrl-C again must wait for that."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    provider.close()
    signal.signal(signal.SIGINT, before)


def chosen_tasks(exams: Mapping[str, Exam], wanted: Sequence[str]) -> dict[str, Exam]:
    """Return the tasks whose names fit one of the patterns.

    :raises BadSetting: for a pattern that no name fits
    """
    for pattern in wanted:
        if not any(fnmatchcase(name, pattern) for name in exams):
            raise BadSetting(unknown('task', pattern, exams))
    return {
        name: exam
        for name, exam in exams.items()
        if not wanted or any(fnmatchcase(name, pattern) for pattern in wanted)
    }


def chosen_conditions(wanted: Sequence[str]) -> list[Condition]:
    """Return prompting conditions by their names, which may have a hyphen or an underscore.

    :raises BadSetting: listing the names there are
    """
    known = known_conditions()
    names = {kind.replace('_', '-') for kind in known}
    for name in wanted:
        if name.replace('_', '-') not in names:
            raise BadSetting(unknown('condition', name, names))
    kinds = dict.fromkeys(name.replace('-', '_') for name in wanted)
    return [parse(known, {'kind': kind}, 'condition') for kind in kinds]


Folders = Mapping[str, tuple[PlanFolder, Path]]


def plan_folders(
    paths: Iterable[Path], exams: Mapping[str, Exam], conditions: Iterable[Condition]
) -> Folders:
    """Return folders of plans by the names that they have in tables.

    :raises BadSetting: for a folder without a plan for any of the tasks, or a name in use
    """
    used = {*BASELINES, *(condition.name for condition in conditions)}
    found: dict[str, tuple[PlanFolder, Path]] = {}
    for path in paths:
        name = path.resolve().name
        if name in used or name in found:
            raise BadSetting(f'--plans {path}: there are plans called {name!r} already')
        if not path.is_dir():
            raise BadSetting(f'--plans {path}: there is no such folder')
        digest = hashlib.sha256()
        files = [file for task in exams if (file := plan_file(path, task)).is_file()]
        if not files:
            example = plan_file(path, next(iter(exams))).name
            raise BadSetting(f'--plans {path}: there is no plan such as {example}')
        for file in files:
            digest.update(f'{file.name}\0'.encode())
            digest.update(hashlib.sha256(file.read_bytes()).digest())
        found[name] = (PlanFolder(folder=str(path), fingerprint=digest.hexdigest()), path)
    return found


def check_room(
    provider: Provider,
    conditions: Iterable[Condition],
    exams: Mapping[str, Exam],
    context_tokens: int,
) -> int:
    """Return how many tokens the model has room for; the first question of every task fits.

    :raises BadSetting: naming the longest prompt, and what can be done
    """
    longest, where, too_long = 0, '', set()
    try:
        room = provider.context_tokens
    except ProviderError as error:
        raise BadSetting(error.message) from None
    for condition in conditions:
        for name, exam in exams.items():
            told, prompt = condition.opening(exam.briefing())
            size = len(told.encode()) + len(prompt.encode())
            if size / BYTES_PER_TOKEN > room:
                too_long.add(name)
            if size > longest:
                longest, where = size, f'{name} in condition {condition.name}'
    if too_long:
        help_ = (
            'give more --context'
            if room == context_tokens
            else f'take another model, {provider.model} has no more'
        )
        raise BadSetting(
            f'the prompts of {len(too_long)} tasks may not fit into {room} tokens of prompt and '
            f'reply; the longest, {where}, has {longest} bytes, about '
            f'{longest / BYTES_PER_TOKEN:.0f} tokens; {help_}, or choose --short-prompts or '
            '--tasks'
        )
    return room


def _decide(options: Options, out: Path, console: Console) -> tuple[Provider, Model]:
    """Find the model, before anything is asked."""
    try:
        choice = choose(
            cast('ProviderKind', options.llm),
            options.model,
            replies=Path(replies_folder(out)),
            long_prompts=options.context_tokens,
        )
        _say(console, choice.sentence)
        provider = choice.provider
        return provider, Model(
            provider=provider.name,
            model=provider.model,
            engine=provider.engine,
            digest=provider.digest(),
            reply_tokens=options.reply_tokens,
            context_tokens=options.context_tokens,
        )
    except ProviderError as error:
        raise BadSetting(error.message) from None


def _judged(answers: Answers, exams: Mapping[str, Exam], folders: Folders) -> Iterable[Answer]:
    """Return the verdicts on baselines and on plans from files that are not there yet."""
    done = answers.done()
    for kind in BASELINES:
        able = {
            name: exam
            for name, exam in exams.items()
            if (kind, name) not in done and (kind == 'empty' or exam.golden is not None)
        }
        for name, exam, plan in baseline_plans(able, kind):
            yield _verdict_on(plan, kind, name, exam, 'baseline')
    for plan_set, (_, folder) in folders.items():
        for name, exam in exams.items():
            path = plan_file(folder, name)
            if (plan_set, name) not in done and path.is_file():
                yield _verdict_on(read_plan_file(path), plan_set, name, exam, 'files')


def _verdict_on(plan: Plan, plan_set: str, task: str, exam: Exam, origin: Origin) -> Answer:
    return Answer(
        plan_set=plan_set,
        task=task,
        technique=exam.technique,
        origin=origin,
        status='done',
        plan=_kept('\n'.join(plan.lines)),
        verdict=VerdictRecord.of(exam.judge(plan)),
    )


def _kept(plan: str) -> str:
    return plan if len(plan) <= MAX_PLAN else ''


class _Dialogue:
    """Asks the model, and keeps what was asked and said.

    A server may cut off the beginning of a prompt that is too long without a word, so one that
    has grown is measured by those before it.
    """

    def __init__(self, provider: Provider, reply_tokens: int, room: int) -> None:
        self._provider = provider
        self._reply_tokens = reply_tokens
        self._room = room
        self._bytes_per_token = MOST_BYTES_PER_TOKEN
        self.exchanges: list[Exchange] = []

    def ask(self, system: str, prompt: str, most_tokens: int | None) -> str:
        """Return the reply; raises ProviderError."""
        size = len(system.encode(*ESCAPED)) + len(prompt.encode(*ESCAPED))
        if self.exchanges and size / self._bytes_per_token > self._room:
            text = f'a prompt of {size} bytes does not fit into {self._room} tokens'
            raise ProviderError('context_full', text)
        limit = self._reply_tokens if most_tokens is None else most_tokens
        sampling = Sampling(max_tokens=min(self._reply_tokens, limit))
        request = CompletionRequest(printable(system), printable(prompt), None, sampling)
        answer = self._provider.complete(request)
        self.exchanges.append(
            Exchange(
                prompt_sha256=request.prompt_sha256,
                reply=answer.text,
                prompt_tokens=answer.prompt_tokens,
                completion_tokens=answer.completion_tokens,
                wall_s=answer.wall_s,
                done_reason=answer.done_reason,
                cached=answer.cached,
            )
        )
        if answer.prompt_tokens:
            self._bytes_per_token = min(self._bytes_per_token, size / answer.prompt_tokens)
        return answer.text


class _Asking:
    """Asks for every plan that has no verdict yet, task by task."""

    def __init__(
        self,
        answers: Answers,
        provider: Provider,
        room: int,
        options: Options,
        out: Path,
        console: Console,
    ) -> None:
        self._answers = answers
        self._provider = provider
        self._options = options
        self._out = out
        self._console = console
        self._room = room
        self.outcome = Outcome()

    def run(self, exams: Mapping[str, Exam], conditions: Sequence[Condition]) -> None:
        """Ask; what is there already is not asked again."""
        done = self._answers.done()
        jobs = [(name, condition) for name in exams for condition in conditions]
        todo = [job for job in jobs if (job[1].name, job[0]) not in done]
        self._announce(exams, conditions, len(todo))
        self.outcome.left = [(condition.name, name) for name, condition in todo]
        silent = 0
        try:
            with Display(self._console, len(jobs), len(jobs) - len(todo)) as display:
                for name, condition in todo:
                    answer = self._attempts(name, exams[name], condition, display)
                    display.show(answer)
                    silent = silent + 1 if answer.status == 'aborted' else 0
                    if answer.status == 'done':
                        self.outcome.left.remove(answer.key)
                    if silent == GIVE_UP_AFTER:
                        _say(self._console, f'no answer to {silent} tasks in a row: giving up')
                        return
        except KeyboardInterrupt:
            self.outcome.stopped = True

    def _announce(
        self, exams: Mapping[str, Exam], conditions: Sequence[Condition], plans: int
    ) -> None:
        """Say how much there is to ask, before hours have gone into it."""
        names = ', '.join(condition.name for condition in conditions)
        tasks = f'{len(exams)} task{"" if len(exams) == 1 else "s"} in each of {names}'
        there = len(exams) * len(conditions) - plans
        _say(
            self._console,
            f'{plans} plan{"" if plans == 1 else "s"} to ask for: {tasks}'
            + (f'; {there} are there already' if there else ''),
        )
        if self._provider.name == EMBEDDED and plans:
            few = f'begin with a few: --tasks {next(iter(exams))}; ' if len(exams) > 1 else ''
            _say(
                self._console,
                'With the embedded model a plan takes a minute or more on two cores, a dialogue '
                f'many times that, so this may take {lasting(plans * EMBEDDED_PLAN_S)} or more; '
                f'{few}--short-prompts and fewer --reply-tokens make it shorter',
            )

    def _attempts(self, name: str, exam: Exam, condition: Condition, display: 'Display') -> Answer:
        for _ in range(1 + self._options.retries):
            answer = self._attempt(name, exam, condition, display)
            self._answers.add([answer])
            if answer.status == 'done':
                keep_plan(self._out, answer)
                break
        return answer

    def _attempt(self, name: str, exam: Exam, condition: Condition, display: 'Display') -> Answer:
        dialogue = _Dialogue(self._provider, self._options.reply_tokens, self._room)

        def ask(system: str, prompt: str, most_tokens: int | None) -> str:
            asked = len(dialogue.exchanges)
            number = f', question {asked + 1}' if asked else ''
            display.under_way(f'{condition.name}/{name}{number}')
            return dialogue.ask(system, prompt, most_tokens)

        about = {
            'plan_set': condition.name,
            'task': name,
            'technique': exam.technique,
            'origin': 'model',
            'attempt': self._answers.next_attempt((condition.name, name)),
        }
        try:
            planned = condition.plan(exam, ask)
        except ProviderError as error:
            if error.code == 'context_full':
                raise BadSetting(
                    f'task {name} in condition {condition.name}: {error.message}; '
                    'give more --context, or choose --short-prompts or --tasks'
                ) from None
            reason = f'{error.code}: {error.message}'
            exchanges = tuple(dialogue.exchanges)
            return Answer(**about, status='aborted', reason=reason, exchanges=exchanges)
        text = planned.text.encode(*ESCAPED).decode()
        return Answer(
            **about,
            status='done',
            plan=_kept(text),
            ended=planned.ended,
            exchanges=tuple(dialogue.exchanges),
            verdict=VerdictRecord.of(exam.judge(read_plan(text))),
        )


def keep_plan(out: Path, answer: Answer) -> None:
    """Write the plan of a model as a file that `simmer score` takes."""
    path = plan_file(out / PLANS / answer.plan_set, answer.task)
    if not path.is_file():
        write_atomically(path, answer.plan)


class Display(Closing):
    """Shows what is done, under way and left: a bar for people, lines for logs."""

    def __init__(
        self,
        console: Console,
        total: int,
        done: int,
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin; `done` plans are there from earlier calls."""
        self._console = console
        self._total, self._done, self._before = total, done, done
        self._clock_s = clock_s
        self._begun_s = self._answered_s = clock_s()
        self._said_s: float | None = None  # when a plan under way was last spoken of
        self._bar: Progress | None = None
        if console.is_terminal:
            self._bar = Progress(
                *columns(),
                console=console,
                speed_estimate_period=ESTIMATED_OVER_S,
                get_time=clock_s,
            )
            self._task = self._bar.add_task('plans', total=total, completed=done)
            self._bar.start()

    def under_way(self, plan: str) -> None:
        """Say which plan is asked for now; not every time, where there are only lines."""
        if self._bar is not None:
            text = escape(shown(plan, self._console.encoding))
            self._bar.update(self._task, description=text)
            return
        now_s = self._clock_s()
        if self._said_s is None or now_s - self._said_s >= LINE_EVERY_S:
            self._said_s = now_s
            here = self._done - self._before
            rest = ''
            if here:
                took_s = (self._answered_s - self._begun_s) / here
                rest = f', about {lasting(took_s * (self._total - self._done))} left'
            _say(
                self._console,
                f'{self._done}/{self._total} plans, {lasting(now_s - self._begun_s)}{rest}: '
                f'{plan} under way',
            )

    def show(self, answer: Answer) -> None:
        """Take one answer in."""
        self._done += answer.status == 'done'
        self._answered_s = self._clock_s()
        if self._bar is not None:
            self._bar.update(self._task, completed=self._done)
        if self._bar is None or answer.status == 'aborted':
            _say(self._console, f'{self._done}/{self._total} {_told(answer)}')

    def close(self) -> None:
        """Stop drawing."""
        if self._bar is not None:
            self._bar.stop()


def lasting(duration_s: float) -> str:
    """Return a duration to two digits or so, in the unit that people use for it."""
    if duration_s < 120.0:
        return f'{duration_s:.0f} s'
    if duration_s < 7200.0:
        return f'{duration_s / 60.0:.0f} min'
    return f'{duration_s / 3600.0:.1f} h'


def _told(answer: Answer) -> str:
    start = f'{answer.plan_set}/{answer.task}'
    if answer.verdict is None:
        return f'{start} aborted: {answer.reason}'
    found = answer.verdict
    counts = f'immediate {found.immediate}, latent {found.latent}'
    return f'{start}: {found.steps} steps, {counts}{", clean" if found.clean else ""}'


def _show(out: Path, console: Console, report: bool) -> None:
    from alpha_chaos.report.benchmark_table import print_table

    print_table(out, console)
    if report:
        from alpha_chaos.report.benchmark_page import build

        _say(console, f'report: {build(out)}')


def _conclude(outcome: Outcome, out: Path, console: Console) -> int:
    if outcome.stopped:
        _say(console, 'stopped; the same command goes on where this one ended')
        return INTERRUPTED
    if outcome.left:
        names = first_few([f'{plan_set}/{task}' for plan_set, task in outcome.left], 5)
        _say(
            console,
            f'no plan, because the model did not answer: {names}. The same command asks again.',
        )
        return HARNESS_ERRORS
    _say(console, f'everything is in {out}: journal.jsonl, plans/, replies/')
    return DONE


def _say(console: Console, text: str) -> None:
    console.print(shown(text, console.encoding), markup=False, highlight=False, soft_wrap=True)
