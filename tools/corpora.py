"""Count each file of real inputs: right, wrong, listed.

    PYTHONPATH=tests python tools/corpora.py [FOLDER] [--verbose]

The folder is that of the corpora, by default the one beside the checkout. The exit code is 1 where a row is wrong and
not listed, or a listed one is right.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from judges.files import FILES, paths_in, rows_of
from judges.judge import Verdict, verdict

_BESIDE = Path(__file__).resolve().parents[2] / "shared" / "corpora"


def verdicts(folder: Path) -> Iterator[tuple[str, Verdict | None]]:
    """Give each file's name and verdict; None where it has no judge."""
    for name, path in paths_in(folder).items():
        judge = FILES.get(name)
        yield name, None if judge is None else verdict(judge, rows_of(path))


def line(name: str, found: Verdict) -> str:
    """Return the line of a file."""
    said = f"{found.share:4.1f} % of {found.percent} %"
    over = "" if found.within else "  OVER"
    return (
        f"{name:24}{found.rows:6}{len(found.right):7}{len(found.wrong):7}{len(found.listed):8}   {said}{over}"
    )


def main() -> int:
    """Print the report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=_BESIDE)
    parser.add_argument(
        "--verbose", action="store_true", help="say what is wrong, and the reasons of what is listed"
    )
    arguments = parser.parse_args()
    if not arguments.folder.is_dir():
        parser.error(f"no folder {arguments.folder}: state where the corpora are")
    print(f"{'file':24}{'rows':>6}{'right':>7}{'wrong':>7}{'listed':>8}   share of limit")
    faults = 0
    for name, found in verdicts(arguments.folder):
        if found is None:
            print(f"{name:24} not judged")
            faults += 1
            continue
        print(line(name, found))
        faults += len(found.wrong) + len(found.stale)
        if arguments.verbose:
            for row, fault in found.wrong.items():
                print(f"    wrong {row}: {fault}")
            for row in found.listed:
                print(f"    listed {row}: {FILES[name].listed[row]}")
        for row in found.stale:
            print(f"    listed, and right: {row}")
    return bool(faults)


if __name__ == "__main__":
    raise SystemExit(main())
