"""What the record store costs: writing, looking up, seeds and opening, beside plain SQLite and a log of JSON Lines.

    python benchmarks/store.py            # a file of 100,000 records of 50 targets
    python benchmarks/store.py 10000      # a smaller one

Limits: a record written and committed 100 us, with the search's part 150 us a trial; a lookup 200 us, seeds 20 ms,
opening 10 ms. Medians, in turns; the machine should be idle. Then four processes write 5,000 records each at once.
"""

from __future__ import annotations

import itertools
import json
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import targetspec
from targetspec import CpuTarget
from tuner import Database, Outcome, Record, Search, Space

FINGERPRINT = "0123456789abcdef" * 4
TOOLCHAIN = "llvmlite 0.50.0, LLVM 22.1.0"
CPUS = (
    "znver1",
    "znver2",
    "znver3",
    "znver4",
    "haswell",
    "skylake",
    "skylake-avx512",
    "icelake-server",
    "alderlake",
)
ARMS = ("cortex-a53", "cortex-a72", "neoverse-n1", "neoverse-v1", "apple-m1")
SPACE = Space({"mc": [8 * n for n in range(1, 65)], "nc": [64, 128, 256, 512], "pack": [True, False]})

_ROUNDS = 1000

WRITER = """
import sys
sys.path.insert(0, sys.argv[3])
from store import a_record, targets
from tuner import Database
with Database(sys.argv[1]) as database:
    target = targets()[0]
    for number in range(5000):
        database.add(a_record(target, number, run=sys.argv[2]))
"""


def targets() -> list[CpuTarget]:
    """Fifty targets: fourteen CPUs with different numbers of cores."""
    x86 = [CpuTarget(triple="x86_64-unknown-linux-gnu", cpu=cpu) for cpu in CPUS]
    arm = [CpuTarget(triple="aarch64-unknown-linux-gnu", cpu=cpu) for cpu in ARMS]
    pairs = itertools.product((2, 4, 8, 16), x86 + arm)
    return [target.evolve(num_cores=cores) for cores, target in pairs][:50]


CONFIGS = [SPACE[number] for number in range(len(SPACE))]


def a_record(target: CpuTarget, number: int, run: str = "bench", problem: int = 512) -> Record:
    """A record as a tuning makes one."""
    return Record(
        kernel="sgemm", fingerprint=FINGERPRINT, target=target, problem={"m": problem, "n": problem, "k": problem},
        config=CONFIGS[number % len(CONFIGS)], cost=1e-3 + number * 1e-9, outcome=Outcome("ok"), toolchain=TOOLCHAIN,
        times=tuple(1e-3 + n * 1e-6 for n in range(10)), clock="thread-cpu", quality={"load": 0.5, "cpus": 2}, run=run,
        number=number, created="2026-01-31T12:00:00.500000Z",
    )  # fmt: skip


