"""Everything the nodes import, imported once in the server that their processes are forked from."""

import importlib

from alpha_chaos.catalogues import bodies, faults, planners, tasks
from alpha_chaos.graph import episode_graph

for _name in episode_graph().names:
    importlib.import_module(f'alpha_chaos.nodes.{_name}_node')
importlib.import_module('pybullet')
importlib.import_module('pybullet_data')
for _catalogue in (bodies, faults, planners, tasks):
    _catalogue()
importlib.import_module('alpha_chaos.bag.definitions').typestore()
