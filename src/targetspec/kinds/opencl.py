"""The kind `opencl`: a device under OpenCL, or code for one."""

from __future__ import annotations

from typing import ClassVar

import attrs

from targetspec.fields import Version, spec
from targetspec.kinds.device import GridTarget, device, limit, model, names, warp_size
from targetspec.rules import floor, subset, version_key

_OPENCL = "OpenCL specification: versions are backwards compatible, extensions are not implied"


@attrs.frozen(eq=False, repr=False, kw_only=True)
class OpenCLTarget(GridTarget):
    """A device under OpenCL, or code for one.

    `extensions` holds extensions (`cl_khr_fp16`) and, of OpenCL C 3.0, optional features
    (`__opencl_c_subgroups`).

    Raises FieldError, FieldTypeError.
    """

    kind: ClassVar[str] = "opencl"
    about: ClassVar[str] = "A device under OpenCL, or code for one."

    opencl_version: str | None = attrs.field(
        default=None,
        metadata=spec(
            Version(),
            "the version of OpenCL",
            code=(
                floor(
                    "opencl_version",
                    _OPENCL,
                    demand=lambda target: version_key(target.opencl_version),
                    promise=lambda target: version_key(target.opencl_version),
                ),
            ),
        ),
    )
    extensions: frozenset[str] = names(
        "extension",
        "extensions, and optional features of OpenCL C",
        (subset("extensions", _OPENCL),),
        r"cl(?:es)?_[A-Za-z0-9_]+|__opencl_c_[a-z0-9_]+",
    )
    device: str | None = device()
    model: str | None = model()
    warp_size: int | None = warp_size()
    max_function_args: int | None = limit("max_function_args")
    image_base_address_alignment: int | None = limit("image_base_address_alignment")
    texture_spatial_limit: int | None = limit("texture_spatial_limit")
    texture_depth_limit: int | None = limit("texture_depth_limit")
    memory_bytes: int | None = limit("memory_bytes")
    num_cores: int | None = limit("num_cores")
