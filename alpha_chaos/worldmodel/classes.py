"""Classes: what their objects start with, and where."""

from collections.abc import Mapping, Sequence
from typing import Any

from alpha_chaos.plugins import unknown
from alpha_chaos.worldmodel import state as st
from alpha_chaos.worldmodel.documents import (
    ClassDocument,
    Place,
    WorldFiles,
)
from alpha_chaos.worldmodel.things import CONCRETE
from alpha_chaos.worldmodel.vocabulary import Vocabulary

Row = tuple[int, int, tuple[object, ...]]  # bits, classes, values


def class_row(name: str, files: WorldFiles, words: Vocabulary, below: tuple[str, ...]) -> Row:
    """Return what an object of a class starts with.

    :param below: classes that are like this one, to notice a circle
    :raises BadSetting: with file, line and key
    """
    document, at = files.document.classes[name], files.place('classes', name)
    if name in below:
        raise at.wrong(f'classes are like each other in a circle: {" -> ".join((*below, name))}')
    row: Row = (0, words.classes[name], tuple(words.row()))
    merged = _merged(document, at, files, words, (*below, name))
    for other in merged:
        bits, kinds, values = other
        blank = words.row()
        row = (
            row[0] | bits,
            row[1] | kinds,
            tuple(
                new if new != default else old
                for old, new, default in zip(row[2], values, blank, strict=True)
            ),
        )
    return changed(words, row, document.is_, document.not_, document.has, at)


def _merged(
    document: ClassDocument,
    at: Place,
    files: WorldFiles,
    words: Vocabulary,
    below: tuple[str, ...],
) -> list[Row]:
    like = (document.like,) if isinstance(document.like, str) else document.like
    for i, other in enumerate(like):
        if other not in files.document.classes:
            here = at / 'like' if isinstance(document.like, str) else at / 'like' / i
            raise here.wrong(unknown('class', other, files.document.classes))
    return [class_row(other, files, words, below) for other in like]


def class_place(files: WorldFiles, name: str) -> tuple[tuple[str, str] | None, Place]:
    """Return where objects of a class are at first, as written, and where that stands."""
    document, at = files.document.classes[name], files.place('classes', name)
    if document.at is not None:
        return document.at, at / 'at'
    like = (document.like,) if isinstance(document.like, str) else document.like
    for other in reversed(like):
        found, where = class_place(files, other)
        if found is not None:
            return found, where
    return None, at


def changed(
    words: Vocabulary,
    row: Row,
    is_: Sequence[str],
    not_: Sequence[str],
    has: Mapping[str, Any],
    at: Place,
) -> Row:
    """Return a row with words and states added and taken away.

    :raises BadSetting: for a word or value that does not fit
    """
    bits, kinds, values = row[0], row[1], list(row[2])
    for key, listed in (('is', is_), ('not', not_)):
        for i, word in enumerate(listed):
            mask = words.bit(word)
            if not mask:
                flags = [name for name, entry in words.states.items() if entry.mask]
                known = (*words.properties, *flags)
                raise (at / key / i).wrong(unknown('property or flag', word, known))
            bits = bits | mask if key == 'is' else bits & ~mask
    for name, written in has.items():
        here = at / 'has' / name
        if name not in words.states:
            raise here.wrong(unknown('state', name, words.states))
        state = words.states[name]
        value = state.value(written, here)
        if state.mask:
            bits = bits | state.mask if value else bits & ~state.mask
        else:
            values[state.column] = value
    return bits, kinds, tuple(values)


def parse_place(
    written: tuple[str, str], words: Vocabulary, known: Mapping[tuple[str, str], int], at: Place
) -> tuple[int, int]:
    """Return relation and object of `[relation, class]` or `[relation, class 2]`.

    :raises BadSetting: if there is no such object
    """
    relation, target = written
    if relation not in words.relations:
        raise (at / 0).wrong(unknown('relation', relation, words.relations))
    if target == 'agent':
        return words.relations.index(relation), st.AGENT
    match = CONCRETE.fullmatch(target)
    key = (match[1], match[2]) if match else (target, '1')
    if key not in known:
        if not match:  # the first of that class that there is
            others = sorted((int(id_), class_) for class_, id_ in known if class_ == target)
            if others:
                return words.relations.index(relation), known[target, str(others[0][0])]
        labels = [' '.join(label) for label in known]
        raise (at / 1).wrong(f'there is no {target!r} here; {unknown("object", target, labels)}')
    return words.relations.index(relation), known[key]
