"""Change the code of the relation in many small ways, and see that its tests notice each.

    python tools/mutate.py               every mutant; about 25 minutes on two cores
    python tools/mutate.py --sample 60   some of them, drawn anew with each --seed
    python tools/mutate.py --only rules.py --verbose

Exits 1 where a mutant survives that `explained_mutants.py` does not explain, or where an explained one is killed or gone.
"""

from __future__ import annotations

import argparse
import compileall
import multiprocessing
import os
import py_compile
import queue
import random
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from explained_mutants import EXPLAINED
from mutants import SOURCES, Mutant, mutants_of

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = Path("src", "targetspec")
# In two rounds: known answers, of which most mutants die at once, and the laws with what is left.
QUICK = ("test_compatibility.py", "test_relation_fields.py")
TESTS = (
    *("test_bridges.py", "test_kind_cuda.py", "test_kind_rocm.py", "test_kind_graphics.py"),
    *("test_kind_composite.py", "test_cpu_names_apart.py", "test_cpu_optional.py", "test_laws.py"),
)
_FIRST = {
    "kinds/vulkan.py": "test_kind_graphics.py",
    "kinds/metal.py": "test_kind_graphics.py",
    "kinds/opencl.py": "test_kind_graphics.py",
    "kinds/webgpu.py": "test_kind_graphics.py",
    "kinds/hexagon.py": "test_kind_graphics.py",
    "kinds/cuda_rules.py": "test_kind_cuda.py",
    "kinds/rocm_rules.py": "test_kind_rocm.py",
    "kinds/composite.py": "test_kind_composite.py",
    "kinds/cpu_bridges.py": "test_bridges.py",
    "kinds/cpu_optional.py": "test_cpu_optional.py",
}
_SECONDS = 240
_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["pytest", "hypothesis.strategies", "attrs"])


def main(arguments: Sequence[str] | None = None) -> int:
    chosen = _options(arguments)
    mutants = [
        one
        for module in SOURCES
        if any(part in module for part in chosen.only)
        for one in mutants_of(module, _source(module))
    ]
    total = len(mutants)
    if chosen.sample:
        mutants = random.Random(chosen.seed).sample(mutants, min(chosen.sample, total))  # noqa: S311 - no secret
    if chosen.list:
        print(*(one.name for one in mutants), sep="\n")
        return 0
    began = time.monotonic()
    survivors = _survivors(mutants, chosen.workers, verbose=chosen.verbose)
    print(f"{len(mutants)} of {total} mutants in {time.monotonic() - began:.0f} s: {len(survivors)} survived")
    return _judged(mutants, survivors)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sample", type=int, default=0, help="how many mutants; all where it is left out")
    parser.add_argument("--seed", type=int, default=0, help="which sample")
    parser.add_argument("--only", nargs="+", default=[""], help="modules with one of these in their path")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--list", action="store_true", help="name the mutants and run nothing")
    parser.add_argument("--verbose", action="store_true", help="name each mutant with what became of it")
    return parser.parse_args(arguments)


def _source(module: str) -> str:
    return (ROOT / PACKAGE / module).read_text("utf-8")


def _judged(mutants: Sequence[Mutant], survivors: Sequence[str]) -> int:
    names = {one.name for one in mutants}
    unexplained = [name for name in survivors if name not in EXPLAINED]
    stale = [name for name in EXPLAINED if name in names and name not in survivors]
    gone = [name for name in EXPLAINED if not any(name == one for one in _all_names())]
    for title, listed in (
        ("survived", unexplained),
        ("explained, but killed", stale),
        ("explained, but gone", gone),
    ):
        for name in listed:
            print(f"{title}: {name}")
    return 1 if unexplained or stale or gone else 0


def _all_names() -> set[str]:
    return {one.name for module in SOURCES for one in mutants_of(module, _source(module))}


def _survivors(mutants: Sequence[Mutant], workers: int, *, verbose: bool) -> list[str]:
    waiting: queue.SimpleQueue[Mutant] = queue.SimpleQueue()
    for one in mutants:
        waiting.put(one)
    found: list[str] = []
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        whole = Path(folder, "whole")
        _copy_tree(whole)
        if not _passes(whole, SOURCES[0]):
            raise SystemExit(f"without a change the tests fail already: {' '.join((*QUICK, *TESTS))}")
        threads = [
            threading.Thread(target=_work, args=(Path(folder, str(at)), waiting, found, verbose))
            for at in range(workers)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return sorted(found)


def _work(copy: Path, waiting: queue.SimpleQueue[Mutant], found: list[str], verbose: bool) -> None:
    """Take mutants as long as there are any, each in the same copy of the tree."""
    _copy_tree(copy)
    while True:
        try:
            mutant = waiting.get_nowait()
        except queue.Empty:
            return
        survived = _survives(copy, mutant)
        if survived:
            found.append(mutant.name)
        if verbose or (survived and mutant.name not in EXPLAINED):
            print(f"{'SURVIVED' if survived else 'killed'} {mutant.name}", flush=True)


def _copy_tree(copy: Path) -> None:
    ignored = shutil.ignore_patterns("__pycache__", ".hypothesis", "tuner")
    for name in ("src", "tests"):
        shutil.copytree(ROOT / name, copy / name, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", copy)
    # Compiled code is told from stale by its source, not by a time that two mutants may share.
    compileall.compile_dir(
        copy / "src", quiet=2, invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH
    )


def _survives(copy: Path, mutant: Mutant) -> bool:
    place = copy / PACKAGE / mutant.module
    original = place.read_text("utf-8")
    place.write_text(mutant.source, "utf-8")
    try:
        return _passes(copy, mutant.module)
    finally:
        place.write_text(original, "utf-8")


def _passes(copy: Path, module: str) -> bool:
    """Run the tests until the first failure; what takes too long has failed."""
    first = [_FIRST[module]] if module in _FIRST else []
    quick = [*first, *QUICK]
    return _run(copy, quick) and _run(copy, [name for name in TESTS if name not in quick])


def _run(copy: Path, tests: Sequence[str]) -> bool:
    """Run tests in a process that has pytest and hypothesis from its start, and nothing of the copy."""
    process = _CONTEXT.Process(target=_test, args=(str(copy), tuple(tests)))
    process.start()
    process.join(_SECONDS)
    if process.is_alive():
        process.kill()
        process.join()
    return process.exitcode == 0


def _test(copy: str, tests: Sequence[str]) -> None:
    os.chdir(copy)
    sys.path.insert(0, str(Path(copy, "src")))
    os.environ["HYPOTHESIS_PROFILE"] = "mutation"
    with Path(os.devnull).open("w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
    # That premises are met is a test of the tests. Modules that are there from the start cannot be rewritten, nor need be.
    options = [
        "-x",
        "-q",
        "-k",
        "not premises",
        "--no-header",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "--tb=no",
        "-Wignore:Module already imported:pytest.PytestAssertRewriteWarning",
    ]
    os._exit(int(pytest.main([*options, *(f"tests/targetspec/{name}" for name in tests)])))


if __name__ == "__main__":
    sys.exit(main())
