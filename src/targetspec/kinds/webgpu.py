"""The kind `webgpu`: a device under WebGPU, or WGSL for one."""

from __future__ import annotations

from typing import ClassVar

import attrs

from targetspec.errors import FieldError
from targetspec.kinds.device import GridTarget, limit, model, names, warp_size
from targetspec.rules import subset

_WEBGPU = "WebGPU specification: a device has the features that were asked for"
_FEATURE = r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*"


@attrs.frozen(eq=False, repr=False, kw_only=True)
class WebGPUTarget(GridTarget):
    """A device under WebGPU, or WGSL for one; `extensions` are its optional features (`shader-f16`, `subgroups`).

    Raises FieldError (also for a warp_size beyond 1 without `subgroups` among them), FieldTypeError.
    """

    kind: ClassVar[str] = "webgpu"
    about: ClassVar[str] = (
        "A device under WebGPU, or WGSL for one; `extensions` are its optional features (`shader-f16`, `subgroups`)."
    )

    extensions: frozenset[str] = names(
        "extension",
        "optional features of the standard, such as subgroups",
        (subset("extensions", _WEBGPU),),
        _FEATURE,
    )
    model: str | None = model()
    warp_size: int | None = warp_size()
    max_uniform_buffer_bytes: int | None = limit("max_uniform_buffer_bytes")
    max_storage_buffer_bytes: int | None = limit("max_storage_buffer_bytes")
    max_storage_buffers: int | None = limit("max_storage_buffers")

    def _complete(self) -> None:
        if (self.warp_size or 1) > 1 and "subgroups" not in self.extensions:
            hint = "add subgroups to extensions, or leave warp_size out"
            raise FieldError(self.kind, "warp_size", self.warp_size, "needs the extension subgroups", hint)
        super()._complete()
