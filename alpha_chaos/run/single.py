"""One episode of an experiment, found by its name."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from alpha_chaos.experiment import Episode, Experiment
from alpha_chaos.run import manifest
from alpha_chaos.run.language_model import decide, with_model


def one_episode(
    experiment: str,
    run_id: str,
    arm: str,
    out: Path | None,
    *,
    driver: str | None = None,
    llm: str | None,
    model: str,
    speed: float,
    say: Callable[[str], None],
) -> Episode:
    """Return one episode with its language model decided; the folder of the run gets its manifest.

    :param driver: what takes the robot's place; None for what the experiment says
    :param speed: real-time factor to watch it at, 0 for as fast as possible
    :param say: is told which model was chosen
    :raises BadSetting: for anything that is not to be had, and for a folder of another run
    """
    asked = replace(Experiment.load(experiment), real_time_factor=speed)
    if driver is not None:
        asked = asked.with_driver(driver)
    asked = with_model(asked, llm, model)
    asked.episode(run_id, arm)  # refuses what there is not, before a model is looked for
    decided, about = decide(asked, [arm], say)
    if out is not None:
        manifest.settle(out, asked, [arm], about)
    return decided.episode(run_id, arm)
