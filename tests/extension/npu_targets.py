"""A kind of target from another package: a neural processing unit, as the page "A kind of your own" explains it."""

from __future__ import annotations

from typing import ClassVar

import attrs

from targetspec.fields import Choice, Count, spec
from targetspec.kinds.device import DeviceTarget, model
from targetspec.rules import floor, needed, same

MANUAL = "NPU programmer's manual, section 2"


@attrs.frozen(eq=False, repr=False, kw_only=True)
class NpuTarget(DeviceTarget):
    """A neural processing unit, or code for one."""

    kind: ClassVar[str] = "npu"
    about: ClassVar[str] = "A neural processing unit, or code for one."
    required: ClassVar[tuple[str, ...]] = ("arch",)

    arch: str | None = attrs.field(
        default=None,
        metadata=spec(Choice(("npu1", "npu2", "npu2e")), "the instruction set", code=(same("arch", MANUAL),)),
    )
    sram_bytes: int | None = attrs.field(
        default=None,
        metadata=spec(
            Count(1024, 1 << 32),
            "scratch memory that the code plans with, or that is there",
            unit="byte",
            code=(floor("sram_bytes", MANUAL),),
            need=needed("sram_bytes"),
        ),
    )
    tiles: int | None = attrs.field(
        default=None,
        metadata=spec(Count(1, 64), "compute tiles", unit="tile", code=(floor("tiles", MANUAL),)),
    )
    firmware: str | None = attrs.field(
        default=None, metadata=spec(Choice(("stable", "beta")), "the line of firmware", tunes=False)
    )
    model: str | None = model()
