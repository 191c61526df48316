"""The sums of a score on the screen."""

from rich.console import Group
from rich.table import Table
from rich.text import Text

from alpha_chaos.printable import printable
from alpha_chaos.worldmodel.score import Score

MOST_RULES = 12


def score_table(score: Score) -> Group:
    """Return failures in all, tasks with them, and the rules that most of them broke."""
    totals = score.totals()
    table = Table(box=None, pad_edge=False)
    table.add_column()
    table.add_column('failures', justify='right')
    table.add_column('tasks', justify='right')
    for kind in ('immediate', 'latent', 'irreversible'):
        table.add_row(kind, str(totals[kind]), str(totals[f'tasks_with_{kind}']))
    reached = totals['goal_reached']
    table.add_row('goal reached', '', 'no goals' if reached is None else str(reached))
    table.add_row('clean', '', str(totals['clean']))
    table.add_row('judged', '', str(totals['tasks']))
    if totals['missing']:
        table.add_row('without a plan', '', str(len(totals['missing'])))
    rules = Table(box=None, pad_edge=False)
    rules.add_column('failures', justify='right')
    rules.add_column('rule')
    for rule, count in list(totals['rules'].items())[:MOST_RULES]:
        rules.add_row(str(count), Text(printable(rule)))
    left = len(totals['rules']) - MOST_RULES
    if left > 0:
        rules.add_row('', f'and {left} more rules')
    return Group(table, Text(''), rules) if totals['rules'] else Group(table)
