"""A kind from another package, installed, found by a fresh process that imports nothing but targetspec."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

ROOT = Path(__file__).resolve().parents[2]
EXTENSION = ROOT / "tests" / "extension"
PAGE = ROOT / "docs" / "extending.md"
Run = Callable[..., "subprocess.CompletedProcess[str]"]


def install(folder: Path) -> None:
    """Install the extension into a folder, as pip does it from the sources."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index"]
    command += ["--no-deps", "--no-build-isolation", "--target", str(folder), str(EXTENSION)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert 0 == done.returncode, done.stderr


def place(folder: Path, name: str, points: str) -> None:
    """Write the metadata that an installer writes for a distribution with entry points."""
    metadata = folder / f"{name}-0.1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1.0\n", encoding="utf-8"
    )
    (metadata / "entry_points.txt").write_text(f"[targetspec.kinds]\n{points}\n", encoding="utf-8")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that the extension is installed in."""
    folder = tmp_path_factory.mktemp("site")
    if importlib.util.find_spec("pip") and importlib.util.find_spec("hatchling"):
        install(folder)
        return folder
    # Neither belongs to the environment of the tests: without them its two files are put where an installer puts them.
    shutil.copy(EXTENSION / "npu_targets.py", folder)
    place(folder, "targetspec_npu", "npu = npu_targets:NpuTarget")
    return folder


def runner(folder: Path) -> Run:
    """Return how to run Python with a folder of installed packages in front."""

    def run(*arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
        path = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))
        environment = {**os.environ, "PYTHONPATH": path}
        command = [sys.executable, "-W", "error", *arguments]
        return subprocess.run(
            command, input=given, capture_output=True, text=True, check=False, env=environment, cwd=folder
        )

    return run


@pytest.fixture(scope="module")
def run(installed: Path) -> Run:
    """Run Python where the extension is installed."""
    return runner(installed)


def succeeds(done: subprocess.CompletedProcess[str]) -> str:
    assert (0, "") == (done.returncode, done.stderr), done.stdout
    return done.stdout


VALUES = """
import copy, hashlib, json, pickle, sys
import targetspec
assert "npu_targets" not in sys.modules
first = targetspec.parse("npu arch=npu2e sram_bytes=4096 tiles=4 host=[cpu triple=x86_64-linux-gnu] libs=dnn")
cls = type(first)
assert ("npu", "NpuTarget", "npu_targets") == (first.kind, cls.__name__, cls.__module__)
host = targetspec.CpuTarget(triple="x86_64-unknown-linux-gnu")
document = {"kind": "npu", "arch": "npu2e", "sram_bytes": 4096, "tiles": 4, "host": host.to_dict(), "libs": ["dnn"]}
assert document == first.to_dict()
for again in (
    targetspec.from_dict(document), targetspec.loads(targetspec.dumps(first)), targetspec.parse(str(first)),
    targetspec.parse(targetspec.dumps(first)), copy.deepcopy(first), pickle.loads(pickle.dumps(first)), first.evolve(),
    first.without_host().with_host(host), cls(arch="npu2e", sram_bytes=4096, tiles=4, host=host, libs=["dnn"]),
):
    assert first == again and hash(first) == hash(again) and first.digest == again.digest
assert first.evolve(firmware="beta").tuning_key == first.tuning_key != first.evolve(tiles=8).tuning_key
both = targetspec.CompositeTarget(members=[first, targetspec.CudaTarget(arch="sm_90")])
assert host == both.host and both == targetspec.parse(str(both)) == targetspec.loads(targetspec.dumps(both))
assert ("tiles: 4 | 8",) == targetspec.diff(first, first.evolve(tiles=8))
print(targetspec.dumps(first))
"""
RELATION = """
import targetspec
code = targetspec.parse("npu arch=npu2 sram_bytes=4096 tiles=4")
def answer(change, **question):
    return code.compatible(code.evolve(**change), **question).answer
assert "yes" == answer({}) == answer({"tiles": 8, "sram_bytes": 8192}) == answer({"firmware": "beta"})
assert "no" == answer({"tiles": 2}) == answer({"arch": "npu1"}) == answer({"tiles": 8}, purpose="link")
assert "unknown" == answer({"tiles": None})
assert "yes" == answer({"tiles": 2}, purpose="schedule") == answer({}, needs={"sram_bytes": 4096})
assert "no" == answer({}, needs={"sram_bytes": 4097})
assert "no" == code.compatible(targetspec.parse("cuda arch=sm_90")).answer
(reason,) = code.compatible(code.evolve(tiles=2)).reasons
assert ("tiles", ("tiles", 4)) == (reason.field, reason.repair)
host = targetspec.parse("cpu triple=x86_64-linux-gnu")
assert "no" == code.with_host(host).compatible(code.with_host(targetspec.parse("cpu triple=aarch64-linux-gnu"))).answer
assert "yes" == code.compatible(targetspec.CompositeTarget(members=[code, host])).answer
"""
FAULTS = """
import json, pickle
import targetspec
def refused(make, error, words):
    try:
        made = make()
    except error as caught:
        assert words in str(caught), caught
        assert caught == pickle.loads(pickle.dumps(caught))
        return
    raise AssertionError(f"{words}: {made}")
