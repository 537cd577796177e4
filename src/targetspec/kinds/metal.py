"""The kind `metal`: an Apple GPU under Metal, or code for one."""

from __future__ import annotations

import re
from typing import Any, ClassVar

import attrs

from targetspec.errors import FieldError
from targetspec.fields import Text, Version, spec
from targetspec.kinds.device import BlockTarget, chosen, limit, model, warp_size
from targetspec.rules import (
    Answer,
    Rule,
    at_most,
    attribute,
    lifting,
    same,
    show,
    take_over,
    version_key,
    worst,
)

_SPECIFICATION = "Metal Shading Language Specification"
_DEPLOYMENT = "deployment targets: code for an older system runs on a newer one"
_SYSTEMS = (
    *("macos", "maccatalyst", "ios", "tvos", "visionos"),
    *("ios-simulator", "tvos-simulator", "visionos-simulator"),
)
Versions = tuple[tuple[int, ...] | None, tuple[int, ...] | None]
# The first version of a system with each version of the language, newest first.
_ON_MACOS = (
    ("4.0", (26,)),
    ("3.2", (15,)),
    ("3.1", (14,)),
    ("3.0", (13,)),
    ("2.4", (12,)),
    ("2.3", (11,)),
    ("2.2", (10, 15)),
    ("2.1", (10, 14)),
    ("2.0", (10, 13)),
    ("1.2", (10, 12)),
    ("1.1", (10, 11)),
)
_ON_IOS = (
    ("4.0", (26,)),
    ("3.2", (18,)),
    ("3.1", (17,)),
    ("3.0", (16,)),
    ("2.4", (15,)),
    ("2.3", (14,)),
    ("2.2", (13,)),
    ("2.1", (12,)),
    ("2.0", (11,)),
    ("1.2", (10,)),
    ("1.1", (9,)),
    ("1.0", (8,)),
)
_LANGUAGES = {"macos": _ON_MACOS, "ios": _ON_IOS, "tvos": _ON_IOS}
# Apple's own line grows with its chips; the others are as Metal's headers list them.
_FAMILY = r"(?:apple[1-9][0-9]?|common[1-3]|mac[12]|metal[34])"
_ON_A_MAC = ("macos", "maccatalyst")
_FIRST_WITH_METAL3 = 7


def _demanded(target: Any) -> Versions:
    return version_key(target.language_version), version_key(target.deployment_target)


def _promised(target: Any) -> Versions:
    """Return the newer of the language that is stated and the one that the system brings, and the system's version."""
    stated, system = _demanded(target)
    return max(filter(None, (stated, version_key(_brought(target)))), default=None), system


def _brought(target: Any) -> str | None:
    if target.deployment_target is None:
        return None
    system = tuple(int(part) for part in target.deployment_target.split("."))
    return next((language for language, first in _LANGUAGES.get(target.os, ()) if system >= first), None)


def _serve(need: Versions, have: Versions) -> Answer:
    return worst(map(at_most, need, have))


def _say(need: Versions, have: Versions) -> tuple[str, str]:
    return _written(need), _written(have)


def _written(versions: Versions) -> str:
    named = zip(("Metal", "system version"), versions, strict=True)
    return " with ".join(f"{name} {show(version)}" for name, version in named if version) or show(None)


def _repair(built_for: Any, run_on: Any) -> tuple[str, Any] | None:
    need = _demanded(built_for)
    stated = [(name, getattr(built_for, name)) for name in ("language_version", "deployment_target")]
    bringing = [(language, ".".join(map(str, first))) for language, first in _LANGUAGES.get(run_on.os, ())]
    systems = [
        ("deployment_target", system)
        for language, system in bringing
        if language == built_for.language_version
    ]
    return lifting(run_on, (*stated, *systems), lambda mended: _serve(need, _promised(mended)))


