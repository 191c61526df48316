"""Names of types, and what is said about those that cannot be used."""

import pytest

from alpha_chaos.nodes.interfaces import load, load_part
from alpha_chaos.plugins import BadSetting


@pytest.mark.parametrize(
    ('name', 'why'),
    [
        ('/msg/Empty', 'is no interface name'),
        ('..std_msgs/msg/Empty', 'is no interface name'),
        ('std_msgs/Empty', 'is no interface name'),
        ('std_msgs/msg/Emty', 'is not installed'),
        ('no_such_msgs/msg/Empty', 'is not installed'),
        ('no_such_msgs/action/Go_SendGoal', 'is not installed'),
    ],
)
def test_a_type_that_is_none_or_not_installed_is_named(name, why):
    with pytest.raises(BadSetting, match=why):
        load_part(name)


def test_a_package_that_is_installed_by_half_is_named_with_its_error(tmp_path, monkeypatch):
    folder = tmp_path / 'half_msgs' / 'msg'
    folder.mkdir(parents=True)
    (folder / '__init__.py').write_text('raise RuntimeError("no type support")\n')
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(BadSetting, match='cannot be loaded: RuntimeError: no type support'):
        load('half_msgs/msg/Scan')
