"""Records for tests: one example, and hypothesis strategies for any."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC
from typing import Any

import attrs
from hypothesis import strategies as st

import targetspec
from tuner.record import CLOCKS, KINDS, STAGES, Outcome, Record

FINGERPRINT = hashlib.sha256(b"sgemm").hexdigest()
TOOLCHAIN = "llvmlite 0.50.0, LLVM 22.1.0"


@attrs.frozen
class StandIn:
    """What records use of a target; `libc` cannot change timing, so it is no part of the tuning key."""

    cpu: str = "znver3"
    libc: int = 0
    host: StandIn | None = None

    def to_dict(self) -> dict[str, Any]:
        return {"cpu": self.cpu, "libc": self.libc, "host": self.host and self.host.to_dict()}

    @property
    def digest(self) -> str:
        return hashlib.sha256(json.dumps(self.to_dict()).encode()).hexdigest()

    @property
    def tuning_key(self) -> str:
        return hashlib.sha256(self.cpu.encode()).hexdigest()


def _from_dict(document: Any) -> StandIn:
    if "cpu" not in document:
        raise targetspec.errors.UnknownNameError("kind", str(document))
    host = document["host"]
    return StandIn(document["cpu"], document["libc"], host and _from_dict(host))


if not hasattr(targetspec, "Target"):
    targetspec.Target = StandIn
    targetspec.from_dict = _from_dict

ZEN3 = StandIn()
ZEN3_OTHER_LIBC = StandIn(libc=31)
A72 = StandIn("cortex-a72", host=ZEN3)

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