_VERSIONS = Rule(
    label="language_version",
    statement="the versions of Metal and of the system must be at least the code's; each system brings a Metal",
    source=f"{_SPECIFICATION}; {_DEPLOYMENT}",
    decide=_serve,
    demand=_demanded,
    promise=_promised,
    say=_say,
    repair=_repair,
    advice="state deployment_target, or language_version, of the target that runs it",
)


def _families(target: Any) -> tuple[str, ...]:
    """Return the family that is stated, and those of other lines that every GPU of it has."""
    family = target.gpu_family
    if family is None:
        return ()
    if not family.startswith("apple") or _number(family) < _FIRST_WITH_METAL3:
        return (family,)
    return (family, "metal3", "mac2") if target.os in _ON_A_MAC else (family, "metal3")


def _family_serves(need: str | None, have: tuple[str, ...]) -> Answer:
    """Judge families of one line by number; what a line does not say of another is not known."""
    if need is None:
        return "yes"
    if any(_line(need) == _line(one) and _number(need) <= _number(one) for one in have):
        return "yes"
    return "no" if have and _line(need) == _line(have[0]) else "unknown"


def _line(family: str) -> str:
    return family.rstrip("0123456789")


def _number(family: str) -> int:
    return int(re.sub(r"\D", "", family))


_GPU_FAMILY = Rule(
    label="gpu_family",
    statement="must be at least the code's, in its line or in one that the runner's implies",
    source="Metal Feature Set Tables",
    decide=_family_serves,
    demand=attribute("gpu_family"),
    promise=_families,
    say=lambda need, have: (show(need), " with ".join(have) or show(None)),
    repair=take_over("gpu_family"),
    advice="state gpu_family of the target that runs it, in the line (apple, mac, metal) that the code names",
)


# Another system is another platform, as another architecture is: versions mean something else there.
_OS = attrs.evolve(same("os", "macOS, iOS and the simulators never interchange"), repair=None)


@attrs.frozen(eq=False, repr=False, kw_only=True)
class MetalTarget(BlockTarget):
    """An Apple GPU under Metal, or code for one.

    `language_version` is Metal's, `gpu_family` Apple's name in small letters (`apple7`, `mac2`, `metal3`),
    `deployment_target` the oldest version of `os` that the code is for, or the version that is there.

    Raises FieldError, FieldTypeError.

    >>> code = MetalTarget(os="macos", language_version="3.1")
    >>> code.compatible(MetalTarget(os="macos", deployment_target="14.2")).answer
    'yes'
    """

    kind: ClassVar[str] = "metal"
    about: ClassVar[str] = "An Apple GPU under Metal, or code for one."

    language_version: str | None = attrs.field(
        default=None,
        metadata=spec(
            Version(),
            "the version of the Metal Shading Language",
            code=(_VERSIONS,),
        ),
    )
    gpu_family: str | None = attrs.field(
        default=None,
        metadata=spec(
            Text(_FAMILY, "a GPU family such as apple7"), "the family of GPUs", code=(_GPU_FAMILY,)
        ),
    )
    os: str | None = chosen(_SYSTEMS, "the system; simulators are systems of their own", (_OS,))
    deployment_target: str | None = attrs.field(
        default=None,
        metadata=spec(
            Version(),
            "the oldest version of the system that the code is for, or the version that is there",
            code=(_VERSIONS,),
            tunes=False,
        ),
    )
    model: str | None = model()
    warp_size: int | None = warp_size()
    max_function_args: int | None = limit("max_function_args")
    memory_bytes: int | None = limit("memory_bytes")
    num_cores: int | None = limit("num_cores")

    def _complete(self) -> None:
        if self.deployment_target is not None and self.os is None:
            raise FieldError(
                self.kind, "deployment_target", self.deployment_target, "needs os", "state os as well"
            )
        # What old programs are told that macOS 11 is.
        if self.os == "macos" and self.deployment_target == "10.16":
            self._store("deployment_target", "11.0")
        super()._complete()
