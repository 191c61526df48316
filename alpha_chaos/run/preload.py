"""Everything the nodes import, imported once in the server that their processes fork from."""

import gc
import importlib
import os

from alpha_chaos.catalogues import bodies, drivers, faults, planners, recoveries, tasks
from alpha_chaos.graph import episode_graph


def _quietly(name: str) -> None:
    """Import a module that writes to standard error when it is loaded, from C."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        importlib.import_module(name)
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


for _name in episode_graph(guard=True).names:
    importlib.import_module(f'alpha_chaos.nodes.{_name}_node')
_quietly('pybullet')
importlib.import_module('pybullet_data')
for _catalogue in (bodies, drivers, faults, planners, recoveries, tasks):
    _catalogue()
importlib.import_module('alpha_chaos.bag.definitions').typestore()

# What is here now is never garbage: no collection in a fork looks at it again, and its pages stay
# shared. Without this the one collection at the end of a node costs as much as its start.
gc.collect()
gc.freeze()
