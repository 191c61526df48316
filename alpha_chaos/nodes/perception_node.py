"""Perception: turns the ground truth into the observations a planner may see."""

from typing import Any

from pydantic import Field

from alpha_chaos.experiment import Episode
from alpha_chaos.msg import ObjectStates, SceneObservation
from alpha_chaos.nodes.episode_node import EpisodeNode, EpisodeParams
from alpha_chaos.nodes.spin import run
from alpha_chaos.srv import Reset


class PerceptionParams(EpisodeParams):
    """Parameters of the perception node."""

    every_n_objects: int = Field(1, ge=1, description='objects messages for each observation [1]')


class PerceptionNode(EpisodeNode):
    """A perfect camera: it reports every block where it is, stamped with the sample's time."""

    params_model = PerceptionParams
    params: PerceptionParams

    def __init__(self, **options: Any) -> None:
        super().__init__('perception', **options)
        self._scene = self.outlet(SceneObservation, 'scene')
        self.listen(ObjectStates, 'objects', self._on_objects)

    def begin(self, episode: Episode, request: Reset.Request) -> None:
        """Count from zero."""
        self._heard = 0

    def _on_objects(self, message: ObjectStates) -> None:
        self._heard += 1
        # The first one is always reported: a consumer may ask for the scene at any time.
        if (self._heard - 1) % self.params.every_n_objects == 0:
            self._scene.send(
                SceneObservation(
                    header=message.header,
                    episode_id=message.episode_id,
                    sequence=self._scene.count + 1,
                    blocks=message.objects,
                )
            )


def main() -> int:
    """Run the node."""
    return run(PerceptionNode)


if __name__ == '__main__':
    raise SystemExit(main())
