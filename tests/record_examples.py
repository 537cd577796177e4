"""Records for tests: one example, and hypothesis strategies for any."""

from __future__ import annotations

import hashlib
from datetime import UTC
from typing import Any

import attrs
from hypothesis import strategies as st

from targetspec import CpuTarget
from tuner.database import Database
from tuner.record import CLOCKS, KINDS, STAGES, Outcome, Record

FINGERPRINT = hashlib.sha256(b"sgemm").hexdigest()
TOOLCHAIN = "llvmlite 0.50.0, LLVM 22.1.0"


ZEN3 = CpuTarget(triple="x86_64-unknown-linux-gnu", cpu="znver3")
ZEN3_OTHER_LIBC = ZEN3.evolve(libc_version="2.31")
A72 = CpuTarget(triple="aarch64-unknown-linux-gnu", cpu="cortex-a72", host=ZEN3)

EXAMPLE = Record(
    kernel="sgemm",
    fingerprint=FINGERPRINT,
    target=ZEN3,
    problem={"m": 512, "n": 512, "k": 512},
    config={"mc": 64, "pack_a": True, "passes": "O3", "share": 0.5},
    cost=2.5e-3,
    outcome=Outcome("ok"),
    toolchain=TOOLCHAIN,
    times=(2.5e-3, 2.625e-3),
    clock="thread-cpu",
    quality={"load": 0.25, "noisy": False},
    run="20260131-1",
    number=0,
    created="2026-01-31T12:00:00.5Z",
)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
names = st.text("abcXYZ_09 -é☃", min_size=1, max_size=8).map(str.strip).filter(bool)
numbers = st.integers(-(2**63), 2**63 - 1)
floats = st.floats(allow_nan=False, allow_infinity=False)
seconds = st.floats(0.0, 1e6, exclude_min=True)
values = numbers | floats | texts | st.booleans()
mappings = st.dictionaries(texts, values, max_size=4)
targets = st.sampled_from([ZEN3, ZEN3_OTHER_LIBC, A72])
instants = st.datetimes(timezones=st.just(UTC)).map(lambda moment: moment.isoformat())


def _outcome(kind: str, stage: str, cause: str | None, stderr: str, stopped_early: bool) -> Outcome:
    if kind == "ok":
        return Outcome(kind, stderr=stderr, stopped_early=stopped_early)
    return Outcome(kind, stage, cause, stderr)


outcomes = st.builds(
    _outcome, st.sampled_from(KINDS), st.sampled_from(STAGES), st.none() | texts, texts, st.booleans()
)


@st.composite
def records(draw: st.DrawFn, **members: st.SearchStrategy[Any]) -> Record:
    """Any record, or one with the given members from the given strategies."""
    given = {name: draw(strategy) for name, strategy in members.items()}
    outcome = given.pop("outcome", None) or draw(outcomes)
    drawn: dict[str, Any] = {
        "kernel": names,
        "fingerprint": st.sampled_from([FINGERPRINT, "0" * 64]),
        "target": targets,
        "problem": mappings,
        "config": mappings,
        "cost": seconds if outcome.kind == "ok" else st.none(),
        "toolchain": names,
        "times": st.lists(st.floats(0.0, 1e6), max_size=3),
        "clock": st.sampled_from(CLOCKS),
        "quality": mappings,
        "run": names,
        "number": st.integers(0, 2**63 - 1),
        "created": instants,
        "role": st.sampled_from(["trial", "baseline", "final"]),
    }
    return Record(
        outcome=outcome, **{name: draw(drawn[name]) for name in drawn.keys() - given.keys()}, **given
    )


def numbered(number: int, **members: Any) -> Record:
    """The example record with another number, and with what is given."""
    return attrs.evolve(EXAMPLE, number=number, **members)


def write_many(database: Database, run: str, count: int) -> None:
    """Add records one by one, as one of several processes does."""
    for number in range(count):
        database.add(numbered(number, run=run))
    database.close()
