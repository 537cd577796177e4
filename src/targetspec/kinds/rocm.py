"""The kind `rocm`: an AMD GPU, or code for one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import attrs

from targetspec.errors import FieldError
from targetspec.fields import Count, Flag, Refused, Shape, spec
from targetspec.gpu_amd import GENERIC, TargetId
from targetspec.kinds.device import BlockTarget, chosen, limit, model, warp_size
from targetspec.kinds.rocm_rules import GENERIC_VERSION, TARGET_ID, USAGE
from targetspec.rules import same
from targetspec.target import Target

_WAVEFRONTS = (32, 64)


@attrs.frozen
class _TargetIdShape(Shape):
    """A target id, as LLVM writes it; aliases of processors and any order of settings are read."""

    def check(self, value: Any) -> TargetId:
        if type(value) is TargetId:
            return value
        if type(value) is not str:
            raise Refused("must be a target id", "write it as 'gfx90a:sramecc+:xnack-'", wrong_type=True)
        try:
            return TargetId.parse(value)
        except FieldError as error:
            raise Refused(error.message, error.hint) from None

    def load(self, value: Any) -> TargetId:
        if type(value) is not str:
            raise Refused("must be a target id, a string", wrong_type=True)
        return self.check(value)

    def dump(self, value: Any) -> str:
        return str(value)

    def schema(self) -> dict[str, Any]:
        return {"type": "string", "pattern": r"^[a-z][a-z0-9-]*(?::(?:sramecc|xnack)[+-]){0,2}$"}


@attrs.frozen
class _Wavefront(Count):
    minimum: int = _WAVEFRONTS[0]
    maximum: int = _WAVEFRONTS[-1]

    def check(self, value: Any) -> int:
        """Accept 32 and 64."""
        if super().check(value) not in _WAVEFRONTS:
            raise Refused("must be 32 or 64")
        return int(value)

    def schema(self) -> dict[str, Any]:
        return {"type": "integer", "enum": list(_WAVEFRONTS)}


@attrs.frozen(eq=False, repr=False, kw_only=True)
class RocmTarget(BlockTarget):
    """An AMD GPU, or code for one.

    `target_id` is a TargetId or its text; a setting left out there is any. Up to gfx9 a wavefront has 64
    threads and `cumode` is on, which need not be stated; later processors have a choice of both.

    Raises UnknownNameError (a processor), FieldError, FieldTypeError.

    >>> RocmTarget(target_id="fiji") == RocmTarget(target_id="gfx803", warp_size=64)
    True
    """

    kind: ClassVar[str] = "rocm"
    about: ClassVar[str] = "An AMD GPU, or code for one."

    target_id: TargetId | None = attrs.field(
        default=None,
        metadata=spec(
            _TargetIdShape(), "the processor and its settings, such as gfx90a:xnack-", code=(TARGET_ID,)
        ),
    )
    warp_size: int | None = warp_size(_Wavefront(), (same("warp_size", USAGE),))
    cumode: bool | None = attrs.field(
        default=None,
        metadata=spec(
            Flag(), "work-groups keep to one compute unit, not to a pair", code=(same("cumode", USAGE),)
        ),
    )
    code_object_version: int | None = attrs.field(
        default=None,
        metadata=spec(
            Count(2, 6), "the version of the code object's ABI", code=(same("code_object_version", USAGE),)
        ),
    )
    generic_version: int | None = attrs.field(
        default=None,
        metadata=spec(
            Count(1, 255),
            "the version of a generic processor's code, or the first one that serves the device",
            code=(GENERIC_VERSION,),
        ),
    )
    os: str | None = chosen(
        ("amdhsa", "amdpal", "mesa3d"), "the runtime that loads the code", (same("os", USAGE),)
    )
    model: str | None = model()
    max_threads_per_core: int | None = limit("max_threads_per_core")
    registers_per_block: int | None = limit("registers_per_block")
    l2_cache_bytes: int | None = limit("l2_cache_bytes")
    memory_bytes: int | None = limit("memory_bytes")
    num_cores: int | None = limit("num_cores")

    def _complete(self) -> None:
        for name, value in self.implied().items():
            stated = getattr(self, name)
            if stated not in (None, value):
                message = f"is always {self.specs()[name].shape.write(value)} on {self.processor}"
                raise FieldError(self.kind, name, stated, message, "leave it out")
        super()._complete()

    @classmethod
    def common_candidates(
        cls, targets: Sequence[Target], fields: tuple[str, ...]
    ) -> Iterator[dict[str, Any]]:
        """Give the target ids without their settings, and the generic processors that serve them."""
        if "target_id" not in fields:
            return
        names = {
            target.processor: None
            for target in targets
            if isinstance(target, cls) and target.processor is not None
        }
        for name in (*names, *(generic for generic, served in GENERIC.items() if names.keys() & set(served))):
            yield {"target_id": TargetId(name)}

    def implied(self) -> dict[str, Any]:
        """Return the wavefront and mode of processors that have no choice."""
        if self.target_id is None or not self.target_id.is_gcn:
            return {}
        return {"warp_size": 64, "cumode": True}

    @property
    def processor(self) -> str | None:
        """The processor's name, None where no target id is stated."""
        return self.target_id.processor if self.target_id is not None else None
