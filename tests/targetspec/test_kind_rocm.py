"""Facts of AMD GPUs: target ids, generic processors, and what must match."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from targetspec import FieldError, FieldTypeError, RocmTarget, UnknownNameError
from targetspec.gpu_amd import TargetId


def rocm(target_id: str | None, **fields: Any) -> RocmTarget:
    """Return a target in few words."""
    return RocmTarget(target_id=target_id, **fields)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("gfx90a", "gfx90a"),
        ("gfx90a:xnack-:sramecc+", "gfx90a:sramecc+:xnack-"),
        ("fiji", "gfx803"),
        ("stoney:xnack+", "gfx810:xnack+"),
        ("gfx9-4-generic:sramecc+", "gfx9-4-generic:sramecc+"),
    ],
)
def test_a_target_id_has_one_text(text: str, written: str) -> None:
    """Aliases are resolved, and settings come in alphabetical order."""
    assert written == str(TargetId.parse(text))
    assert rocm(text) == rocm(written)
    assert rocm(text).target_id == pickle.loads(pickle.dumps(rocm(text))).target_id


@pytest.mark.parametrize(
    "text",
    [
        "gfx1030:xnack+",
        "gfx900:sramecc+",
        "gfx90a:tgsplit+",
        "gfx90a:xnack+:xnack+",
        "gfx90a:xnack",
        "gfx1250:xnack+",
    ],
)
def test_settings_that_a_processor_lacks_are_refused(text: str) -> None:
    """A processor takes the settings that it has, each once, with a sign."""
    with pytest.raises(FieldError, match="target_id"):
        rocm(text)


@pytest.mark.parametrize("text", ["gfx90", "GFX908", "generic", " gfx90a", "", "gfx908xnack", "banana"])
def test_an_unknown_processor_has_near_names(text: str) -> None:
    """A processor that LLVM does not have is refused with those that it has."""
    with pytest.raises(UnknownNameError) as caught:
        rocm(text)
    assert caught.value.near


def test_wrong_types_and_values_are_refused() -> None:
    """A wavefront is 32 or 64, and cumode a bool."""
    with pytest.raises(FieldError, match="32 or 64"):
        rocm("gfx1030", warp_size=48)
    with pytest.raises(FieldTypeError):
        rocm("gfx1030", cumode=1)
    with pytest.raises(FieldTypeError):
        RocmTarget(target_id=90)  # type: ignore[arg-type]
    with pytest.raises(FieldError, match="True, False or None"):
        TargetId("gfx90a", xnack=1)  # type: ignore[arg-type]


def test_what_a_processor_has_no_choice_of_need_not_be_stated() -> None:
    """Up to gfx9 a wavefront is 64 wide, and nothing else can be stated."""
    assert (64, True) == (rocm("gfx90a").warp_size, rocm("gfx90a").cumode)
    assert {"kind": "rocm", "target_id": "gfx90a"} == rocm("gfx90a", warp_size=64, cumode=True).to_dict()
    assert (None, None) == (rocm("gfx1030").warp_size, rocm("gfx1030").cumode)
    assert None is rocm("gfx1010").warp_size
    assert None is rocm("gfx90a").evolve(target_id="gfx1030").warp_size
    with pytest.raises(FieldError, match="always 64"):
        rocm("gfx90a", warp_size=32)
    with pytest.raises(FieldError, match="always true"):
        rocm("gfx9-generic", cumode=False)


@pytest.mark.parametrize(
    ("code", "device", "answer"),
    [
        ("gfx90a", "gfx90a:xnack-", "yes"),
        ("gfx90a:xnack+", "gfx90a:xnack-", "no"),
        ("gfx90a:xnack+", "gfx90a", "unknown"),
        ("gfx90a:xnack-", "gfx90a:sramecc+:xnack-", "yes"),
        ("gfx9-4-generic", "gfx950", "yes"),
        ("gfx942", "gfx9-4-generic", "no"),
        ("gfx9-generic", "gfx908", "no"),
        ("gfx11-generic", "gfx1151", "yes"),
        ("gfx1030", "gfx1031", "no"),
        (None, "gfx1031", "unknown"),
    ],
)
def test_known_answers(code: str | None, device: str, answer: str) -> None:
    """Generic code serves its processors, one way; a setting left out is any."""
    assert answer == rocm(code).compatible(rocm(device)).answer


@pytest.mark.parametrize(
    ("field", "one", "other"),
    [
        ("warp_size", 32, 64),
        ("cumode", True, False),
        ("code_object_version", 5, 6),
        ("os", "amdhsa", "amdpal"),
    ],
)
def test_what_must_match(field: str, one: Any, other: Any) -> None:
    """An identity that differs blocks, and one that is not stated is undecided."""
    code = rocm("gfx1030", **{field: one})
    assert "yes" == code.compatible(code).answer
    assert "unknown" == code.compatible(rocm("gfx1030")).answer
    verdict = code.compatible(rocm("gfx1030", **{field: other}))
    assert "no" == verdict.answer
    assert (field, one) == verdict.reasons[0].repair


def test_generic_code_must_be_new_enough_for_the_device() -> None:
    """A device may be served from some version of its generic processor on."""
    code = rocm("gfx11-generic", generic_version=1)
    assert code.compatible(rocm("gfx1100"))
    assert code.compatible(rocm("gfx1100", generic_version=1))
    assert "no" == code.compatible(rocm("gfx1153", generic_version=2)).answer


def test_the_repair_of_a_setting_keeps_the_processor() -> None:
    """Only the setting that stands in the way changes."""
    verdict = rocm("gfx9-4-generic:xnack+").compatible(rocm("gfx942:sramecc+:xnack-"))
    assert ("target_id", TargetId.parse("gfx942:sramecc+:xnack+")) == verdict.reasons[0].repair
