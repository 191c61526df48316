"""One recorded episode in pictures, drawn from the recording alone.

The body's own world is built and put into the recorded states; nothing is simulated again.
"""

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from alpha_chaos.bag.reader import BagError, Recording
from alpha_chaos.bodies.base import NOTHING, Body
from alpha_chaos.bodies.bullet import BulletWorld, View
from alpha_chaos.report import wording as say

# From beyond the corner of the table that is nearest to the zone: nothing hides it from there.
VIEW = View(eye_m=(1.5, 0.95, 1.3), target_m=(0.40, 0.08, 0.82), field_of_view_deg=38.0)
WIDTH, HEIGHT = 240, 180
COLOURS = 96  # of a picture; more cannot be told from it at this size

STRIP = 6  # pictures in a strip
MOVING = 24  # pictures in the moving version
MOVING_MS = 160  # each of them is shown
LAST_MS = 1500

_GAP = 4  # between pictures [px]
_TITLE, _BELOW = 22, 34  # heights of the texts above and below [px]
_PAPER, _INK, _FAINT = (255, 255, 255), (30, 30, 30), (95, 95, 95)


class NoFilm(BagError):
    """A recording that is in order and still cannot be drawn."""


@dataclass(frozen=True)
class Moment:
    """What one picture shows.

    :param phase: of the episode, and within the execution what the robot was last told to do
    :param time_s: simulated, since the first observation
    :param held: name of the object in the gripper, empty for none
    """

    phase: str
    time_s: float
    held: str

    @property
    def text(self) -> str:
        """Return it in words."""
        return f'{self.phase} at {self.time_s:.2f} s, holds {self.held or "nothing"}'


@dataclass(frozen=True)
class Film:
    """An episode in six pictures side by side (PNG), and the same moving (GIF)."""

    strip: bytes
    gif: bytes
    alt: str


def film(bag: Path, body: Body, title: str) -> Film:
    """Return the pictures of a recorded episode.

    :param bag: folder of the recording
    :param body: the one that was recorded, with its settings
    :param title: stands above the strip
    :raises BagError: if the recording cannot be read, or cannot be drawn
    """
    recording = Recording(bag)
    steps, about = recording.step_states, recording.description
    if not len(steps):
        raise NoFilm(bag, 'no step was recorded')
    try:
        world = body.world()
    except ImportError as error:
        raise NoFilm(bag, f'body {body.kind!r} cannot be drawn: {error}') from None
    with world:
        if not isinstance(world, BulletWorld):
            raise NoFilm(bag, f'body {body.kind!r} cannot be drawn')
        if (world.joint_names, world.object_names) != (about.joint_names, about.object_names):
            raise NoFilm(bag, f'body {body.kind!r} has other joints or blocks than the recording')
        world.paint(about.zone, about.success_radius_m)
        first = min(int(np.searchsorted(steps.step, 0)), len(steps) - 1)
        orders = _orders(recording)
        marks = chosen((first, len(steps) - 1, *_ends(recording, orders, first)), STRIP)
        moving = chosen((first, len(steps) - 1), MOVING)
        pictures = {}
        for index in sorted({*marks, *moving}):
            world.show(steps.joint_position[index].tolist(), steps.object_pose[index].tolist())
            pictures[index] = world.image(VIEW, WIDTH, HEIGHT)
    moments = [_moment(recording, orders, index) for index in marks]
    strip = _strip([pictures[index] for index in marks], moments, say.shown(title, 'latin-1'))
    return Film(
        strip=strip,
        gif=_gif([pictures[index] for index in moving]),
        alt=f'{title}: ' + '; '.join(moment.text for moment in moments) + '.',
    )


