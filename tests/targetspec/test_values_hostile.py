"""What a hostile caller tries: documents full of faults, shared values to change, odd arguments, broken extensions."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import attrs
import pytest

import targetspec
from targetspec import (
    CompositeTarget,
    CpuTarget,
    CudaTarget,
    DocumentError,
    FeatureConflictError,
    FeatureSet,
    FieldError,
    OpenCLTarget,
    RegistrationError,
    Target,
    TargetSyntaxError,
    Triple,
    UnknownNameError,
    cpu,
    registry,
)
from targetspec.errors import portable
from targetspec.fields import LONGEST_DOCUMENT
from targetspec.gpu_amd import TargetId
from targetspec.gpu_cuda import CudaArch

LINUX = "x86_64-unknown-linux-gnu"
PLAIN: dict[str, Any] = {"kind": "cpu", "triple": LINUX, "cpu": "znver3"}
HASWELL = CpuTarget(triple=LINUX, cpu="haswell")


def paths(document: Any) -> list[str]:
    """The places of the faults of a document."""
    return [problem.path for problem in targetspec.validate(document)]


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"cpu": "znver33"}, "$.cpu"),
        ({"tune": "znver33"}, "$.tune"),
        ({"tuning": ["+fast-bextr", "-no-such"]}, "$.tuning[1]"),
        ({"tuning": ["+fast-bextr", "-fast-bextr"]}, "$.tuning[0]"),
        ({"tuning": ["+avx2"]}, "$.tuning"),
        ({"restrictions": ["no-such"]}, "$.restrictions[0]"),
        ({"restrictions": ["avx2"]}, "$.restrictions"),
        ({"features": ["avx2", "avx22"]}, "$.features[1]"),
        ({"features": ["sse2", "fast-bextr"]}, "$.features[1]"),
        ({"features": ["32bit-mode"]}, "$.features[0]"),
        ({"triple": "riscv64-linux-gnu", "cpu": "sifive-u74", "features": ["zfinx", "f"]}, "$.features[1]"),
    ],
)
def test_a_fault_about_names_is_told_at_the_field_that_has_the_name(
    changes: dict[str, Any], path: str
) -> None:
    """Also below a host and in a composite; where it is one of several names, at its place among them."""
    document = {**PLAIN, **changes}
    assert [path] == paths(document)
    assert [path.replace("$", "$.host")] == paths({"kind": "cuda", "host": document})
    inside = {"kind": "composite", "members": [{"kind": "cuda"}, document]}
    assert [path.replace("$", "$.members[1]")] == paths(inside)


FULL_OF_FAULTS = {
    "unknown CPUs": {
        "kind": "composite",
        "members": [{"kind": "cpu", "cpu": f"znver-{n}"} for n in range(16)],
    },
    "too many members": {
        "kind": "composite",
        "members": [{"kind": "cpu", "cpu": f"znv{n}"} for n in range(30_000)],
    },
    "unknown fields": {"kind": "cpu", **{f"num_core{n}": n for n in range(80_000)}},
    "unknown features": {**PLAIN, "features": [f"avx{n}" for n in range(100, 100_000)]},
    "unknown fields of hosts": {
        "kind": "composite",
        "members": [
            {"kind": "cuda", "host": {"kind": "cpu", **{f"cp{n}": 1 for n in range(5000)}}} for _ in range(16)
        ],
    },
    "libraries": {"kind": "cuda", "libs": [f"lib{n}" for n in range(100_000)]},
    "a long name": {"kind": "cuda", "libs": ["x" * 1_900_000]},
    "a long CPU": {"kind": "cpu", "triple": LINUX, "cpu": "x" * 1_900_000},
    "a long key": {"kind": "cpu", "x" * 1_900_000: 1},
}


@pytest.mark.parametrize("name", FULL_OF_FAULTS)
def test_a_document_full_of_faults_is_refused_soon_and_in_few_words(name: str) -> None:
    """However many faults there are; each limit holds for every field and every object of its own."""
    document = FULL_OF_FAULTS[name]
    text = json.dumps(document)
    assert len(text) <= LONGEST_DOCUMENT
    start = time.process_time()
    problems = targetspec.validate(text)
    # A second is what is promised; the processors that this runs on differ.
    assert 5 > time.process_time() - start
    assert problems == targetspec.validate(document)
    assert 1000 > max(len(str(problem)) for problem in problems)
    assert 1 <= len(problems) <= 16 * 21


def test_further_unknown_fields_are_counted() -> None:
    """The first twenty by name, then how many more there are."""
    problems = targetspec.validate({"kind": "cpu", **{f"x{n}": n for n in range(25)}})
    assert [*(f"$.x{n}" for n in range(20)), "$"] == [problem.path for problem in problems]
    assert "has 5 more fields" in problems[-1].message


def largest(text: str) -> frozenset[str]:
    """As many names as a set takes."""
    return frozenset(f"{text}{n:03d}".ljust(250, "x") for n in range(65))


def test_the_largest_targets_are_read_back() -> None:
    """What can be constructed can be written and read, as text and as JSON: the limits of the fields see to it."""
    host = HASWELL.evolve(libs=largest("h"))
    device = OpenCLTarget(libs=largest("l"), extensions=largest("cl_khr_"), host=host)
    whole = CompositeTarget(members=(device,) * 16)
    for target in (host, device, whole):
        assert target == targetspec.loads(targetspec.dumps(target))
        assert target == targetspec.parse(str(target))
    with pytest.raises(FieldError, match="1 to 16 targets"):
        CompositeTarget(members=(device,) * 17)
    for more in (largest("l") | {"y" * 200}, {f"y{n}" for n in range(10_000)}, range(100_000)):
        with pytest.raises(FieldError):
            CudaTarget(libs=more)


def test_a_shared_target_cannot_be_changed_in_place() -> None:
    """By what pickle uses, or through the declarations that it shows."""
    shared = targetspec.parse(f"{LINUX} -mcpu=haswell")
    assert not hasattr(shared, "__setstate__")
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        shared.cpu = "znver3"  # type: ignore[attr-defined]
    for shown in (CpuTarget.specs(), CpuTarget.defaults()):
        with pytest.raises(TypeError):
            shown["cpu"] = None  # type: ignore[index]
    assert HASWELL == targetspec.parse(f"{LINUX} -mcpu=haswell")


def test_a_pickle_of_a_version_with_other_fields_is_refused_with_what_to_do() -> None:
    """Its values are stored without their names."""
    rebuild, (cls, values) = HASWELL.__reduce__()
    assert HASWELL == rebuild(cls, values)
    with pytest.raises(DocumentError, match=r"pickled with .* send JSON"):
        rebuild(cls, values[:-1])


def test_a_class_of_targets_needs_a_kind_of_its_own() -> None:
    """Else its targets would be unequal to those of the kind, and have their JSON and digest."""

    class Bare(CpuTarget):
        pass

    class Claiming(CpuTarget):
        kind: ClassVar[str] = "cpu"

    for cls in (Bare, Claiming):
        with pytest.raises(RegistrationError, match="of its own"):
            cls(triple=LINUX)


class _Point:
    """An entry point of a package, as importlib.metadata gives it."""

    def __init__(self, load: Callable[[], Any]) -> None:
        self.value, self.load = "elsewhere:Kind", load


def _raising() -> Any:
    raise RuntimeError("no licence for this NPU")


@pytest.mark.parametrize(
    ("what", "load", "words"),
    [
        ("kind", _raising, "RuntimeError: no licence"),
        ("kind", lambda: os.environ["NO_SUCH_VARIABLE"], "KeyError"),
        ("kind", lambda: int, "no class of targets"),
        ("kind", lambda: HASWELL, "no class of targets"),
        ("kind", lambda: CpuTarget, "whose kind is not 'odd'"),
        ("dialect", _raising, "RuntimeError"),
        ("dialect", lambda: json, "no parse and no format"),
    ],
)
def test_a_broken_extension_is_named_whatever_is_wrong_with_it(
    what: str, load: Callable[[], Any], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An exception of any class at import, something that is no class, or a class of another kind."""
    monkeypatch.setattr(registry, "_entry_points", lambda _: {"odd": _Point(load)})
    with pytest.raises(RegistrationError, match=words) as caught:
        (registry.kind if what == "kind" else registry.dialect)("odd")
    assert "odd" == caught.value.name