cls = type(targetspec.parse("npu arch=npu1"))
refused(lambda: cls(arch="npu9"), targetspec.FieldError, "npu2e")
refused(lambda: cls(arch="npu1", tiles=True), targetspec.FieldTypeError, "whole number")
refused(lambda: cls(arch="npu1", tiles=65), targetspec.FieldError, "64")
refused(lambda: targetspec.parse("npu arch=npu1 tile=3"), targetspec.TargetSyntaxError, "tiles")
refused(lambda: targetspec.parse("npuu arch=npu1", "targetspec"), targetspec.TargetSyntaxError, "npu")
refused(lambda: targetspec.parse("npu arch=npu1").format("llvm"), targetspec.NotRepresentableError, "npu")
refused(lambda: targetspec.CpuTarget(host=cls(arch="npu1")), targetspec.FieldError, "host")
documents = [
    {"kind": "npu", "arch": "npu1", "tiles": True}, {"kind": "npu", "arch": "npu1", "sram_bytes": 3},
    {"kind": "npu", "arch": "npu1", "tilse": 3}, {"kind": "npu", "arch": "npu3"}, {"kind": "npu", "arch": 1},
    {"kind": "cpu", "host": {"kind": "npu", "arch": "npu1"}},
]
for document in documents:
    refused(lambda: targetspec.from_dict(document), targetspec.DocumentError, "$.")