def fill(database: Database, count: int) -> None:
    """Write records of 50 targets and 4 problems."""
    known = targets()
    records = (a_record(known[n % 50], n, problem=256 << n // 50 % 4) for n in range(count))
    while chunk := list(itertools.islice(records, 2000)):
        database.add_all(chunk)


def medians(calls: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Return the median time of one call of each, in microseconds, taken in turns."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(found) * 1e6 for name, found in times.items()}


def show(found: Mapping[str, float], limits: Mapping[str, float]) -> None:
    """Print the medians beside their limits."""
    for name, taken in found.items():
        limit = limits.get(name)
        said = "" if limit is None else f"   {'within' if taken <= limit else 'NOT within'} {limit:.0f}"
        print(f"  {name:48s} {taken:12.1f} us{said}")


def written(folder: Path) -> None:
    """A record made, written and committed, at both levels; beside an INSERT of its text, and a line of a log."""
    numbers = itertools.count()
    target = targets()[0]
    plain = sqlite3.connect(folder / "plain.sqlite", isolation_level=None)
    for statement in (
        "PRAGMA journal_mode = WAL",
        "PRAGMA synchronous = NORMAL",
        "CREATE TABLE lines (text)",
    ):
        plain.execute(statement)
    log = (folder / "log.jsonl").open("a", encoding="ascii")
    search = Search(SPACE)
    with Database(folder / "n.sqlite") as normal, Database(folder / "f.sqlite", synchronous="FULL") as full:

        def trial() -> None:
            nonlocal search
            suggested = search.suggest(1)
            if not suggested:
                search = Search(SPACE)
                suggested = search.suggest(1)
            search.report(suggested[0], 1e-3)
            normal.add(a_record(target, next(numbers)))

        def line() -> None:
            log.write(json.dumps(a_record(target, next(numbers)).to_dict()) + "\n")
            log.flush()

        calls: dict[str, Callable[[], object]] = {
            "making a record": lambda: a_record(target, next(numbers)),
            "making it, written and committed": lambda: normal.add(a_record(target, next(numbers))),
            "suggested, reported, made, written, committed": trial,
            "plain SQLite: INSERT of 1 kB, committed": lambda: plain.execute(
                "INSERT INTO lines VALUES (?)", ("x" * 1000,)
            ),
            "a line of a log, flushed": line,
        }
        found = medians(calls, _ROUNDS)
        # By itself: a write to the disk between them would slow the others down.
        found |= medians(
            {"making it, written and committed, FULL": lambda: full.add(a_record(target, next(numbers)))}, 100
        )
    found["written and committed, the record at hand"] = at_hand(folder, target)
    show(
        found,
        {
            "written and committed, the record at hand": 100,
            "suggested, reported, made, written, committed": 150,
        },
    )
    log.close()
    plain.close()


def at_hand(folder: Path, target: CpuTarget) -> float:
    """The median of adding alone."""
    ready = [a_record(target, number, run="ready") for number in range(1000)]
    with Database(folder / "r.sqlite") as database:
        left = iter(ready)
        return medians({"add": lambda: database.add(next(left))}, len(ready))["add"]


def read(path: Path, count: int) -> None:
    """Lookups, seeds and opening in a full file."""
    with Database(path) as database:
        start = time.perf_counter()
        fill(database, count)
        print(
            f"\n{count} records of {len(targets())} targets, written in {time.perf_counter() - start:.1f} s"
        )
    problem = {"m": 512, "n": 512, "k": 512}
    known = targets()
    here = known[7].evolve(num_cores=6)
    chosen = itertools.cycle(known)

    def opening() -> None:
        Database(path).close()

    with Database(path) as database:
        look = {"toolchain": TOOLCHAIN, "fingerprint": FINGERPRINT}
        assert database.lookup("sgemm", problem, known[0], **look) is not None  # noqa: S101 - what is timed must be true
        assert database.seeds("sgemm", problem, here)  # noqa: S101 - as above
        found = medians(
            {
                "lookup, found": lambda: database.lookup("sgemm", problem, next(chosen), **look),
                "lookup, nothing": lambda: database.lookup("sgemm", problem, here, **look),
                "seeds, up to 64": lambda: database.seeds("sgemm", problem, here),
                "explain": lambda: database.explain("sgemm", problem, here, **look),
                "opening and closing": opening,
            },
            200,
        )
    limits = {
        "lookup, found": 200,
        "lookup, nothing": 200,
        "seeds, up to 64": 20_000,
        "opening and closing": 10_000,
    }
    show(found, limits)


def at_once(path: Path) -> None:
    """Four processes write 5,000 records each at once, while this one reads."""
    Database(path).close()
    here = str(Path(__file__).parent)
    command = [sys.executable, "-c", WRITER, str(path)]
    start = time.perf_counter()
    writers = [subprocess.Popen([*command, run, here]) for run in "abcd"]
    reads = 0
    with Database(path) as database:
        while any(writer.poll() is None for writer in writers):
            reads += sum(1 for _ in database.records(run="a"))
            time.sleep(0.1)
        total = len({record.identity for record in database.records()})
    failed = sum(writer.returncode != 0 for writer in writers)
    taken = time.perf_counter() - start
    print(
        f"\n4 x 5000 records at once: {total} there, {failed} writers failed, {taken:.1f} s, {reads} read meanwhile"
    )


def main() -> None:
    """Run all of it."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors, {targetspec.__version__}\n")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        written(folder)
        read(folder / "full.sqlite", count)
        at_once(folder / "once.sqlite")


if __name__ == "__main__":
    main()
