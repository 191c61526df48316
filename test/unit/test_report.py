"""The report as a page: what stands in it for any run, and that it stands on its own."""

import io
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from rich.console import Console
from synthetic_runs import aborted, paper_run, twin_run

from alpha_chaos.journal import Journal, Row
from alpha_chaos.report import command
from alpha_chaos.report.command import build, report
from alpha_chaos.report.export_tables import tables
from alpha_chaos.report.exports import counting
from alpha_chaos.report.figures import Picture
from alpha_chaos.report.film import Film
from alpha_chaos.report.page import Material, cell_anchor, episode_anchor, page, verdict
from alpha_chaos.report.recordings import Filmed, Looked, choose
from alpha_chaos.resources import config_folder
from alpha_chaos.run.command import _report as report_after_run
from alpha_chaos.safety.sweep import WINDOWS
from alpha_chaos.stats.paper import FILE, read_paper
from alpha_chaos.stats.sensitivity import Looked as LookedAt
from alpha_chaos.stats.sensitivity import Sensitivity
from alpha_chaos.stats.summary import Planned, Summary, summarise

HOSTILE = '"><script>alert(1)</script>&\x1b[31m\ud800'
FIGURE = Picture('success', 'Success', 'A figure.', 'One of two.', '<svg id="success-1"/>', b'png')
LINKS = ('href', 'src', 'srcset', 'action', 'data', 'poster', 'xlink:href')


