"""What must be known before the numbers of a run are believed."""

from alpha_chaos.stats.paired import ALL
from alpha_chaos.stats.paper import Paper
from alpha_chaos.stats.summary import Summary

COPIES = '!'  # behind an interval whose n counts copies
FEWEST = 6  # 2 * 0.5 ** 6 = 0.03, 2 * 0.5 ** 5 = 0.06


def _same_matrix(summary: Summary, paper: Paper) -> bool:
    return set(summary.conditions) == set(paper.conditions) and all(
        cell.result.n + cell.aborted + cell.missing == paper.conditions[cell.condition].n
        for cell in summary.cells
    )


def _some(number: int, noun: str) -> str:
    return f'{number} {noun}' if number == 1 else f'{number} {noun}s'


def notes(summary: Summary) -> tuple[str, ...]:
    """Return what must be known before the numbers are believed, the gravest first."""
    found = []
    if summary.torn:
        found.append('The last line of the journal is incomplete and was left out.')
    if not summary.results:
        found.append('No episode has a result: there is nothing to estimate.')
    if summary.unresolved:
        found.append(
            f'{_some(len(summary.unresolved), "episode")} without a result, every attempt aborted '
            'by the infrastructure: neither success nor failure.'
        )
    if summary.missing:
        found.append(
            f'{len(summary.missing)} of {_some(summary.expected or 0, "planned episode")} not '
            'attempted yet: the same command resumes the run.'
        )
    if summary.unexpected:
        found.append(
            f'{_some(len(summary.unexpected), "episode")} in the journal but not in the manifest: '
            'left out.'
        )
    if len(summary.calibrations) > 1:
        found.append(f'The journal mixes calibrations: {", ".join(summary.calibrations)}.')
    if len(summary.arms) == 1:
        found.append(f'Only one arm, {summary.arms[0]}: nothing can be compared.')
    if empty := sum(cell.result.n == 0 for cell in summary.cells):
        found.append(f'{empty} of {_some(len(summary.cells), "cell")} with n = 0: no estimate.')
    if summary.lost:
        messages = sum(number for _, _, number in summary.lost)
        found.append(
            f'{_some(messages, "message")} lost in {_some(len(summary.lost), "recording")}.'
        )
    if idle := [cell for cell in summary.cells if cell.not_exercised]:
        episodes = sum(len(cell.not_exercised) for cell in idle)
        names = dict.fromkeys(f'{cell.arm} {cell.condition}' for cell in idle)
        found.append(
            f'{_some(episodes, "episode")} in which a fault did not manifest (column "exercised");'
            f' success there says nothing about the fault: {", ".join(names)}.'
        )
    if unproven := sum(cell.unproven for cell in summary.cells):
        found.append(f'{_some(unproven, "episode")} without word whether the fault manifested.')
    if copies := [cell for cell in summary.cells if cell.copies]:
        found.append(
            f'{len(copies)} of {_some(len(summary.cells), "cell")} with episodes that repeat a '
            'trajectory (column "distinct"): n counts copies there, which are no replicates. '
            f'Their intervals, marked {COPIES}, are too narrow to mean anything.'
        )
    tested = [
        item for test in summary.comparisons if test.cohort == ALL for item in test.conditions
    ]
    if blind := [item for item in tested if item.detectable.pairs is None]:
        most = max(item.distinct for item in blind)
        found.append(
            f'{len(blind)} of {_some(len(tested), "comparison")} of single conditions have at '
            f'most {_some(most, "distinct pair")}: whatever happens there, no exact test can '
            f'reach 0.05, which takes {FEWEST} discordant pairs.'
        )
    if summary.twins and not any(twin.pairs for twin in summary.twins):
        reasons = ', '.join(dict.fromkeys(twin.why for twin in summary.twins))
        found.append(
            f'No faulty cell has a fault-free twin ({reasons}): what a fault does can be compared '
            'between arms, but not with the same episode without it.'
        )
    if summary.paper and not _same_matrix(summary, summary.paper):
        found.append(
            "The paper's numbers are those of its own matrix, "
            f'{summary.paper.episodes_per_arm} episodes an arm; this run has another.'
        )
    return tuple(found)