def test_errors_about_values_that_merely_equal_each_other_differ() -> None:
    """True is no 1.0; a NaN is the NaN that it is; sets say the same in every process."""
    texts = [FieldError("cpu", "num_cores", value, "must be a whole number") for value in (True, 1.0, 1)]
    assert 3 == len(set(texts))
    assert FieldError("cpu", "n", float("nan"), "m") == FieldError("cpu", "n", float("nan"), "m")
    assert "{'a', 'b', 'c'}" == portable({"c", "a", "b"}) == portable(frozenset("cab"))


def test_an_error_keeps_little_of_a_large_value() -> None:
    """It travels between processes, and is kept in records."""
    long = "x" * 10_000_000
    for error in (FieldError("cpu", "cpu", long, "m"), UnknownNameError("CPU", long)):
        assert 1000 > len(pickle.dumps(error))
        assert "10000000 characters" in str(error)
        assert error == pickle.loads(pickle.dumps(error))


FUTURE: dict[str, Any] = {
    "kind": "cpu",
    "triple": LINUX,
    "cpu": "znver9",
    "tune": "znver8",
    "features": ["avx2", "avx99"],
    "tuning": ["+slow-avx99"],
    "restrictions": ["keep-still"],
    "tables": "99.1.0",
}


def test_a_document_of_newer_tables_may_name_a_cpu_that_today_has_not() -> None:
    """It is read verbatim, written again under its own version, and stays as it is through every copy."""
    target = targetspec.from_dict(FUTURE)
    assert FUTURE == target.to_dict()
    assert isinstance(target, CpuTarget)
    assert ("znver9", "znver8", "glibc") == (target.cpu, target.tune, target.libc)
    for again in (
        pickle.loads(pickle.dumps(target)),
        targetspec.loads(targetspec.dumps(target)),
        target.evolve(),
    ):
        assert target == again
        assert target.digest == again.digest
    assert target.compatible(target)
    assert not target.compatible(HASWELL)
    hosted = CudaTarget(host=target)
    assert hosted == targetspec.from_dict(hosted.to_dict())
    for tables in ({}, {"tables": "22.1.8"}):
        document = {name: value for name, value in FUTURE.items() if name != "tables"} | tables
        assert "$.cpu" in paths(document)