def chosen(boundaries: Iterable[int], count: int) -> list[int]:
    """Return `count` of the numbers from the first to the last boundary, boundaries first.

    What is left is put where the gaps are widest, evenly. With more boundaries than `count`,
    those are taken that lie evenly among them, the first and the last always.
    """
    marks = sorted(set(boundaries))
    if len(marks) > count:
        places = [round(place * (len(marks) - 1) / (count - 1)) for place in range(count)]
        return [marks[place] for place in places]
    gaps = list(pairwise(marks))
    parts = [1] * len(gaps)
    for _ in range(count - len(marks)):
        widths = [(end - begin) / cut for (begin, end), cut in zip(gaps, parts, strict=True)]
        if not widths or max(widths) <= 1:
            break
        parts[widths.index(max(widths))] += 1
    found = set(marks)
    for (begin, end), cut in zip(gaps, parts, strict=True):
        found |= {round(begin + place * (end - begin) / cut) for place in range(1, cut)}
    return sorted(found)


Order = tuple[int, str]  # simulated time [ns], and what the robot was told to do


def _orders(recording: Recording) -> list[Order]:
    """Return what the robot was told, in order, and when it had done the last of it."""
    found: list[Order] = []
    done_ns, moves = 0, 0
    for exchange in recording.exchanges():
        kind = exchange.type.rpartition('/')[2]
        if exchange.side != 'client':
            continue
        if kind in ('MoveTo_Result', 'GripperCommand_Result'):
            done_ns = exchange.time_ns
        elif kind == 'MoveTo_Goal':
            moves += 1
            found.append((exchange.time_ns, f'move {moves}'))
        elif kind == 'GripperCommand_Goal':
            closes = exchange.message.opening == 0
            found.append((exchange.time_ns, 'grip' if closes else 'release'))
    return [*found, (max(done_ns, found[-1][0]), 'rest')] if found else []


def _ends(recording: Recording, orders: Sequence[Order], first: int) -> list[int]:
    """Return the indices of the states in which the robot had done what it was told."""
    steps = recording.step_states
    found = np.searchsorted(steps.time_ns, [time_ns for time_ns, _ in orders[1:]]).tolist()
    return [index for index in found if first < index < len(steps)]


def _moment(recording: Recording, orders: Sequence[Order], index: int) -> Moment:
    steps, about = recording.step_states, recording.description
    now_ns, held = int(steps.time_ns[index]), int(steps.held[index])
    # At the very time of an order nothing of it has happened yet.
    begun = [told for time_ns, told in orders if time_ns < now_ns]
    return Moment(
        phase=begun[-1] if begun else 'observe, plan' if orders else 'no order',
        time_s=int(steps.step[index]) * about.step_period_s,
        held='' if held == NOTHING else about.object_names[held],
    )


def _strip(pictures: Sequence[NDArray[np.uint8]], moments: Sequence[Moment], title: str) -> bytes:
    wide = len(pictures) * (WIDTH + _GAP) - _GAP
    whole = Image.new('RGB', (wide, _TITLE + HEIGHT + _BELOW), _PAPER)
    pen = ImageDraw.Draw(whole)
    large, small = (ImageFont.load_default(size) for size in (14, 12))
    pen.text((4, 3), title, fill=_INK, font=large)
    for place, (picture, moment) in enumerate(zip(pictures, moments, strict=True)):
        x, y = place * (WIDTH + _GAP), _TITLE + HEIGHT
        whole.paste(Image.fromarray(picture), (x, _TITLE))
        pen.text((x + 4, y + 1), f'{moment.time_s:.2f} s   {moment.phase}', fill=_INK, font=large)
        held = f'holds {moment.held}' if moment.held else 'holds nothing'
        pen.text((x + 4, y + 18), held, fill=_FAINT, font=small)
    buffer = io.BytesIO()
    _few_colours(whole).save(buffer, 'PNG', optimize=True)
    return buffer.getvalue()


def _gif(pictures: Sequence[NDArray[np.uint8]]) -> bytes:
    few = [_few_colours(Image.fromarray(picture)) for picture in pictures]
    buffer = io.BytesIO()
    few[0].save(
        buffer,
        'GIF',
        save_all=True,
        append_images=few[1:],
        duration=[MOVING_MS] * (len(few) - 1) + [LAST_MS],
        loop=0,
    )
    return buffer.getvalue()


def _few_colours(picture: Image.Image) -> Image.Image:
    # Not the median cut, to which a few pixels of a block are not worth a colour.
    return picture.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