class Parsed(HTMLParser):
    """What a browser would find in a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.rows: list[list[str]] = []
        self.text: list[str] = []
        self.headings: list[str] = []
        self._open = ''
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == 'tr':
            self.rows.append([])
        if tag in ('td', 'th'):
            self.rows[-1].append('')
        if tag != 'wbr' and tag != 'a':
            self._open = tag

    def handle_data(self, data: str) -> None:
        if self._open == 'style':
            return
        self.text.append(data)
        if self._open in ('td', 'th') and data.strip():
            self.rows[-1][-1] += data
        if self._open in ('h2', 'h3') and data.strip():
            self.headings.append(data)

    def all(self, name: str) -> list[str]:
        """Return the values of an attribute, of any element."""
        return [found[name] or '' for _, found in self.tags if name in found]

    def says(self, text: str) -> bool:
        return text in ''.join(self.text)


def papers(rows: Sequence[Row], planned: Sequence[Planned] | None = None) -> Summary:
    paper = read_paper(config_folder() / FILE)
    return summarise(rows, planned, paper, experiment='paper')


def plan(rows: Sequence[Row]) -> list[Planned]:
    return [Planned(row.run_id, row.arm, row.condition) for row in rows]


def seen(raw: int = 62) -> Sensitivity:
    """Return what can be seen in a recording with `raw` violating looks."""
    looks = tuple(
        LookedAt(window, {('out_of_workspace', 'red'): raw}, {('out_of_workspace', 'red'): 1}, {})
        for window in WINDOWS
    )
    return Sensitivity(looks, looks)


def text_of(
    summary: Summary,
    rows: Sequence[Row],
    looked: Looked | None = None,
    pictures: Sequence[Picture] = (),
    films: Filmed | None = None,
) -> str:
    names = [table.name for table in tables(summary) if table.lines]
    return page(
        Material(
            summary,
            counting(summary, rows),
            looked or Looked({}, {}),
            pictures,
            films or Filmed({}, {}),
            names,
        )
    )


RUNS = {
    'paper': paper_run(),
    'twins': twin_run(('oracle', 'llm', 'llm_retry'), 3),
    'single_arm': paper_run(['oracle']),
    'all_aborted': [aborted(row, 'node_died: sim (signal 9)') for row in paper_run()[:6]],
    'hostile': [
        row.model_copy(
            update={
                'run_id': row.run_id + HOSTILE.replace('\ud800', ''),
                'condition': row.condition + ' a"b<c',
                'reason': HOSTILE,
                'bag': 'javascript:alert(1)',
            }
        )
        for row in paper_run(['oracle', 'llm'])[::9]
    ],
    'nothing': [],
}


@pytest.fixture(params=RUNS, scope='module')
def any_page(request: pytest.FixtureRequest) -> Parsed:
    """Return the page of each kind of run, with a figure and, where there is a row, a film."""
    rows = RUNS[request.param]
    summary = summarise(rows, experiment=request.param)
    looked = Looked({row.key: seen() for row in rows[:3]}, {row.key: HOSTILE for row in rows[3:4]})
    films = Filmed({row.condition: (row, Film(b'png', b'gif', HOSTILE)) for row in rows[:1]}, {})
    return Parsed(text_of(summary, rows, looked, [FIGURE], films))


def test_nothing_of_a_page_lies_elsewhere(any_page: Parsed) -> None:
    assert {tag for tag, _ in any_page.tags}.isdisjoint({'script', 'iframe', 'object', 'embed'})
    places = [value for name in LINKS for value in any_page.all(name)]
    inner = [place for place in places if place.startswith(('#', 'data:'))]
    files = [place for place in places if place not in inner]
    assert inner
    assert all(place.startswith(('../', 'tables/', 'figures/', 'films/')) for place in files)
    assert [name for name in any_page.all('src') if not name.startswith('data:image/')] == []
    assert [name for tag, found in any_page.tags for name in found if name.startswith('on')] == []


def test_ids_are_unique_and_every_link_within_the_page_arrives(any_page: Parsed) -> None:
    ids = any_page.all('id')
    assert len(set(ids)) == len(ids)
    aims = {place[1:] for place in any_page.all('href') if place.startswith('#')}
    assert aims <= set(ids)
    assert not any(' ' in name for name in ids)


def test_every_picture_has_words_instead(any_page: Parsed) -> None:
    images = [found for tag, found in any_page.tags if tag == 'img']
    assert images
    assert all(len(found['alt'] or '') > 5 for found in images)


def test_a_table_scrolls_in_a_box_of_its_own_and_can_be_reached_by_keys(any_page: Parsed) -> None:
    boxes = [found for _, found in any_page.tags if found.get('class') == 'wide']
    assert len(boxes) == sum(tag == 'table' for tag, _ in any_page.tags)
    assert all(found['tabindex'] == '0' and found['aria-label'] for found in boxes)


def test_hostile_text_is_shown_and_never_run() -> None:
    rows = RUNS['hostile']
    text = text_of(summarise(rows), rows)
    assert '<script' not in text
    assert '\x1b' not in text
    assert text.encode()  # lone surrogates have no UTF-8 form
    assert Parsed(text).says('"><script>alert(1)</script>&\\x1b[31m\\ud800')


def test_sections_stand_in_the_order_in_which_they_are_read() -> None:
    rows = RUNS['paper']
    found = Parsed(text_of(papers(rows), rows))
    order = [
        'verdict',
        'notes',
        'success',
        'comparisons',
        'twins',
        'faults',
        'fault-sensor_lag',
        'fault-grasp_slip',
        'fault-unreachable_target',
        'fault-plan_corruption',
        'safety',
        'recoveries',
        'costs',
        'attempts',
        'films',
        'episodes',
    ]
    assert [name for name in found.all('id') if ':' not in name] == order


def test_every_number_of_a_condition_leads_to_its_episodes() -> None:
    rows = RUNS['paper']
    found = Parsed(text_of(papers(rows), rows))
    aim = f'#{cell_anchor("grip_slip_low", "llm")}'
    # condition, arm, k/n, percent, interval, distinct, exercised and error; and other tables
    assert found.all('href').count(aim) >= 8
    ids = found.all('id')
    of_cell = [episode_anchor(f'grip_slip_low_00{index}', 'llm') for index in range(5)]
    assert set(of_cell) <= set(ids)
    assert ids.index(aim[1:]) < ids.index(of_cell[0])


def test_an_episode_shows_its_numbers_and_leads_to_its_recording() -> None:
    rows = RUNS['paper']
    found = Parsed(text_of(papers(rows), rows))
    (line,) = [
        row
        for row in found.rows
        if row[0] == 'grip_slip_low_002' and 'failure' in row and '770 + 249' in row
    ]
    assert {'failure', 'outside_zone: 0.37 m', '0.3700', '1260', '7 actions', '1 / 1'} <= set(line)
    assert 'slipped (P 0.381, drawn 0.100); grasp_slip' in line
    assert '../bags/grip_slip_low_002-llm/' in found.all('href')


def test_a_damaged_recording_is_named_and_not_linked() -> None:
    rows = RUNS['paper'][:2]
    looked = Looked({}, {rows[0].key: 'not what was written'})
    found = Parsed(text_of(summarise(rows), rows, looked))
    assert found.says('1 recording could not be used')
    assert found.says('not usable: not what was written')
    assert f'../{rows[0].bag}/' not in found.all('href')


def test_the_papers_numbers_stand_only_beside_the_papers_experiment() -> None:
    rows = RUNS['paper']
    assert 'paper.md' in Parsed(text_of(papers(rows), rows)).all('href')
    other = Parsed(text_of(summarise(rows, experiment='mine'), rows))
    assert 'paper.md' not in other.all('href')
    assert not any('paper' in cell for row in other.rows for cell in row)


def test_windows_and_the_papers_looks_are_tables_of_what_recordings_show() -> None:
    rows = RUNS['paper'][:2]
    looked = Looked({rows[0].key: seen(62), rows[1].key: seen(124)}, {})
    found = Parsed(text_of(summarise(rows), rows, looked))
    (line,) = [
        row for row in found.rows if row[:3] == ['oracle', 'control', '2'] and len(row) == 9
    ]
    assert line[3:] == ['93 (62-124)', '1', '0', '93 (62-124)', '1', '0']


def test_the_table_of_a_figure_lies_under_it_and_nowhere_else() -> None:
    rows = RUNS['paper']
    text = text_of(papers(rows), rows, pictures=[FIGURE])
    assert text.count('<b>Success by condition.</b>') == 1
    figure = text.partition('<figure>')[2].partition('</figure>')[0]
    assert 'figures/success.svg' in figure
    assert figure.index('<details open>') < figure.index('<b>Success by condition.</b>')


@pytest.mark.parametrize(
    ('rows', 'planned', 'said'),
    [
        ([], None, 'No episode has a result: nothing can be concluded.'),
        (RUNS['all_aborted'], None, 'No episode has a result: nothing can be concluded.'),
        (
            RUNS['single_arm'],
            None,
            'oracle succeeded in 48/75 (64.0 %); there is no second arm to compare it with.',
        ),
        (
            RUNS['paper'][:3],
            plan(RUNS['paper']),
            'So far, with 3 of 225 episodes: oracle succeeded in 3/3 (100.0 %).',
        ),
    ],
    ids=['nothing', 'all aborted', 'one arm', 'half finished'],
)
def test_the_verdict_says_what_there_is(
    rows: list[Row], planned: list[Planned] | None, said: str
) -> None:
    summary = summarise(rows, planned)
    assert verdict(summary) == said
    assert Parsed(text_of(summary, rows)).says(said)


def test_the_verdict_of_the_paper_is_that_of_distinct_pairs() -> None:
    # llm 33 of 75 and oracle 48 of 75: of the distinct pairs only the corrupted plans differ.
    said = verdict(papers(RUNS['paper']))
    assert said.startswith('oracle succeeded in 48/75 (64.0 %), oracle_json succeeded in 33/75')
    assert 'no difference between llm and oracle is shown' in said


def test_what_is_missing_is_labelled() -> None:
    rows = RUNS['paper'][:3]
    found = Parsed(text_of(summarise(rows, plan(RUNS['paper'])), rows))
    assert found.says('3 of 225 episodes with a result')
    assert found.says('no result, 5 not attempted yet')
    assert found.says('There is nothing to compare') or found.says('no attempt')
    assert found.says('There is no recording to show.')


def test_an_aborted_episode_is_neither_success_nor_failure() -> None:
    rows = RUNS['all_aborted']
    found = Parsed(text_of(summarise(rows), rows))
    line = next(row for row in found.rows if row[0] == 'control_000')
    assert 'aborted' in line
    assert 'node_died: sim (signal 9)' in line
    assert not {'success', 'failure'} & set(line)
    assert found.says('no result, 6 aborted')


def test_the_film_is_of_the_usual_outcome_of_the_arm_with_a_model() -> None:
    rows = RUNS['paper']
    readable = [row.key for row in rows]
    chosen = choose(['control', 'grip_slip_medium', 'absent'], rows, readable)
    assert {name: (row.run_id, row.arm) for name, row in chosen.items()} == {
        'control': ('control_000', 'llm'),
        'grip_slip_medium': ('grip_slip_medium_000', 'llm'),  # slipped, as 3 of 5 did
    }
    oracles = [key for key in readable if key[1] == 'oracle']
    assert choose(['control'], rows, oracles)['control'].arm == 'oracle'
    assert choose(['control'], rows, []) == {}


# -- the command


def write(folder: Path, rows: Sequence[Row]) -> Path:
    with Journal(folder) as journal:
        for row in rows:
            journal.append(row)
    return folder


def content(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob('*'))
        if path.is_file() and path.name not in ('journal.lock',)
    }


def test_the_same_run_gives_the_same_bytes(tmp_path: Path) -> None:
    folder = write(tmp_path, RUNS['paper'])
    quiet = Console(file=io.StringIO())
    path = build(folder, quiet)
    assert path == folder / 'report' / 'index.html'
    before = content(folder)
    assert {'report/tables/success_by_arm.csv', 'report/tables/safety.tex'} <= before.keys()
    assert {'report/figures/success.svg', 'report/figures/success.png'} <= before.keys()
    assert 'episodes.parquet' in before
    build(folder, quiet)
    assert content(folder) == before
    links = [place for place in Parsed(path.read_text()).all('href') if place[0] not in '#d']
    files = [unquote(place) for place in links if 'bags/' not in place and '../m' not in place]
    assert [name for name in files if not (path.parent / name).is_file()] == []


def test_pictures_of_an_earlier_state_go_away(tmp_path: Path) -> None:
    folder = write(tmp_path, RUNS['twins'][:2])
    old = folder / 'report' / 'films' / 'gone.gif'
    old.parent.mkdir(parents=True)
    old.write_bytes(b'')
    build(folder, Console(file=io.StringIO()))
    assert not old.exists()
    assert not list(folder.rglob('.*'))


@pytest.mark.parametrize('opens', [True, False])
def test_the_command_says_where_the_page_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opens: bool
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(command, 'build', lambda folder, console: folder / 'a b.html')
    monkeypatch.setattr(command.webbrowser, 'open', lambda address: asked.append(address) or opens)
    out = io.StringIO()
    report(tmp_path, Console(file=out), show=True)
    assert out.getvalue().startswith(f'report: {tmp_path / "a b.html"}\n')
    assert ('no browser' in out.getvalue()) != opens
    assert asked == [(tmp_path / 'a b.html').as_uri()]


@pytest.mark.parametrize(
    'error', [OSError(28, 'No space left'), ValueError('x'), KeyboardInterrupt()]
)
def test_a_report_that_fails_leaves_a_finished_run_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    folder = write(tmp_path, RUNS['twins'])
    before = content(folder)

    def fail(folder: Path, console: Console, **_: object) -> Path:
        raise error

    monkeypatch.setattr(command, 'build', fail)
    out = io.StringIO()
    report_after_run(folder, Console(file=out, soft_wrap=True, width=400))
    assert out.getvalue().startswith('no report: ')
    assert f'alpha-chaos report {folder}' in out.getvalue()
    assert content(folder) == before