@pytest.mark.parametrize(
    "call",
    [
        lambda: targetspec.loads({}),  # type: ignore[arg-type]
        lambda: targetspec.dumps(None),  # type: ignore[arg-type]
        lambda: targetspec.diff(HASWELL, None),  # type: ignore[arg-type]
        lambda: targetspec.best_match([None], run_on=HASWELL),  # type: ignore[list-item]
        lambda: targetspec.best_match(HASWELL, run_on=HASWELL),  # type: ignore[arg-type]
        lambda: targetspec.best_match([HASWELL], run_on=None),  # type: ignore[arg-type]
        lambda: targetspec.common(None),  # type: ignore[arg-type]
        lambda: targetspec.normalize_triple(None),  # type: ignore[arg-type]
        lambda: targetspec.parse("cuda", dialect=None),  # type: ignore[arg-type]
        lambda: targetspec.parse("cuda", dialect=[]),  # type: ignore[arg-type]
        lambda: targetspec.parse_full(b"cuda"),  # type: ignore[arg-type]
        lambda: targetspec.validate_text("cuda", None),  # type: ignore[arg-type]
        lambda: targetspec.json_schema([]),  # type: ignore[arg-type]
        lambda: targetspec.tag(3),  # type: ignore[arg-type]
        lambda: HASWELL.compatible("x86_64"),  # type: ignore[arg-type]
        lambda: HASWELL.compatible(HASWELL, purpose=None),  # type: ignore[arg-type]
        lambda: HASWELL.compatible(HASWELL, needs=[]),  # type: ignore[arg-type]
        lambda: HASWELL.compatible(HASWELL, needs={3: 1}),  # type: ignore[dict-item]
        lambda: HASWELL.compatible(HASWELL, bridges=3),  # type: ignore[arg-type]
        lambda: HASWELL.compatible(HASWELL, bridges=[[]]),  # type: ignore[list-item]
        lambda: HASWELL.format(None),  # type: ignore[arg-type]
        lambda: HASWELL.generalise(None),  # type: ignore[arg-type]
        lambda: HASWELL.with_host(3),  # type: ignore[arg-type]
        lambda: 1 in HASWELL.features,  # type: ignore[operator]
        lambda: targetspec.FeatureSet.closed("x86", "sse2"),
        lambda: targetspec.FeatureSet.closed("x86", [1]),  # type: ignore[list-item]
        lambda: targetspec.FeatureSet.closed(None, []),  # type: ignore[arg-type]
        lambda: HASWELL.features.with_changes("sse2"),  # type: ignore[union-attr]
        lambda: HASWELL.features.union(3),  # type: ignore[union-attr, arg-type]
        lambda: CpuTarget(triple=3),  # type: ignore[arg-type]
        lambda: CpuTarget(triple=LINUX, features="avx2"),
    ],
)
def test_an_argument_of_the_wrong_type_is_a_type_error_that_says_what_is_allowed(
    call: Callable[[], Any],
) -> None:
    """And nothing from the inside, such as a missing attribute or a type that cannot be hashed."""
    with pytest.raises(TypeError, match=r"must be|targets") as caught:
        call()
    assert "unhashable" not in str(caught.value)


