"""The URDF of a body's robot, as viewers need it."""

from pathlib import Path
from xml.etree import ElementTree

from alpha_chaos.bodies.base import RobotModel
from alpha_chaos.plugins import BadSetting

WORLD = 'world'
_PACKAGE = 'package://'


def robot_description(robot: RobotModel) -> str:
    """Return the URDF of a robot that stands in the frame `world`.

    A fixed joint puts its base where the body has it, and files of shapes that lie beside the URDF
    are named with their full path: a viewer does not look for them where PyBullet does.

    :raises BadSetting: for a file that there is not, or that is no URDF
    """
    path = _file(robot.urdf)
    try:
        tree = ElementTree.fromstring(path.read_text())
    except (ElementTree.ParseError, UnicodeDecodeError) as error:
        raise BadSetting(f'{path} is no URDF: {error}') from None
    for mesh in tree.iter('mesh'):
        name = mesh.get('filename', '').removeprefix(_PACKAGE)
        if (path.parent / name).is_file():
            mesh.set('filename', (path.parent / name).as_uri())
    children = {child.get('link') for child in tree.findall('joint/child')}
    (base,) = (link for link in tree.findall('link') if link.get('name') not in children)
    joint = ElementTree.Element('joint', name=f'{WORLD}_to_base', type='fixed')
    ElementTree.SubElement(joint, 'origin', xyz=' '.join(map(str, robot.base_position_m)))
    ElementTree.SubElement(joint, 'parent', link=WORLD)
    ElementTree.SubElement(joint, 'child', link=base.get('name', ''))
    tree.append(ElementTree.Element('link', name=WORLD))
    tree.append(joint)
    return ElementTree.tostring(tree, encoding='unicode')


def _file(urdf: str) -> Path:
    if Path(urdf).is_file():
        return Path(urdf).resolve()
    import pybullet_data

    found = Path(pybullet_data.getDataPath()) / urdf
    if not found.is_file():
        raise BadSetting(f'there is no file {urdf!r}, neither here nor among those of PyBullet')
    return found
