"""Change the code of the relation in many small ways, and see that its tests notice each.

    python tools/mutate.py               every mutant
    python tools/mutate.py --sample 60   some of them, drawn anew with each --seed
    python tools/mutate.py --only rules.py --verbose

Exits 1 where a mutant survives that `explained_mutants.py` does not explain, or where an explained one is killed or gone.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import shutil
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from multiprocessing.connection import Connection, wait
from pathlib import Path

from explained_mutants import EXPLAINED
from mutant_runs import Case, killer, measure, preload
from mutants import SOURCES, Mutant, mutants_of

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = Path("src", "targetspec")
TESTS = (
    *("test_compatibility", "test_relation_fields", "test_relation_facts", "test_bridges", "test_kind_cuda"),
    *("test_kind_rocm", "test_kind_graphics", "test_kind_composite", "test_cpu_names_apart"),
    *("test_cpu_optional", "test_kinds", "test_laws"),
)
# Beyond this many times what the tests take without a change, one has gone wrong; some are slower by their luck.
_PATIENCE = 8
_CONTEXT = multiprocessing.get_context("fork")
_RECENT = 12


def main(arguments: Sequence[str] | None = None) -> int:
    chosen = _options(arguments)
    everything = [one for module in SOURCES for one in mutants_of(module, _source(module))]
    mutants = [one for one in everything if any(part in one.module for part in chosen.only)]
    if chosen.sample:
        mutants = random.Random(chosen.seed).sample(mutants, min(chosen.sample, len(mutants)))  # noqa: S311 - no secret
    if chosen.list:
        print(*(one.name for one in mutants), sep="\n")
        return 0
    began = time.monotonic()
    survivors = _survivors(mutants, chosen.workers, verbose=chosen.verbose)
    took = time.monotonic() - began
    print(f"{len(mutants)} of {len(everything)} mutants in {took:.0f} s: {len(survivors)} survived")
    return _judged(mutants, survivors, {one.name for one in everything})


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sample", type=int, default=0, help="how many mutants; all where it is left out")
    parser.add_argument("--seed", type=int, default=0, help="which sample")
    parser.add_argument("--only", nargs="+", default=[""], help="modules with one of these in their path")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--list", action="store_true", help="name the mutants and run nothing")
    parser.add_argument("--verbose", action="store_true", help="name each mutant with what became of it")
    return parser.parse_args(arguments)


def _source(module: str) -> str:
    return (ROOT / PACKAGE / module).read_text("utf-8")


def _judged(mutants: Sequence[Mutant], survivors: Sequence[str], everything: set[str]) -> int:
    names = {one.name for one in mutants}
    unexplained = [name for name in survivors if name not in EXPLAINED]
    stale = [name for name in EXPLAINED if name in names and name not in survivors]
    gone = [name for name in EXPLAINED if name not in everything]
    for title, listed in (
        ("survived", unexplained),
        ("explained, but killed", stale),
        ("explained, but gone", gone),
    ):
        for name in listed:
            print(f"{title}: {name}")
    return 1 if unexplained or stale or gone else 0


def _survivors(mutants: Sequence[Mutant], workers: int, *, verbose: bool) -> list[str]:
    found: list[str] = []
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy = Path(folder)
        _prepare(copy)
        experience = _Experience(_measured())
        for mutant, what in _runs(mutants, workers, copy, experience):
            if what == "":
                found.append(mutant.name)
            if verbose or (what == "" and mutant.name not in EXPLAINED):
                print(f"{f'killed by {what}' if what else 'SURVIVED'}: {mutant.name}", flush=True)
    return sorted(found)


def _prepare(copy: Path) -> None:
    """Copy the tree, which may change meanwhile, and import from the copy all but what a mutant may change."""
    ignored = shutil.ignore_patterns("__pycache__", ".hypothesis", "tuner")
    for name in ("src", "tests"):
        shutil.copytree(ROOT / name, copy / name, ignore=ignored)
    os.chdir(copy)
    os.environ["HYPOTHESIS_PROFILE"] = "mutation"
    sys.path[:0] = [str(copy / "src"), str(copy / "tests"), str(copy / "tests" / "targetspec")]
    sys.dont_write_bytecode = False
    preload(("conftest", *TESTS))


def _measured() -> Mapping[Case, float]:
    """Return the seconds that each case takes without a change."""
    receiver, sender = _CONTEXT.Pipe(duplex=False)
    process = _CONTEXT.Process(target=measure, args=(sender, TESTS))
    process.start()
    sender.close()
    found = receiver.recv()
    process.join()
    if isinstance(found, str):
        raise SystemExit(found)
    return found  # type: ignore[no-any-return]


class _Experience:
    """What killed the mutants before: the same does for most that stand near them."""

    def __init__(self, seconds: Mapping[Case, float]) -> None:
        self._cheapest_first = sorted(seconds, key=lambda case: seconds[case])
        self._killers: defaultdict[str, list[Case]] = defaultdict(list)
        self.patience = 10 + int(_PATIENCE * sum(seconds.values()))

    def order(self, mutant: Mutant) -> list[Case]:
        """Return all cases: those that killed the mutant's neighbours, the nearest first, then the cheapest."""
        near = [case for place in _places(mutant) for case in reversed(self._killers[place][-_RECENT:])]
        return list(dict.fromkeys((*near, *self._cheapest_first)))

    def learn(self, mutant: Mutant, case: Case) -> None:
        """Keep what killed a mutant, once for each place that it stands in."""
        for place in _places(mutant):
            known = self._killers[place]
            self._killers[place] = [*(one for one in known if one != case), case]


def _places(mutant: Mutant) -> Iterable[str]:
    return mutant.name.rsplit(": ", 1)[0], mutant.module


def _runs(
    mutants: Sequence[Mutant], workers: int, copy: Path, experience: _Experience
) -> Iterator[tuple[Mutant, str]]:
    """Yield each mutant with what killed it, as they end; so many at a time."""
    waiting, running = [*reversed(mutants)], dict[Connection, Mutant]()
    while waiting or running:
        while waiting and len(running) < workers:
            mutant = waiting.pop()
            running[_start(mutant, copy, experience)] = mutant
        ready = wait([*running])
        for receiver in [one for one in running if one in ready]:
            mutant, what = running.pop(receiver), _received(receiver)
            if isinstance(what, Case):
                experience.learn(mutant, what)
            yield mutant, str(what)


def _start(mutant: Mutant, copy: Path, experience: _Experience) -> Connection:
    receiver, sender = _CONTEXT.Pipe(duplex=False)
    name = ".".join(("targetspec", *Path(mutant.module).with_suffix("").parts))
    place = copy / PACKAGE / mutant.module
    arguments = (sender, name, place, mutant.source, experience.order(mutant), experience.patience)
    _CONTEXT.Process(target=killer, args=arguments).start()
    sender.close()
    return receiver


def _received(receiver: Connection) -> Case | str:
    try:
        return receiver.recv()  # type: ignore[no-any-return]
    except EOFError:
        return "its end"


if __name__ == "__main__":
    sys.exit(main())