def test_what_is_near_is_offered_and_else_what_there_is() -> None:
    """No name is offered as near that is not."""
    with pytest.raises(UnknownNameError, match="did you mean 'cuda'"):
        registry.kind("cudaa")
    with pytest.raises(UnknownNameError, match="there are composite, cpu, cuda"):
        registry.kind("qqqqqq")


SCRIPT = """
import json, sys, targetspec
t = targetspec.CpuTarget(triple="x86_64-linux-gnu", cpu="haswell")
assert ".zip" in targetspec.__file__
assert t == targetspec.loads(targetspec.dumps(t))
assert targetspec.tag("nvidia/h100").arch
assert targetspec.VulkanTarget(capabilities=["ShaderNonUniformEXT"]).capabilities
targetspec.parse("x86_64-linux-gnu -mcpu=znver4"), targetspec.parse("x86_64-linux-gnu", "zig")
print(t.digest)
"""


def _run(script: str, *options: str, path: Path | None = None) -> str:
    environment = {**os.environ, **({"PYTHONPATH": str(path)} if path else {})}
    done = subprocess.run(
        [sys.executable, *options, "-c", script], capture_output=True, text=True, check=False, env=environment
    )
    assert "" == done.stderr
    return done.stdout.strip()


def test_the_package_works_from_a_zip_archive(tmp_path: Path) -> None:
    """As zipapp and some build systems ship it: the tables are read through the loader."""
    archive = tmp_path / "bundle.zip"
    source = Path(targetspec.__file__).parent
    with zipfile.ZipFile(archive, "w") as file:
        for path in source.rglob("*"):
            if path.is_file() and path.suffix != ".pyc":
                file.write(path, Path("targetspec") / path.relative_to(source))
    assert HASWELL.digest == _run(SCRIPT, path=archive)