print(json.dumps([targetspec.validate(document)[0].path for document in documents]))
"""
STRATEGIES = """
import jsonschema
from hypothesis import HealthCheck, given, settings
import targetspec
from targetspec.testing import kind_targets, written_targets
schema = jsonschema.Draft202012Validator(targetspec.json_schema())
seen = set()
@settings(database=None, max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(kind_targets("npu"))
def law(target):
    assert target == targetspec.loads(targetspec.dumps(target)) == targetspec.parse(str(target))
    assert target.compatible(target)
    assert [] == list(schema.iter_errors(target.to_dict())) == targetspec.validate(target.to_dict())
    seen.add((target.arch, target.sram_bytes, target.tiles, target.firmware, target.host is None))
law()
assert len(seen) > 20 and {"npu1", "npu2", "npu2e"} == {arch for arch, *_ in seen}, seen
"""


def test_values_of_the_kind_are_whole(run: Run) -> None:
    """Text, document, pickle, host and digest work as for any kind, without an import of the package by name."""
    document = succeeds(run("-c", VALUES))
    assert document == succeeds(
        run(
            "-c",
            "import sys, targetspec; print(targetspec.dumps(targetspec.loads(sys.stdin.read())))",
            given=document,
        )
    )


def test_the_relation_runs_the_kinds_rules(run: Run) -> None:
    """Floors, identities, needs, hosts and composites decide, and reasons name the field and the repair."""
    assert "" == succeeds(run("-c", RELATION))


def test_faults_say_what_is_allowed(run: Run) -> None:
    """Construction, text and document refuse what the shapes do, each with its own error and place."""
    expected = ["$.tiles", "$.sram_bytes", "$.tilse", "$.arch", "$.arch", "$.host.kind"]
    assert expected == json.loads(succeeds(run("-c", FAULTS)))


def test_a_required_field_is_missed_by_all_alike(run: Run) -> None:
    """What the schema requires, the constructor, the reader and the text require too."""
    program = """
import jsonschema, targetspec
assert list(jsonschema.Draft202012Validator(targetspec.json_schema()).iter_errors({"kind": "npu"}))
assert ["$.arch"] == [problem.path for problem in targetspec.validate({"kind": "npu"})]
cls = type(targetspec.parse("npu arch=npu1"))
for make in (cls, lambda: targetspec.parse("npu"), lambda: targetspec.parse("npu arch=npu1").evolve(arch=None)):
    try:
        make()
    except targetspec.TargetspecError as error:
        assert "arch" in str(error), error
    else:
        raise AssertionError(make)
"""
    assert "" == succeeds(run("-c", program))


def test_the_schema_has_the_kind_and_a_composite_may_hold_it(run: Run) -> None:
    """The schema of the installed kinds defines it, with docs, units and bounds; the kinds of ours are unchanged."""
    program = "import json, targetspec; print(json.dumps(targetspec.json_schema()))"
    schema = json.loads(succeeds(run("-c", program)))
    mine = schema["$defs"]["npu"]
    assert ["npu1", "npu2", "npu2e"] == mine["properties"]["arch"]["enum"]
    assert {"minimum": 1024, "maximum": 1 << 32}.items() <= mine["properties"]["sram_bytes"].items()
    assert "(byte)" in mine["properties"]["sram_bytes"]["description"]
    assert ["kind", "arch"] == mine["required"]
    valid = jsonschema.Draft202012Validator(schema).is_valid
    document = {"kind": "npu", "arch": "npu1"}
    assert valid(document)
    assert not valid({**document, "tilse": 3})
    assert not valid({"kind": "npu"})
    assert valid({"kind": "composite", "members": [document]})
    assert not valid({"kind": "cpu", "host": document})
    ours = json.loads(succeeds(runner(EXTENSION)("-c", program)))
    assert {**ours["$defs"], "npu": mine}.keys() == schema["$defs"].keys()
    assert ours["$defs"]["cuda"] == schema["$defs"]["cuda"]


def test_the_strategies_come_from_the_declaration(run: Run) -> None:
    """`kind_targets` draws targets of the kind, required field included, and they keep the laws."""
    pytest.importorskip("hypothesis")
    assert "" == succeeds(run("-c", STRATEGIES))


def test_the_command_line_knows_the_kind(run: Run) -> None:
    """`list kinds` names it, `parse` reads it, `compare` judges it, each in a process of its own."""
    assert "npu" in succeeds(run("-m", "targetspec", "list", "kinds")).split()
    assert "npu arch=npu1 tiles=2\n" == succeeds(run("-m", "targetspec", "parse", "npu tiles=2 arch=npu1"))
    answer = run("-m", "targetspec", "compare", "npu arch=npu1 tiles=4", "npu arch=npu1 tiles=2")
    assert (1, "") == (answer.returncode, answer.stderr)
    assert "tiles: needs 4" in answer.stdout
    wrong = run("-m", "targetspec", "parse", "npu arch=npu7")
    assert 2 == wrong.returncode
    assert "npu2e" in wrong.stderr


def test_without_the_package_the_kind_is_unknown(tmp_path: Path) -> None:
    """A process that cannot find the kind says so, and names those that there are."""
    program = "import targetspec; print(targetspec.validate({'kind': 'npu', 'arch': 'npu1'})[0])"
    assert "unknown kind 'npu'" in succeeds(runner(tmp_path)("-c", program))


def test_the_page_shows_the_module_and_tells_the_truth(run: Run) -> None:
    """The page's first example is the installed module, its others run where that is installed."""
    text = PAGE.read_text(encoding="utf-8")
    module, *_ = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert (EXTENSION / "npu_targets.py").read_text(encoding="utf-8") == module
    points = re.search(r"```toml\n(.*?)```", text, re.DOTALL)
    assert points
    assert points[1] in (EXTENSION / "pyproject.toml").read_text(encoding="utf-8")
    assert "" == succeeds(run("-m", "doctest", str(PAGE)))


@pytest.mark.parametrize(
    ("points", "words"),
    [
        ("cuda = npu_targets:NpuTarget", "claims the name of a kind"),
        ("tpu = npu_targets:NpuTarget", "whose kind is not 'tpu'"),
        ("tpu = npu_targets:NoSuch", "npu_targets:NoSuch"),
        ("tpu = no_such_module:Tpu", "no_such_module"),
        ("tpu = json:dumps", "no class of targets"),
    ],
)
def test_a_broken_registration_is_named(tmp_path: Path, points: str, words: str) -> None:
    """What is wrong with an entry point is a RegistrationError that names it, and our own kinds work on."""
    shutil.copy(EXTENSION / "npu_targets.py", tmp_path)
    place(tmp_path, "broken", points)
    program = f"""
import targetspec
from targetspec.errors import RegistrationError
assert "cuda" == targetspec.parse("cuda arch=sm_90").kind == targetspec.from_dict({{"kind": "cuda"}}).kind
try:
    found = targetspec.from_dict({{"kind": "tpu"}})
except RegistrationError as error:
    assert {words!r} in str(error), error
else:
    raise AssertionError(found)
"""
    assert "" == succeeds(runner(tmp_path)("-c", program))


def test_two_packages_cannot_share_a_kind(tmp_path: Path) -> None:
    """Two claims of one name are an error that names both."""
    shutil.copy(EXTENSION / "npu_targets.py", tmp_path)
    place(tmp_path, "one", "npu = npu_targets:NpuTarget")
    place(tmp_path, "two", "npu = npu_targets:Npu")
    done = runner(tmp_path)("-m", "targetspec", "list", "kinds")
    assert 2 == done.returncode
    assert "npu_targets:NpuTarget" in done.stderr
    assert "npu_targets:Npu " in f"{done.stderr} "
