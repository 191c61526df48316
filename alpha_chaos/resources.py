"""Where the files that belong to the package are, found without ROS."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path


def config_folder() -> Path:
    """Return the folder of experiments, calibrations and node parameters.

    In a source checkout that is the one beside `package.xml`, so an edit counts at once; else
    `share/alpha_chaos/config` of the prefix the package is installed in.

    :raises FileNotFoundError: naming every place that was looked at
    """
    return _folder('config')


def interface_folder(kind: str = 'msg') -> Path:
    """Return the folder of the package's interface definitions, found like `config_folder`.

    :param kind: 'msg', 'srv' or 'action'
    """
    return _folder(kind)


def _folder(name: str) -> Path:
    places = list(_places(Path(__file__).resolve().parent, name))
    for place in places:
        if place.is_dir():
            return place
    looked = ', '.join(map(str, places))
    raise FileNotFoundError(f'no {name} folder of alpha_chaos; looked at {looked}')


def _places(package: Path, name: str) -> Iterator[Path]:
    if (package.parent / 'package.xml').is_file():
        yield package.parent / name
    prefixes = [
        *package.parents[2:5],  # <prefix>/lib/python3.x/site-packages/alpha_chaos
        *map(Path, filter(None, os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep))),
        Path(sys.prefix),
    ]
    for prefix in dict.fromkeys(prefixes):
        yield prefix / 'share' / 'alpha_chaos' / name