def test_the_schema_does_not_depend_on_docstrings() -> None:
    """`python -OO` drops them."""
    script = "import json, targetspec; print(json.dumps(targetspec.json_schema(), sort_keys=True))"
    assert json.loads(_run(script, "-OO")) == targetspec.json_schema()


def test_each_kind_says_what_it_is_in_one_place() -> None:
    """The sentence in the schema is the first one of the docstring."""
    for cls in map(registry.kind, registry.kind_names()):
        assert issubclass(cls, Target)
        assert (cls.__doc__ or "").startswith(cls.about or "?")


def test_writing_json_needs_no_reader() -> None:
    """cattrs is for reading: a program that only writes does not pay for it."""
    script = (
        "import sys, targetspec; targetspec.dumps(targetspec.CudaTarget()); print('cattrs' in sys.modules)"
    )
    assert "False" == _run(script)


X86 = FeatureSet.closed("x86", ["avx2"])


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"cpu": "generic"},
        {"cpu": "cortex-a53"},
        {"triple": "sparc64-linux-gnu"},
        {"triple": "aarch64-linux-gnu"},
    ],
)
def test_a_set_of_features_needs_the_family_that_the_target_is_of(fields: dict[str, Any]) -> None:
    """Neither text nor JSON says of which family a set is: only the triple or the CPU does."""
    with pytest.raises(FieldError, match="family"):
        CpuTarget(features=X86, **fields)
    assert X86 == CpuTarget(cpu="haswell", features=X86).features
    with pytest.raises(FieldError, match="family"):
        CpuTarget(triple=LINUX, features=X86).evolve(triple=None)


def test_sets_of_two_families_are_not_joined() -> None:
    """Their masks mean other things."""
    arm = FeatureSet.closed("arm", ["neon"])
    for join in (X86.union, lambda other: X86 & other):
        with pytest.raises(FeatureConflictError, match="two families"):
            join(arm)


def test_what_two_sets_share_is_closed() -> None:
    """Of what is only covered in one of them, what nothing shared implies."""
    first = FeatureSet.closed("arm", ["armv7s", "virtualization"])
    second = FeatureSet.closed("arm", ["armv8.7-a", "armv6-m", "armv7k", "v8m", "read-tp-tpidrurw"])
    shared = first & second
    assert shared == FeatureSet.closed("arm", list(shared))
    assert shared <= first
    assert shared <= second


def test_a_verbatim_set_has_names_and_a_version_that_documents_can_hold() -> None:
    """And under today's version it is closed like any other."""
    assert FeatureSet.closed("x86", ["avx2"]) == FeatureSet.verbatim("x86", ["avx2"], cpu.TABLES_VERSION)
    for names, tables in (
        (["+avx2"], "99"),
        (["a b"], "99"),
        (["\u00dcn"], "99"),
        (["avx2"], "a b"),
        (["avx2"], 3),
    ):
        with pytest.raises(FieldError):
            FeatureSet.verbatim("x86", names, tables)  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError):
        FeatureSet.verbatim("x87", ["avx2"], "99")


def test_a_group_is_there_when_all_of_it_is_and_what_other_fields_state_never() -> None:
    """A profile stands for its parts; tuning and the width of the code are in no set."""
    profile = FeatureSet.closed("riscv", ["rva22u64"])
    assert "rva22u64" in profile
    assert "rva22u64" not in FeatureSet.closed("riscv", ["m", "a"])
    for name in ("64bit", "fast-bextr"):
        assert name not in X86


@pytest.mark.parametrize(
    "make",
    [
        lambda: CudaArch("90"),  # type: ignore[arg-type]
        lambda: CudaArch(9, "0"),
        lambda: CudaArch(True),
        lambda: CudaTarget(arch=(8, 10)),  # type: ignore[arg-type]
        lambda: CudaTarget(arch=(-1, 100)),  # type: ignore[arg-type]
        lambda: TargetId(3),  # type: ignore[arg-type]
        lambda: Triple(arch="x86_64", vendor="none", os="linux"),
    ],
)
def test_parts_of_targets_are_checked_when_they_are_made_alone(make: Callable[[], Any]) -> None:
    """Else two targets would be unequal and have one text, or have a text that is read as another."""
    with pytest.raises((FieldError, UnknownNameError)):
        make()


