"""What kinds of devices share: the names of their limits, and `link`, which for a device is `code` both ways."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from targetspec.fields import Choice, Count, NameSet, Shape, Spec, Text, spec
from targetspec.rules import Purpose, Rule, at_most, attribute, both_ways, equal
from targetspec.target import Target, frozen_names

# One vocabulary for all kinds: each limit's doc and unit. A block's limits come first.
LIMITS: dict[str, tuple[str, str]] = {
    "max_threads_per_block": ("most threads in a block (a workgroup)", "thread"),
    "max_num_threads": ("threads in a block that schedules start by themselves", "thread"),
    "max_block_size_x": ("most threads in a block along x", "thread"),
    "max_block_size_y": ("most threads in a block along y", "thread"),
    "max_block_size_z": ("most threads in a block along z", "thread"),
    "max_threads_per_core": ("most threads resident on one core (a multiprocessor)", "thread"),
    "max_shared_memory_per_block": ("memory that the threads of a block can share", "byte"),
    "max_shared_memory_per_core": ("memory of that kind on one core (a multiprocessor)", "byte"),
    "warp_size": ("threads that run in step: a warp, wavefront, SIMD group or subgroup", "thread"),
    "registers_per_block": ("32-bit registers that a block can use", "register"),
    "registers_per_thread": ("32-bit registers that a thread can use", "register"),
    "max_function_args": ("most arguments of a kernel", ""),
    "max_push_constants_bytes": ("push constants of a kernel", "byte"),
    "max_uniform_buffer_bytes": ("largest uniform buffer", "byte"),
    "max_storage_buffer_bytes": ("largest storage buffer", "byte"),
    "max_storage_buffers": ("most storage buffers of a kernel", ""),
    "image_base_address_alignment": ("alignment of an image's base address", "pixel"),
    "texture_spatial_limit": ("largest width or height of an image", "pixel"),
    "texture_depth_limit": ("largest depth of an image, or layers of an array", "pixel"),
    "l2_cache_bytes": ("level 2 cache", "byte"),
    "vtcm_bytes": ("memory tightly coupled with the vector unit", "byte"),
    "memory_bytes": ("memory of the device", "byte"),
    "num_cores": ("cores: multiprocessors, compute units, or hardware threads", "core"),
}
_LONGEST_NAME = 200
NAME = r"[A-Za-z][A-Za-z0-9_]*"


def limit(name: str) -> Any:
    """Return the declaration of a limit of the vocabulary; it decides only where a need of its name is stated."""
    doc, unit = LIMITS[name]
    need = Rule(
        label=f"needs.{name}",
        statement="must be at least what is needed",
        source="stated need",
        decide=at_most,
        demand=attribute(name),
        promise=attribute(name),
        advice=f"state {name} of the target that runs it",
    )
    return attrs.field(default=None, metadata=spec(Count(), doc, unit=unit, need=need))


def warp_size(shape: Shape | None = None, code: tuple[Rule, ...] = ()) -> Any:
    """Return the declaration of the threads that run in step; a need of them must be met exactly."""
    need = Rule(
        label="needs.warp_size",
        statement="must be what the configuration is written for",
        source="stated need",
        decide=equal,
        demand=attribute("warp_size"),
        promise=attribute("warp_size"),
        advice="state warp_size of the target that runs it",
    )
    doc, unit = LIMITS["warp_size"]
    declared = spec(shape or Count(1, 1024), doc, unit=unit, code=code, need=need)
    return attrs.field(default=None, metadata=declared)


def names(what: str, doc: str, code: tuple[Rule, ...], pattern: str = NAME) -> Any:
    """Return the declaration of a set of names, which is empty where nothing is stated."""
    declared = spec(NameSet(pattern, what), doc, code=code)
    return attrs.field(default=frozenset(), converter=frozen_names, metadata=declared)


def chosen(words: tuple[str, ...], doc: str, code: tuple[Rule, ...] = ()) -> Any:
    """Return the declaration of a field that is one of a few words."""
    return attrs.field(default=None, metadata=spec(Choice(words), doc, code=code))


@attrs.frozen
class PlainName(Text):
    """A name as makers and drivers write it, in printable ASCII; its text form hides spaces and brackets."""

    pattern: str = rf"[!-~](?:[ -~]{{0,{_LONGEST_NAME - 2}}}[!-~])?"
    what: str = f"a name of at most {_LONGEST_NAME} printable ASCII characters"

    def write(self, value: Any) -> str:
        """Write what the text form has its own use for as %XX."""
        return "".join(f"%{ord(c):02X}" if c in " %[]" else c for c in value)

    def read(self, text: str) -> str:
        """Read what `write` gives."""
        first, *rest = text.split("%")
        return self.check(first + "".join(_unescaped(part) for part in rest))


def _unescaped(part: str) -> str:
    known = {"20": " ", "25": "%", "5B": "[", "5D": "]"}
    return known.get(part[:2], f"%{part[:2]}") + part[2:]


def model() -> Any:
    """Return the declaration of the name that a device goes by."""
    return attrs.field(default=None, metadata=spec(PlainName(), "the name of the device or its board"))


def device() -> Any:
    """Return the declaration of the line of devices that schedules are written for."""
    doc = "the line of devices that schedules are written for, such as adreno or mali"
    return attrs.field(default=None, metadata=spec(PlainName(), doc))


_LINK: dict[type[Target], tuple[Rule, ...]] = {}


def _fields_of(cls: type[Target], rule: Rule) -> tuple[str, ...]:
    """Return the fields that a rule is shared by."""
    return tuple(name for name, one in cls.specs().items() if rule in one.rules["code"])


@attrs.frozen(eq=False, repr=False, kw_only=True)
class DeviceTarget(Target):
    """The base of the kinds of devices: linking asks what running asks, both ways."""

    @classmethod
    def rules(cls, purpose: Purpose) -> tuple[Rule, ...]:
        """Return the rules of the relation for a purpose, each once."""
        if purpose != "link":
            return super().rules(purpose)
        if cls not in _LINK:
            _LINK[cls] = tuple(both_ways(rule, _fields_of(cls, rule)) for rule in cls.rules("code"))
        return _LINK[cls]


@attrs.frozen(eq=False, repr=False, kw_only=True)
class BlockTarget(DeviceTarget):
    """The base of the kinds whose threads run in blocks (workgroups): what a block may have."""

    max_threads_per_block: int | None = limit("max_threads_per_block")
    max_num_threads: int | None = limit("max_num_threads")
    max_shared_memory_per_block: int | None = limit("max_shared_memory_per_block")

    @classmethod
    def specs(cls) -> Mapping[str, Spec]:
        """Return the declarations by name: each limit of this base in its place among the kind's own."""
        if cls not in _PLACED:
            _PLACED[cls] = _placed(super().specs())
        return _PLACED[cls]


@attrs.frozen(eq=False, repr=False, kw_only=True)
class GridTarget(BlockTarget):
    """The base of the kinds that bound a block along each axis."""

    max_block_size_x: int | None = limit("max_block_size_x")
    max_block_size_y: int | None = limit("max_block_size_y")
    max_block_size_z: int | None = limit("max_block_size_z")


_PLACED: dict[type[Target], Mapping[str, Spec]] = {}
_SHARED = tuple(name for name in LIMITS if name in attrs.fields_dict(GridTarget))


def _placed(declared: Mapping[str, Spec]) -> Mapping[str, Spec]:
    """Return the declarations with the shared limits among those behind the model, in the order of the vocabulary."""
    places = list(LIMITS)
    names = [name for name in declared if name not in _SHARED]
    for name in filter(declared.__contains__, _SHARED):
        behind = names.index("model") if "model" in names else 0
        later = (at for at in range(behind, len(names)) if names[at] in places[places.index(name) :])
        names.insert(next(later, len(names)), name)
    return {name: declared[name] for name in names}
