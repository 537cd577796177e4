"""Named devices and boards: each is a lawful value, and close names are offered for others."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

import targetspec
from targetspec import (
    CpuTarget,
    CudaTarget,
    FieldTypeError,
    HexagonTarget,
    MetalTarget,
    UnknownNameError,
    from_dict,
    loads,
    parse,
    registry,
    tag,
    tags,
)
from targetspec.cpu_tables import cpu_index

_DATA = Path(tags.__file__).parent / "data" / "tags.txt"
_LINES = [line for line in _DATA.read_text("ascii").splitlines() if not line.startswith("#")]
_XAVIER_HOST = CpuTarget(triple="aarch64-linux-gnu", cpu="carmel", num_cores=8)
_KNOWN_VALUES = {
    "nvidia/nvidia-h100": CudaTarget(
        arch="sm_90a",
        max_threads_per_block=1024,
        max_num_threads=1024,
        max_shared_memory_per_block=49152,
        warp_size=32,
        registers_per_block=65536,
        l2_cache_bytes=52428800,
    ),
    "nvidia/tesla-c2050": CudaTarget(
        arch="sm_20",
        max_threads_per_block=1024,
        max_num_threads=1024,
        max_shared_memory_per_block=49152,
        warp_size=32,
        registers_per_block=32768,
    ),
    "nvidia/jetson-agx-xavier": CudaTarget(
        arch="sm_72",
        max_threads_per_block=1024,
        max_num_threads=1024,
        max_shared_memory_per_block=49152,
        warp_size=32,
        registers_per_block=65536,
        host=_XAVIER_HOST,
    ),
    "apple/m1-gpu-restricted": MetalTarget(
        max_threads_per_block=256,
        max_num_threads=256,
        max_shared_memory_per_block=32768,
        warp_size=32,
        max_function_args=31,
        host=CpuTarget(triple="aarch64-apple-macosx", cpu="apple-m1"),
    ),
    "qcom/hexagon-v68": HexagonTarget(
        version="v68", hvx_bytes=128, extensions={"hvx-qfloat"}, vtcm_bytes=4 << 20, num_cores=4
    ),
    "aws/cpu/c5.24xlarge": CpuTarget(cpu="cascadelake", num_cores=48),
    "riscv/licheepi3a": CpuTarget(
        triple="riscv64-unknown-linux-gnu", cpu="spacemit-x60", abi="lp64d", float_abi="hard", num_cores=8
    ),
}


@pytest.mark.parametrize("name", sorted(_KNOWN_VALUES))
def test_a_tag_is_the_target_it_names(name: str) -> None:
    """Facts typed in from the makers' tables and TVM's tags."""
    assert _KNOWN_VALUES[name] == tag(name)


def test_every_tag_survives_every_way_of_keeping_it() -> None:
    """JSON, text, dict and pickle give the target of each tag back, with its hash and digest."""
    for name in tags.tag_names():
        target = tag(name)
        for again in (
            loads(targetspec.dumps(target)),
            parse(str(target)),
            from_dict(target.to_dict()),
            pickle.loads(pickle.dumps(target)),
        ):
            assert (name, target, hash(target), target.digest) == (name, again, hash(again), again.digest)


def test_names_are_the_lines_of_the_data() -> None:
    """One line a tag, sorted, none twice."""
    names = [line.split()[0] for line in _LINES]
    assert tuple(names) == tags.tag_names()
    assert sorted(set(names)) == names


def test_a_makers_name_need_not_be_said_twice() -> None:
    """`nvidia/h100` is `nvidia/nvidia-h100`; a name that is there as it stands comes first."""
    assert tag("nvidia/nvidia-h100") == tag("nvidia/h100")
    assert tag("nvidia/nvidia-titan-v") == tag("nvidia/titan-v")
    assert "sm_86" == str(tag("nvidia/rtx-a6000").arch)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("nvidia/h10", "nvidia/nvidia-h100"),
        ("h100", "nvidia/nvidia-h100"),
        ("nvidia/rtx4090", "nvidia/geforce-rtx-4090"),
        ("NVIDIA/NVIDIA-H100", "nvidia/nvidia-h100"),
        ("arm/rasp3", "arm/rasp3b"),
        ("xavier", "nvidia/jetson-agx-xavier"),
        ("nvidia/jetson_nano", "nvidia/jetson-nano"),
        ("nvidia/h200", "nvidia/nvidia-h100"),
        ("Nvidia/B200", "nvidia/nvidia-b100"),
        ("nvidia/geforce-rtx-4080", "nvidia/geforce-rtx-4090"),
        ("nvidia/geforce-rtx-40900", "nvidia/geforce-rtx-4090"),
        ("nvidia/jetson-nanno", "nvidia/jetson-nano"),
        ("qcom/hexagon-v79", "qcom/hexagon-v75"),
        ("aws/cpu/c6.large", "aws/cpu/c5.large"),
        ("apple/m4", "apple/m2-gpu"),
    ],
)
def test_close_names_are_offered(name: str, near: str) -> None:
    """An unknown tag is refused with the tag that was meant first."""
    with pytest.raises(UnknownNameError) as caught:
        tag(name)
    assert ("tag", name, near) == (caught.value.what, caught.value.name, caught.value.near[0])
    assert caught.value == pickle.loads(pickle.dumps(caught.value))


@pytest.mark.parametrize("name", ["nvidia/h200", "qcom/hexagon-v81", "apple/m4-gpu"])
def test_names_of_one_series_are_of_one_maker(name: str) -> None:
    """No other maker's device is offered where the maker has one of the series."""
    with pytest.raises(UnknownNameError) as caught:
        tag(name)
    maker = name.partition("/")[0]
    assert {maker} == {near.partition("/")[0] for near in caught.value.near}


@pytest.mark.parametrize("name", ["nvidia/h200", "NVIDIA/H100"])
def test_an_unknown_tag_says_whose_list_it_is_and_what_to_write(name: str) -> None:
    """The list is TVM's, its names are lower case, and a target says what no tag does."""
    with pytest.raises(UnknownNameError) as caught:
        tag(name)
    message = str(caught.value)
    assert "TVM 0.27" in message
    assert "cuda arch=sm_90a" in message
    assert (name != name.lower()) == ("lower case" in message)


@pytest.mark.parametrize("name", ["", "/", "nvidia/", "x" * 5000, "nvidia/nvidia-h100 ", "#", "\0"])
def test_what_is_no_name_is_refused(name: str) -> None:
    """Nothing is trimmed or guessed."""
    with pytest.raises(UnknownNameError):
        tag(name)


@pytest.mark.parametrize("name", [None, 3, b"nvidia/h100", ["nvidia/h100"]])
def test_a_name_is_a_str(name: object) -> None:
    """Another type is refused as such."""
    with pytest.raises(FieldTypeError, match="must be a str"):
        tag(name)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", sorted(tags._WITHOUT_VALUE))
def test_tags_without_a_value_say_what_is_missing(name: str) -> None:
    """A tag of TVM's that no kind or table here can say is refused for that reason, and is not listed."""
    what, missing = tags._WITHOUT_VALUE[name]
    with pytest.raises(UnknownNameError, match=missing) as caught:
        tag(name)
    assert what == caught.value.what
    assert name in caught.value.scope
    assert name not in tags.tag_names()
    assert missing not in (registry.kind_names() if what == "kind" else cpu_index())


def test_a_tag_is_one_value() -> None:
    """Asked for twice, it is the same object: targets are immutable."""
    assert tag("nvidia/h100") is tag("nvidia/nvidia-h100")