def test_a_shared_triple_cannot_be_changed_in_place() -> None:
    """One object stands for all equal triples of a process."""
    assert not hasattr(Triple.parse(LINUX), "__setstate__")
    assert Triple.parse(LINUX) == pickle.loads(pickle.dumps(Triple.parse(LINUX)))


ALL_WRONG: dict[str, Any] = {
    "kind": "cpu",
    "triple": LINUX,
    "cpu": "nope",
    "tune": "nope2",
    "features": ["avx98", "avx2", "avx99"],
    "tuning": ["+zz1", "-zz2"],
    "restrictions": ["yy"],
    "libc": "musl",
}
ALL_PLACES = [
    "cpu",
    "tune",
    "features[0]",
    "features[2]",
    "tuning[0]",
    "tuning[1]",
    "restrictions[0]",
    "libc",
]


def test_all_faults_of_names_are_told_at_once() -> None:
    """Also those that only the tables know, and also below a host."""
    assert [f"$.{place}" for place in ALL_PLACES] == paths(ALL_WRONG)
    assert [f"$.host.{place}" for place in ALL_PLACES] == paths({"kind": "cuda", "host": ALL_WRONG})


SEEDED = """
import targetspec
from targetspec import CpuTarget, FeatureSet, VulkanTarget
def told(make):
    try:
        make()
    except targetspec.TargetspecError as error:
        return repr(error)
x86 = "x86_64-linux-gnu"
print([
    told(lambda: FeatureSet.closed("x86", {"q1", "q2", "q3"})),
    told(lambda: CpuTarget(triple=x86, features={"fast-bextr", "retpoline", "avx99"})),
    told(lambda: CpuTarget(triple=x86, tuning={"+zz1", "+zz2", "-zz3"})),
    told(lambda: CpuTarget(triple=x86, tuning={"+fast-bextr", "-fast-bextr", "+idivq-to-divl", "-idivq-to-divl"})),
    told(lambda: CpuTarget(triple=x86, restrictions={"yy1", "yy2", "yy3"})),
    told(lambda: VulkanTarget(capabilities={"Aa", "Bb", "Cc"})),
    told(lambda: CpuTarget(libs={"?", "!", "a", 3})),
])
"""


