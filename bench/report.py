"""What a report costs beside plainly reading the same recordings, in the same run of this file.

Give it the folder of a finished run; its report is built anew:

    .venv/bin/python bench/report.py runs/paper
"""

import argparse
import os
import resource
import time
from pathlib import Path

from rich.console import Console
from verify import read_plainly

from alpha_chaos import journal
from alpha_chaos.report.command import build


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('run', type=Path, help='folder of a finished run')
    options = parser.parse_args()
    bags = [
        options.run / row.bag for row in journal.final(journal.read(options.run).rows).values()
    ]
    bags = [bag for bag in bags if bag.is_dir()]
    wall = time.monotonic()
    messages = sum(map(read_plainly, bags))
    plain_s = time.monotonic() - wall
    wall = time.monotonic()
    page = build(options.run, Console(quiet=True))
    wall_s = time.monotonic() - wall
    # In MiB, of the largest process; the report has one a core besides the first.
    peak = max(
        resource.getrusage(who).ru_maxrss / 1024
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    print(f'plain reading  {plain_s:6.1f} s for {len(bags)} recordings, {messages} messages')
    print(
        f'the report     {wall_s:6.1f} s on {os.cpu_count()} cores = '
        f'{wall_s / plain_s:.2f} x; largest process {peak:.0f} MiB'
    )
    print(f'the page       {page.stat().st_size / 2**20:6.1f} MiB')


if __name__ == '__main__':
    main()
