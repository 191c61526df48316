"""The page of the nodes is what the code gives."""

import re
from pathlib import Path

from alpha_chaos.graph import EXECUTABLES

ROOT = Path(__file__).parents[2]


def test_the_page_of_the_nodes_is_what_the_code_gives(reference):
    committed = reference.PAGE.read_text('utf-8').splitlines()
    assert committed == reference.page().splitlines(), 'run `make reference`'


def test_every_executable_has_its_section(reference):
    sections = re.findall(r'^## (\w+)$', reference.PAGE.read_text('utf-8'), re.MULTILINE)
    assert set(EXECUTABLES) <= set(sections)


def test_every_interface_is_on_the_page_and_its_link_leads_somewhere(reference):
    links = re.findall(r'\]\((\.\./[^)]+)\)', reference.PAGE.read_text('utf-8'))
    targets = {(reference.PAGE.parent / link).resolve() for link in links}
    assert all(target.is_file() for target in targets)
    files = {path for kind in reference.KINDS for path in (ROOT / kind).iterdir()}
    assert files <= targets