def test_the_same_fault_is_told_in_every_process() -> None:
    """Whatever order its hash seed gives to sets: errors travel, and are compared."""
    said = set()
    for seed in ("0", "1", "2", "3"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(
            [sys.executable, "-c", SEEDED], capture_output=True, text=True, check=True, env=environment
        )
        said.add(done.stdout)
    assert 1 == len(said)
    assert "None" not in said.pop()


@pytest.mark.parametrize(
    "text",
    [
        '{"kind":"cpu","host":' * 10_000 + "1" + "}" * 10_000,
        '{"kind":' * 100_000,
        '{"kind":[' + "1," * 900_000 + "1]}",
        "cpu features=" + "," * 1_900_000,
        "linux/amd64" + "/" * 1_900_000,
        "cuda model=" + "%" * 1_900_000,
        '{"kind":"cuda",' + ",".join(f'"k{n}":1' for n in range(120_000)) + "}",
    ],
    ids=lambda text: text[:12],
)
def test_a_long_text_is_refused_soon(text: str) -> None:
    """By `parse`, and by `validate_text`, which looks for more faults and their places."""
    start = time.process_time()
    with pytest.raises(TargetSyntaxError):
        targetspec.parse(text)
    assert targetspec.validate_text(text)
    assert 5 > time.process_time() - start


def test_odd_names_in_documents_are_told_and_not_raised() -> None:
    """A key that is no str, a capability that is none beside a bad one, a key of a million letters twice."""
    assert ["$.a number of 16610 bits"] == paths({"kind": "cpu", 10**5000: 1})
    capabilities = ["Nope", "Int8", 5, "Int64", ""]
    assert [f"$.capabilities[{n}]" for n in (0, 2, 4)] == paths(
        {"kind": "vulkan", "capabilities": capabilities}
    )
    assert 20 == len(paths({"kind": "cuda", "libs": ["?"] * 16_000}))
    key = "x" * 900_000
    twice = f'{{"kind":"cpu","{key}":1,"{key}":1}}'
    (problem,) = targetspec.validate(twice)
    assert 400 > len(str(problem))


def test_a_byte_order_mark_is_named() -> None:
    """Editors of Windows write one."""
    (problem,) = targetspec.validate("\ufeff" + '{"kind": "cpu"}')
    assert "byte order mark" in problem.message
    assert [problem] == targetspec.validate(b"\xef\xbb\xbf" + b'{"kind": "cpu"}')


def test_faults_of_shape_and_of_names_are_told_together() -> None:
    """One reading tells what takes several to mend otherwise; where the triple is at fault, nothing is told of its names."""
    document = {**ALL_WRONG, "num_cores": -1, "featuers": 1, "host": {"kind": "cpu", "cpu": "skylak"}}
    expected = ["num_cores", "host.cpu", "featuers", *ALL_PLACES]
    assert [f"$.{place}" for place in expected] == paths(document)
    assert ["$.triple"] == paths({**ALL_WRONG, "triple": "x86_64-lnux-gnu"})


def test_a_cpu_of_another_architecture_is_named_as_such() -> None:
    """No name of this one is near."""
    with pytest.raises(UnknownNameError, match=r"'cortex-a53' for x86 \(it is one of aarch64 and arm\)$"):
        CpuTarget(triple=LINUX, cpu="cortex-a53")
    (first, second) = targetspec.validate_text(f"{LINUX} -mcpu=cortex-a53 -mattr=+avx22")
    assert "aarch64 and arm" in first.message
    assert "avx22" in second.message


@pytest.mark.parametrize("features", [["+avx2"], "avx2", "+avx2", ["-avx2"]])
def test_who_means_a_change_of_features_is_told_how_to_make_one(features: Any) -> None:
    """The field is the whole set."""
    with pytest.raises(FieldError, match=r"whole set.*with_changes"):
        CpuTarget(triple=LINUX, cpu="haswell", features=features)


def test_a_misspelt_abi_is_refused() -> None:
    """With the names that its family has; where LLVM has no choice, any is taken."""
    with pytest.raises(UnknownNameError, match="did you mean 'lp64d'"):
        CpuTarget(triple="riscv64-linux-gnu", abi="lp46d")
    with pytest.raises(UnknownNameError, match="there are ilp32"):
        CpuTarget(triple="riscv64-linux-gnu", abi="elfv2")
    assert "sysv" == CpuTarget(triple=LINUX, abi="sysv").abi
    assert ["$.abi"] == paths({"kind": "cpu", "triple": "riscv64-linux-gnu", "abi": "lp46d"})


def test_a_document_of_newer_tables_needs_no_triple() -> None:
    """A CPU alone tells the family to the version that wrote it; to this one the names of the features do."""
    bare = {name: value for name, value in FUTURE.items() if name != "triple"}
    target = targetspec.from_dict(bare)
    assert isinstance(target, CpuTarget)
    assert ("x86", bare) == (target.family, target.to_dict())
    assert target == pickle.loads(pickle.dumps(target)) == targetspec.loads(targetspec.dumps(target))
    for names in (["from-the-future"], []):
        assert "$.features" in paths({**bare, "features": names})
        with pytest.raises(FieldError, match="state a triple"):
            CpuTarget(cpu="znver9", features=FeatureSet.verbatim("x86", names, "99"))
