"""Public bug reports about kept records: which one answers, for which target, and that it is whole."""

from __future__ import annotations

import concurrent.futures
import contextlib
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import attrs

from record_examples import A72, EXAMPLE, ZEN3, numbered
from small_kernels import DOUBLE
from targetspec import CudaTarget, Target, parse
from tuner import build
from tuner.database import Database
from tuner.interchange.files import export_records, import_records
from tuner.record import Record
from tuner.values import Values

_PROBLEM = EXAMPLE.problem
_AMPERE, _HOPPER = (CudaTarget(arch=name, host=ZEN3) for name in ("sm_80", "sm_90"))
_WRITERS = 4


@contextlib.contextmanager
def _kept(*records: Record) -> Iterator[Database]:
    with tempfile.TemporaryDirectory() as folder, Database(Path(folder) / "records.sqlite") as database:
        database.add_all(records)
        yield database


def _of(target: Target, **more: object) -> Record:
    return attrs.evolve(EXAMPLE, target=target, **more)


def _answer(database: Database, target: Target, problem: Values = _PROBLEM) -> Record | None:
    return database.lookup(
        EXAMPLE.kernel, problem, target, toolchain=EXAMPLE.toolchain, fingerprint=EXAMPLE.fingerprint
    )


def _only_compatible() -> bool:
    with _kept(_of(ZEN3), _of(A72)) as database:
        found = database.seeds(EXAMPLE.kernel, _PROBLEM, ZEN3, toolchain=EXAMPLE.toolchain)
    return [record.target for record in found] == [ZEN3]


def _keyed_by_target() -> bool:
    records = _of(_AMPERE), _of(ZEN3)
    with _kept(*records) as database:
        return tuple(_answer(database, record.target) for record in records) == records


def _comes_back() -> bool:
    with _kept(EXAMPLE) as one, _kept() as other:
        file = Path(one.path).parent / "records.jsonl"
        export_records(one.records(), file)
        import_records(other, file)
        return [*one.records()] == [EXAMPLE] == [*other.records()]


def _of_another_capability() -> bool:
    unstated = _of(CudaTarget(host=ZEN3))
    with _kept(_of(_AMPERE), unstated) as database:
        kept = {record.target for record in database.records()}
        return _answer(database, _HOPPER) is None and kept == {_AMPERE, unstated.target}


def _extras_are_in_the_key() -> bool:
    problems = [{**_PROBLEM, "transposed": flag} for flag in (True, False)]
    records = [_of(ZEN3, problem=problem) for problem in problems]
    with _kept(*records) as database:
        return [_answer(database, ZEN3, problem) for problem in problems] == records


def _unknown_is_no_match() -> bool:
    unknown = CudaTarget(host=ZEN3)
    with _kept(_of(unknown)) as database:
        return unknown.compatible(_AMPERE).answer == _AMPERE.compatible(unknown).answer == "unknown" and (
            _answer(database, _AMPERE) is None
        )


def _options_are_in_the_key() -> bool:
    kernels = (attrs.evolve(DOUBLE, passes=passes) for passes in ("O2", "O3"))
    return len({build.fingerprint(kernel, ZEN3, {"n": 64}) for kernel in kernels}) > 1


def _many_at_once() -> bool:
    def write(run: int) -> list[Record | None]:
        with Database(path) as database:
            database.add_all(numbered(number, run=str(run)) for number in range(20))
            return [_answer(database, ZEN3)]

    with _kept(EXAMPLE) as opened, concurrent.futures.ThreadPoolExecutor(_WRITERS) as writers:
        path = opened.path
        answers = [answer for found in writers.map(write, range(_WRITERS)) for answer in found]
        return None not in answers and len([*opened.records()]) == 1 + 20 * _WRITERS


def _shared_by_a_fleet() -> bool:
    skylake, haswell = (parse(f"x86_64-unknown-linux-gnu -mcpu={name}") for name in ("skylake", "haswell"))
    shared = skylake.generalise(cpu="x86-64-v3")
    with _kept(_of(shared)) as database:
        return skylake.tuning_key != haswell.tuning_key and (
            _answer(database, haswell.generalise(cpu="x86-64-v3")) == _of(shared)
        )


def _explained(text: str, *near: str) -> bool:
    """Say whether a store without an answer for a target of TVM's names the nearest record, and what is other there."""
    asked, *others = (parse(one, "tvm") for one in (text, *near))
    with _kept(*map(_of, others)) as database:
        told = database.explain(
            EXAMPLE.kernel, _PROBLEM, asked, toolchain=EXAMPLE.toolchain, fingerprint=EXAMPLE.fingerprint
        )
        found = "cpu" in told.fields and told.nearest is not None if others else bool(told.note)
        return found and _answer(database, asked) is None


CHECKS: Mapping[str, Callable[[], bool]] = {
    "microsoft/T-MAC#25": lambda: _explained(
        "llvm -keys=arm_cpu,cpu -mcpu=apple-m2 -mtriple=arm64-apple-darwin23.1.0",
        "llvm -mcpu=apple-m1 -mtriple=arm64-apple-darwin23.1.0",
    ),
    "espressif/esp-dl#139": lambda: _explained("c -keys=cpu -model=esp32"),
    "apache/tvm#15549": _only_compatible,
    "apache/tvm#10169": _keyed_by_target,
    "apache/tvm#16288": _comes_back,
    "NVIDIA/TensorRT-LLM#17664": _of_another_capability,
    "flashinfer-ai/flashinfer#3367": _extras_are_in_the_key,
    "flashinfer-ai/flashinfer#3970": _unknown_is_no_match,
    "numba/numba#10821": _options_are_in_the_key,
    "numba/numba#9348": _many_at_once,
    "numba/numba#2515": _shared_by_a_fleet,
}
