"""The files of a folder of plug-ins, and what each of them must hold."""

from collections.abc import Collection, Mapping
from pathlib import Path
from types import ModuleType

from alpha_chaos.plugins import Plugin


def kinds(package: ModuleType, frame: Collection[str]) -> list[str]:
    """Return the names of the files that must hold a plug-in.

    :param frame: files of the package that hold none
    """
    return sorted(
        path.stem
        for folder in package.__path__
        for path in Path(folder).glob('*.py')
        if path.stem not in frame
    )


def check_holds_plugin(kind: str, found: Mapping[str, type[Plugin]], folder: str) -> None:
    """Check that a file holds the plug-in of its name, with an example and a description."""
    assert kind in found, f'{folder}/{kind}.py holds no plug-in of kind {kind!r}'
    made = found[kind]
    assert kind.replace('_', '') == made.__name__.lower()
    assert 'example' in vars(made), f'{folder}/{kind}.py sets no {made.__name__}.example'
    assert isinstance(made.example, made)
    assert made.__doc__
