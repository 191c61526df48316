"""Write docs/reference/kitchen.md: every rule and action of the kitchen, and how many there are.

`make reference` calls this.
"""

from collections.abc import Iterator
from pathlib import Path

from alpha_chaos.worldmodel.domain import load_domain
from alpha_chaos.worldmodel.interactions import count_interactions
from alpha_chaos.worldmodel.parts import Domain, Role

PAGE = Path(__file__).parents[1] / 'docs/reference/kitchen.md'
PREAMBLE = """\
# Rules and actions of the kitchen

Made from `config/worlds/kitchen` by `make reference`, and compared with it by a test.
[The kitchen](../kitchen.md) says how it works and where its numbers come from."""
RULES = """\
## Rules

Severity: 1 nuisance, 2 spoiled or dangerous, 3 makes people ill or burns the house. Reversible: a
later step can still make it good. The plans that show each rule stand beside it in
`audits_*.yaml`.

| rule | family | severity | reversible | what it says |
|---|---|---|---|---|"""
ACTIONS = """\
## Actions

`?` marks a role that may be left out. The interactions of an action are counted as
[the kitchen](../kitchen.md) says.

| action | roles | what it is | interactions |
|---|---|---|---|"""


def main() -> int:
    """Write the page."""
    PAGE.write_text(page(), 'utf-8')
    return 0


def page() -> str:
    """Return the page as the files have it."""
    domain = load_domain('kitchen')
    return '\n'.join(
        [PREAMBLE, '', *_numbers(domain), '', *_rules(domain), '', *_actions(domain), '']
    )


def _numbers(domain: Domain) -> Iterator[str]:
    first, two = (sum(count_interactions(domain, most).values()) for most in (1, 2))
    families = {audit.family for audit in domain.audits.values()}
    yield f'- {len(domain.actions)} actions, {len(domain.rows)} classes of objects'
    yield f'- {len(domain.audits)} rules in {len(families)} families'
    yield f'- {two} valid interactions; {first} pairs of an action and its first object'


def _rules(domain: Domain) -> Iterator[str]:
    yield RULES
    rules = sorted(domain.audits.items(), key=lambda item: item[1].family)
    for name, rule in rules:
        reversible = 'yes' if rule.reversible else 'no'
        said = rule.message.replace('{', '').replace('}', '')
        yield f'| `{name}` | {rule.family} | {rule.severity} | {reversible} | {said} |'


def _actions(domain: Domain) -> Iterator[str]:
    yield ACTIONS
    counted = count_interactions(domain)
    for name, action in sorted(domain.actions.items()):
        roles = ', '.join(map(_role, action.roles)) or 'none'
        yield f'| `{name}` | {roles} | {action.text or name} | {counted[name]} |'


def _role(role: Role) -> str:
    of = {'value': role.dimension, 'word': ' or '.join(role.options), 'new': 'a new name'}
    what = of.get(role.kind) or ' '.join(role.words) or 'anything'
    return f'{role.name}{"?" * role.optional}: {what}'


if __name__ == '__main__':
    raise SystemExit(main())
