"""Names as ROS has them, in settings: what is none is refused where it stands."""

import re
from typing import Annotated

from pydantic import AfterValidator

_NAME = re.compile(r'(~?/)?[A-Za-z_]\w*(/[A-Za-z_]\w*)*', re.ASCII)
_TYPE = re.compile(r'[a-z]\w*/(msg|srv|action)/[A-Z]\w*', re.ASCII)
_LONGEST = 200  # DDS takes 256 characters, with a prefix and a suffix of ROS


def _name(text: str) -> str:
    if len(text) > _LONGEST or not _NAME.fullmatch(text) or '__' in text:
        raise ValueError(f'{text[:_LONGEST]!r} is no ROS name; it looks like /robot/scan or scan')
    return text


def _type(text: str) -> str:
    if not _TYPE.fullmatch(text):
        raise ValueError(
            f'{text[:_LONGEST]!r} is no interface; it looks like sensor_msgs/msg/LaserScan'
        )
    return text


Name = Annotated[str, AfterValidator(_name)]
TypeName = Annotated[str, AfterValidator(_type)]
