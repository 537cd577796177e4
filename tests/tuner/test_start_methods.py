"""The three start methods give the same, whatever program the tuner is used in."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import targetspec
from small_kernels import MIXED, PROBLEM, double_text, make
from tuner.database import Database
from tuner.executors import Replay
from tuner.session import Result, tune
from tuner.space import Space
from tuner.spawning import START_METHODS

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


def replayed(config: dict[str, Any]) -> float | None:
    """Give a cost to every configuration but those of one step."""
    return None if config["step"] == 4 else 1e-6 * (1 + config["step"])


def story(result: Result) -> list[tuple[dict[str, Any], str, float | None]]:
    """Tell what was proposed, in order, and what came of it."""
    return [(dict(record.config), record.outcome.kind, record.cost) for record in result.records]


def test_replayed_costs_give_one_story_under_each_start_method():
    """With replayed costs and one seed the same configurations come in the same order with the same outcomes."""
    stories = [
        story(
            tune(
                MIXED, PROBLEM, budget=12, workers=2, start_method=method, seed=5, executor=Replay(replayed),
                progress=False,
            )
        )
        for method in START_METHODS
    ]  # fmt: skip
    assert stories[0] == stories[1] == stories[2]
    assert {"ok", "wrong", "error", "exit"} == {kind for _, kind, _ in stories[0]}


def test_a_table_replays_costs_by_the_values_of_a_configuration():
    """A mapping's keys are the tuples of a configuration's values; what it lacks is a failure."""
    costs = {(1, "none"): 2.0, (2, "none"): 1.0}
    result = tune(MIXED, PROBLEM, budget=16, executor=Replay(costs), progress=False)
    assert result.best is not None
    assert ({"step": 2, "fault": "none"}, 1.0) == (dict(result.best.config), result.best.cost)
    assert {2.0, 1.0, None} == {record.cost for record in result.records}
    assert result.separated
    assert result.baseline is None


@pytest.mark.parametrize("method", START_METHODS)
def test_the_target_arrives_whole_and_is_kept_whole(method: str, tmp_path: Path):
    """The target in the worker, and the one in the record read back, equal the one sent, host included."""
    here = targetspec.detect_host()
    sent = here.evolve(libc_version="2.17").with_host(here)
    arrived = tmp_path / "arrived.json"

    def emit(config: dict[str, Any], target: Any, problem: dict[str, int]) -> str:
        arrived.write_text(target.digest + targetspec.dumps(target))
        return double_text(config["step"], problem["n"])

    kernel = make("arrival", Space({"step": [1, 2]}))
    kernel = type(kernel)(
        "arrival", kernel.space, emit, entry="double", arguments=kernel.arguments, reference=kernel.reference
    )
    path = tmp_path / "records.sqlite"
    result = tune(kernel, PROBLEM, sent, budget=2, start_method=method, database=path, progress=False)
    text = arrived.read_text()
    assert (sent.digest, sent) == (text[:64], targetspec.loads(text[64:]))
    with Database(path) as database:
        records = list(database.records())
    assert {"ok"} == {record.outcome.kind for record in records}
    assert {"trial", "baseline", "final"} == {record.role for record in records}
    assert [sent] * len(records) == [record.target for record in records]
    assert [sent.host] * len(records) == [record.target.host for record in records]
    assert result.target == sent


PROGRAM = """
import numpy, tuner
scale = 2.0
def make():
    inner = "fadd float %v, %v"
    text = ("define void @f(ptr %x, ptr %y) {\\n  %v = load float, ptr %x\\n  %w = " + inner
            + "\\n  store float %w, ptr %y\\n  ret void\\n}\\n")
    emit = lambda config, target, problem: text * (scale == 2.0)
    return tuner.Kernel("closure", tuner.Space({"a": [1, 2]}), emit, entry="f",
        arguments=lambda problem, rng: (rng.random(1, numpy.float32), numpy.zeros(1, numpy.float32)),
        reference=lambda x, y: (None, x * numpy.float32(scale)))

print("begun")
result = tuner.tune(make(), {}, budget=2, start_method="METHOD", progress=False)
print([record.outcome.kind for record in result.records], len(result.records))
"""


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
@pytest.mark.parametrize("form", ["script", "stdin", "argument", "interactive"])
def test_every_form_of_program_can_tune(form: str, method: str, tmp_path: Path):
    """A program without a __main__ guard tunes a kernel of closures and is not run again in the workers."""
    text = PROGRAM.replace("METHOD", method)
    script = tmp_path / "program.py"
    script.write_text(text)
    forms = {"script": [str(script)], "stdin": ["-"], "argument": ["-c", text], "interactive": ["-i", "-q"]}
    ran = subprocess.run(
        [sys.executable, *forms[form]],
        input=text if form in {"stdin", "interactive"} else "",
        capture_output=True,
        text=True,
        timeout=100,
        cwd=tmp_path,
        check=False,
    )
    assert "begun\n['ok', 'ok'] 2\n" == ran.stdout, ran.stderr
    assert ran.returncode == 0
