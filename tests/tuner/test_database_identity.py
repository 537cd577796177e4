"""Which kernel it is: fingerprints made apart, confirmed by several processes, and errors for kernels that have none."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest

import small_kernels
from record_examples import ZEN3
from small_kernels import DOUBLE, PROBLEM, RUDE, UNSTABLE
from tuner import build, identity
from tuner.database import Database
from tuner.errors import KernelError
from tuner.identity import confirmed
from tuner.kernels import sgemm
from tuner.session import tune

MATRIX = {"m": 8, "n": 8, "k": 8}


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    with Database(tmp_path / "tuner.sqlite") as opened:
        yield opened


def emit_unsorted(config: Mapping[str, Any], target: object, problem: Mapping[str, int]) -> str:
    """Emit what follows the order of a set, which is another one in each process."""
    names = {f"feature{number}" for number in range(20)}
    return f"; {' '.join(names)}\n{small_kernels.emit(config, target, problem)}"


def emit_and_die(*_: object) -> str:
    """End the process by a signal."""
    os.kill(os.getpid(), signal.SIGSEGV)
    return ""


UNSORTED = attrs.evolve(DOUBLE, emit=emit_unsorted)
DEADLY = attrs.evolve(DOUBLE, emit=emit_and_die)


def test_a_fingerprint_made_apart_is_the_one_made_here(db: Database):
    """In a worker or not, alone or with witnesses; a kernel of ours needs no worker."""
    here = build.fingerprint(DOUBLE, ZEN3, PROBLEM)
    assert here == db.fingerprint(DOUBLE, PROBLEM, ZEN3) == confirmed(DOUBLE, ZEN3, PROBLEM)
    assert identity.is_ours(sgemm)
    assert not identity.is_ours(DOUBLE)
    assert build.fingerprint(sgemm, ZEN3, MATRIX) == confirmed(sgemm, ZEN3, MATRIX)


@pytest.mark.parametrize("kernel", [UNSORTED, UNSTABLE], ids=["from process to process", "from call to call"])
def test_a_kernel_whose_code_changes_is_named_before_anything_is_kept(kernel: Any, tmp_path: Path):
    """With the order of a set, and with a counter: no run, no record, the kernel's name and what to look for."""
    path = tmp_path / "a.sqlite"
    with pytest.raises(KernelError, match=rf"^{kernel.name}: emit g\w+ (two different texts|another text)"):
        tune(kernel, PROBLEM, budget=1, database=path, progress=False)
    with Database(path) as db:
        assert ([], ()) == (list(db.records()), db.runs())


def test_a_kernel_that_ends_its_process_ends_no_lookup(db: Database):
    """A configuration that kills emit is a trait of the kernel; where each does, the error says so."""
    first = db.fingerprint(RUDE, PROBLEM, ZEN3)
    assert db.lookup(RUDE, PROBLEM, ZEN3) is None
    assert first == confirmed(RUDE, ZEN3, PROBLEM) != db.fingerprint(DOUBLE, PROBLEM, ZEN3)
    with pytest.raises(KernelError, match=r"^double: emit ends its process, .*signal in emit: SIGSEGV"):
        db.lookup(DEADLY, PROBLEM, ZEN3)
    assert db.lookup(DOUBLE, PROBLEM, ZEN3) is None


def test_a_fingerprint_is_made_once(db: Database, monkeypatch: pytest.MonkeyPatch):
    """For each kernel, target and problem; the worker ends with the database."""
    first = db.fingerprint(DOUBLE, PROBLEM, ZEN3)
    with monkeypatch.context() as patch:
        patch.setattr(identity, "fingerprint_in", None)
        assert first == db.fingerprint(DOUBLE, dict(PROBLEM), ZEN3)
        with pytest.raises(TypeError):
            db.fingerprint(DOUBLE, {"n": 8}, ZEN3)
    assert first != db.fingerprint(DOUBLE, {"n": 8}, ZEN3)
    with pytest.raises(TypeError, match="needs its fingerprint stated"):
        db.fingerprint("double", PROBLEM, ZEN3)
