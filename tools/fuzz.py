"""Read a million strings, random or made from real ones, in every dialect: each ends in a target or a TargetSyntaxError.

    PYTHONPATH=tests python tools/fuzz.py [--count 1000000] [--seed 0] [--jobs 2] [--folder FOLDER]

Real strings are those of the corpora beside the checkout, where they are there, and some typed-in ones. The limit is 50 ms
of the processor's time a string of at most 10 kB, the first use of a module left out. The exit code is 1 where one is
found that takes longer, or ends in another way; it is printed with the seed and what happened.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import itertools
import time
from pathlib import Path

from fuzzing import SECONDS, Fault, dialects, fault_of, faults
from mutations import SEEDS, corpus_lines, strings

_BESIDE = Path(__file__).resolve().parents[2] / "shared" / "corpora"
_MOST_SHOWN = 20


def run(seed: int, count: int, folder: Path | None, seconds: float | None) -> list[Fault]:
    """Return the first faults of so many strings."""
    for text, dialect in itertools.product(SEEDS, dialects()):  # so that every module and table is loaded
        fault_of(text, dialect, None)
    found = faults(strings(corpus_lines(folder), seed), count, seconds)
    return list(itertools.islice(found, _MOST_SHOWN))


def main() -> int:
    """Share the strings among processes and print what they found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--folder", type=Path, default=_BESIDE if _BESIDE.is_dir() else None)
    arguments = parser.parse_args()
    start = time.monotonic()
    found: list[Fault] = []
    with concurrent.futures.ProcessPoolExecutor(arguments.jobs) as pool:
        jobs = [
            pool.submit(
                run, arguments.seed + job, arguments.count // arguments.jobs, arguments.folder, SECONDS
            )
            for job in range(arguments.jobs)
        ]
        for job in jobs:
            found += job.result()
    for fault in found:
        print(f"{fault.dialect}: {fault.said}\n    {fault.text[:300]!r} ({len(fault.text)} characters)")
    print(
        f"{arguments.count} strings, seed {arguments.seed}, {time.monotonic() - start:.0f} s: {len(found)} faults"
    )
    return bool(found)


if __name__ == "__main__":
    raise SystemExit(main())
