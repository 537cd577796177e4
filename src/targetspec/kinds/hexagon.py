"""The kind `hexagon`: a Qualcomm DSP, or code for one."""

from __future__ import annotations

from typing import Any, ClassVar

import attrs

from targetspec.errors import FieldError
from targetspec.fields import Choice, Refused, spec
from targetspec.kinds.device import DeviceTarget, limit, model, names
from targetspec.rules import Answer, Rule, attribute, equal, subset, take_over

_VERSIONS = (
    *("v5", "v55", "v60", "v62", "v65", "v66", "v67", "v67t", "v68", "v69", "v71", "v71t", "v73", "v75"),
    *("v79", "v81"),
)
_FIRST_WITH_HVX = 60
_MANUAL = "Hexagon programmer's reference manuals: later versions run earlier code"
_PREFIX = "hexagon"


def _number(version: str) -> int:
    return int(version.strip("vt"))


def _runs(need: str | None, have: str | None) -> Answer:
    """Judge versions by number; a tiny core (`t`) runs code for tiny cores only."""
    if need is None or have is None:
        return equal(need, have)
    tiny = have.endswith("t") and not need.endswith("t")
    return "yes" if _number(need) <= _number(have) and not tiny else "no"


_VERSION = Rule(
    label="version",
    statement="must be at least the code's, and no tiny core unless the code is for one",
    source=_MANUAL,
    decide=_runs,
    demand=attribute("version"),
    promise=attribute("version"),
    advice="state version on both sides",
)

_HVX_BYTES = Rule(
    label="hvx_bytes",
    statement="code with vectors runs on that length only",
    source="LLVM must-match features hvx-length64b and hvx-length128b",
    decide=lambda need, have: "yes" if need is None else equal(need, have),
    demand=attribute("hvx_bytes"),
    promise=attribute("hvx_bytes"),
    repair=take_over("hvx_bytes"),
    advice="state hvx_bytes of the target that runs it",
)


def _hvx(target: Any) -> int | None:
    return None if target.hvx_version is None else _number(target.hvx_version)


_HVX_VERSION = Rule(
    label="hvx_version",
    statement="must be at least the code's",
    source=_MANUAL,
    decide=lambda need, have: (
        "yes" if need is None else "unknown" if have is None else "yes" if need <= have else "no"
    ),
    demand=_hvx,
    promise=_hvx,
    repair=take_over("hvx_version"),
    advice="state hvx_version, or hvx_bytes, of the target that runs it",
)


@attrs.frozen
class _VersionShape(Choice):
    """A version such as v68, which in Python and text may be LLVM's name of the CPU, hexagonv68."""

    words: tuple[str, ...] = _VERSIONS

    def check(self, value: Any) -> str:
        """Accept both spellings."""
        return super().check(value.removeprefix(_PREFIX) if type(value) is str else value)

    def load(self, value: Any) -> str:
        """Accept the short one, as documents have it."""
        if type(value) is str and value.startswith(_PREFIX):
            raise Refused(f"must be one of {', '.join(self.words)}", f"leave {_PREFIX} out")
        return self.check(value)


@attrs.frozen
class _BytesShape(Choice):
    """64 or 128."""

    words: tuple[Any, ...] = (64, 128)

    def check(self, value: Any) -> Any:
        """Accept the two numbers."""
        if type(value) is not int:
            raise Refused("must be 64 or 128", wrong_type=True)
        if value not in self.words:
            raise Refused("must be 64 or 128")
        return value

    def read(self, text: str) -> Any:
        """Accept the two numbers in digits."""
        return self.check(int(text) if text in ("64", "128") else -1)


@attrs.frozen(eq=False, repr=False, kw_only=True)
class HexagonTarget(DeviceTarget):
    """A Qualcomm DSP, or code for one.

    `hvx_bytes` is the length of a vector, where there are vectors; `hvx_version` is that of the core unless
    stated. A DSP may be the host of itself.

    Raises FieldError, FieldTypeError.

    >>> HexagonTarget(version="hexagonv68", hvx_bytes=128).hvx_version
    'v68'
    """

    kind: ClassVar[str] = "hexagon"
    about: ClassVar[str] = "A Qualcomm DSP, or code for one."
    host_capable: ClassVar[bool] = True

    version: str | None = attrs.field(
        default=None, metadata=spec(_VersionShape(), "the version of the core, such as v68", code=(_VERSION,))
    )
    hvx_bytes: int | None = attrs.field(
        default=None, metadata=spec(_BytesShape(), "length of a vector", unit="byte", code=(_HVX_BYTES,))
    )
    hvx_version: str | None = attrs.field(
        default=None,
        metadata=spec(_VersionShape(), "the version of the vector extension", code=(_HVX_VERSION,)),
    )
    extensions: frozenset[str] = names(
        "extension",
        "optional parts of the instruction set by LLVM's names, such as hvx-qfloat",
        (subset("extensions", "what the code uses must be there"),),
        r"[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*",
    )
    vtcm_bytes: int | None = limit("vtcm_bytes")
    model: str | None = model()
    max_num_threads: int | None = limit("max_num_threads")
    l2_cache_bytes: int | None = limit("l2_cache_bytes")
    num_cores: int | None = limit("num_cores")

    def _complete(self) -> None:
        if self.hvx_version is not None and self.hvx_bytes is None:
            raise FieldError(
                self.kind, "hvx_version", self.hvx_version, "needs hvx_bytes", "state hvx_bytes as well"
            )
        if (
            self.hvx_bytes is not None
            and self.version is not None
            and _number(self.version) < _FIRST_WITH_HVX
        ):
            raise FieldError(self.kind, "hvx_bytes", self.hvx_bytes, f"{self.version} has no vectors")
        super()._complete()

    def implied(self) -> dict[str, Any]:
        """Return the version of the vector extension, where there is one: the core's."""
        if self.hvx_bytes is None or self.version is None:
            return {}
        return {"hvx_version": self.version}
