"""What the pages for people point at is there, and the map of the code names every part of it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob('*.md'), *ROOT.glob('docs/**/*.md'), *ROOT.glob('config/**/*.md')])
# A target ends at the first bracket: none of our names has one.
LINK = re.compile(r'\]\(([^)\s]+)\)')
CODE = re.compile(r'```.*?```', re.DOTALL)
PACKAGE = ROOT / 'alpha_chaos'
MAP = ROOT / 'docs/architecture.md'
GENERATED = {'msg', 'srv', 'action'}  # by the build, and imported by whoever speaks ROS


def links(page: str) -> list[str]:
    return [link for link in LINK.findall(CODE.sub('', page)) if '://' not in link]


def anchors(page: str) -> set[str]:
    """Return what GitHub makes of the headings: lower case, no punctuation, spaces as hyphens."""
    headings = re.findall(r'^#+ (.+)$', CODE.sub('', page), re.MULTILINE)
    return {re.sub(r'[^\w -]', '', heading.lower()).replace(' ', '-') for heading in headings}


def dead(page: Path) -> list[str]:
    found = []
    for link in links(page.read_text()):
        path, _, anchor = link.partition('#')
        target = page.parent / path if path else page
        if not target.exists() or (anchor and anchor not in anchors(target.read_text())):
            found.append(link)
    return found


@pytest.mark.parametrize('page', PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    assert dead(page) == []


def test_a_link_to_a_file_or_a_heading_that_is_not_there_is_dead(tmp_path: Path) -> None:
    (tmp_path / 'other.md').write_text('# One `two`, three\n')
    page = tmp_path / 'page.md'
    page.write_text(
        '[a](other.md) [b](other.md#one-two-three) [c](https://example.org/nothing)\n'
        '[d](gone.md) [e](other.md#four) [f](#five)\n```\n[g](gone.md)\n```\n'
    )
    assert dead(page) == ['gone.md', 'other.md#four', '#five']


def test_the_architecture_names_every_folder_and_every_module_beside_them() -> None:
    page = MAP.read_text()
    folders = {path.parent.name for path in PACKAGE.glob('*/__init__.py')}
    modules = {path.name for path in PACKAGE.glob('*.py')} - {'__init__.py'}
    assert folders  # or nothing was looked at
    assert [name for name in sorted(folders) if f'`{name}/`' not in page] == []
    assert [name for name in sorted(modules) if f'`{name}`' not in page] == []


def imported(body: list[ast.stmt]) -> Iterator[str]:
    """Yield what of the package a module imports when it is imported itself."""
    for statement in body:
        if isinstance(statement, ast.Try):
            yield from imported(statement.body)
        elif isinstance(statement, ast.ImportFrom) and statement.module:
            outer, _, inner = statement.module.partition('.')
            if outer == PACKAGE.name:
                names = [inner] if inner else [alias.name for alias in statement.names]
                yield from (name.partition('.')[0] for name in names)


def test_no_part_imports_one_that_stands_above_it_on_the_map() -> None:
    layers = CODE.findall(MAP.read_text().partition('\n## Packages\n')[2])[0].strip('`\n')
    level = {
        part.rstrip('/'): number
        for number, line in enumerate(layers.splitlines())
        for part in re.split('  +', line)
    }
    upwards = []
    for path in PACKAGE.rglob('*.py'):
        part = path.relative_to(PACKAGE).parts[0].removesuffix('.py')
        if part in GENERATED or part == '__init__':
            continue
        for other in imported(ast.parse(path.read_text()).body):
            if other not in GENERATED | {'__version__'} and level[other] < level[part]:
                upwards.append((str(path.relative_to(PACKAGE)), other))
    assert upwards == []
