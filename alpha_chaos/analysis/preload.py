"""What every process of a pool needs, imported once in the server they are forked from."""

from alpha_chaos import catalogues
from alpha_chaos.analysis import examine, execution
from alpha_chaos.analysis.quiet import unheard
from alpha_chaos.bag.definitions import typestore

__all__ = ['examine', 'execution']

with unheard():
    for _catalogue in (
        catalogues.bodies,
        catalogues.faults,
        catalogues.planners,
        catalogues.recoveries,
        catalogues.tasks,
    ):
        _catalogue()
typestore()
