"""Values across processes: other hash seeds, fork and spawn, and a pickle alone as all that travels."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from typing import Any

import pytest

import targetspec
from targetspec.testing import tricky_targets

TELL = """
import json, sys, targetspec
def tell(target):
    again = targetspec.loads(targetspec.dumps(target))
    assert target == again and hash(target) == hash(again) and target in {again}, target
    return target.digest, target.tuning_key, targetspec.dumps(target), str(target)
"""
FRESH = f"{TELL}\nimport pickle\nprint(json.dumps([tell(one) for one in pickle.load(sys.stdin.buffer)]))"
# The parent has asked for everything, hashes included, before it forks.
FORKED = f"""{TELL}
import os, pickle
targets = pickle.load(sys.stdin.buffer)
before = [tell(one) for one in targets]
child = os.fork()
if child == 0:
    print(json.dumps([tell(one) for one in targets] if [tell(one) for one in targets] == before else None), flush=True)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""
# What `multiprocessing` sends to its workers and gets back is pickled, and `attrgetter` needs no module of the sender's.
POOLED = """
import json, multiprocessing, operator, pickle, sys
targets = pickle.load(sys.stdin.buffer)
if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert list(targets) == pool.map(operator.methodcaller("evolve"), targets)
        digests = pool.map(operator.attrgetter("digest"), targets)
    print(json.dumps(digests))
"""


def run(program: str, seed: str) -> Any:
    """Return what a fresh interpreter with a hash seed prints of the pool of tricky targets, which it gets pickled."""
    pool = tricky_targets(other_tables=True)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        input=pickle.dumps(pool),
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONHASHSEED": seed},
    )
    assert (0, "") == (done.returncode, done.stderr.decode())
    return json.loads(done.stdout)


def here() -> list[list[str]]:
    """Return what this process says of the pool."""
    return [
        [target.digest, target.tuning_key, targetspec.dumps(target), str(target)]
        for target in tricky_targets(other_tables=True)
    ]


@pytest.mark.parametrize("seed", ["0", "1", "4294967295"])
def test_a_fresh_process_says_the_same_under_any_hash_seed(seed: str) -> None:
    """Digest, tuning key, JSON and text are the same, and a target that travelled hashes as one made there does."""
    assert here() == run(FRESH, seed)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_says_the_same() -> None:
    """A fork inherits every cache and says what its parent does."""
    assert here() == run(FORKED, "7")


def test_a_spawned_worker_of_multiprocessing_gives_equal_targets_back() -> None:
    """The way there and back by spawn, as process pools do it."""
    assert [digest for digest, *_ in here()] == run(POOLED, "9")


def test_equal_targets_made_apart_are_one_pickle_value_each_way() -> None:
    """A target's pickle does not depend on whether its hash, digest or text were asked for before."""
    for target in tricky_targets(other_tables=True):
        fresh = targetspec.loads(targetspec.dumps(target))
        before = pickle.dumps(fresh)
        _ = hash(fresh), fresh.digest, fresh.tuning_key, str(fresh)
        assert before == pickle.dumps(fresh)
