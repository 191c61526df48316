"""What verifying a run costs, against plainly reading its recordings in the same run.

    .venv/bin/python bench/verify.py runs/paper

Plain reading is what the MCAP project's reader takes to go through every record once, with its
checks; nothing is decoded. Let nothing else run beside it.
"""

import argparse
import io
import os
import statistics
import time
from pathlib import Path

from mcap.records import Message
from mcap.stream_reader import StreamReader
from rich.console import Console

from alpha_chaos.analysis import preload  # noqa: F401
from alpha_chaos.analysis.claims import read_claims
from alpha_chaos.analysis.examine import examine
from alpha_chaos.analysis.verify import verify


def read_plainly(folder: Path) -> int:
    """Return how many messages are in a recording."""
    (path,) = folder.glob('*.mcap')
    reader = StreamReader(io.BytesIO(path.read_bytes()), validate_crcs=True)
    return sum(isinstance(record, Message) for record in reader.records)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('run', type=Path, help='folder of a finished run')
    parser.add_argument('--bags', type=int, default=40, help='recordings for the ratio')
    options = parser.parse_args()
    claims = read_claims(options.run).claims
    plain, whole = [], []
    for claim in claims[:: max(1, len(claims) // options.bags)]:
        # In turns, so that what disturbs one disturbs the other.
        began = time.process_time()
        read_plainly(options.run / claim.bag)
        between = time.process_time()
        examined = examine(options.run, claim)
        plain.append(between - began)
        whole.append(time.process_time() - between)
        if examined.differences:
            raise SystemExit(f'not a run to measure with: {examined.differences[0]}')
    one, other = statistics.median(plain), statistics.median(whole)
    print(f'plain reading  {1e3 * one:6.1f} ms CPU a recording (median of {len(plain)})')
    print(f'examined       {1e3 * other:6.1f} ms CPU a recording = {other / one:.2f} x')
    began = time.monotonic()
    code = verify(options.run, Console(quiet=True))
    wall_s = time.monotonic() - began
    print(
        f'the command    {wall_s:6.1f} s for {len(claims)} recordings on {os.cpu_count()} cores = '
        f'{len(claims) / wall_s:.0f} a second; exit code {code}'
    )


if __name__ == '__main__':
    main()
