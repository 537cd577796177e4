"""What kinds of devices share: the names of their limits, and `link`, which for a device is `code` both ways."""

from __future__ import annotations

from typing import Any

import attrs

from targetspec.fields import Choice, Count, NameSet, Shape, Text, spec
from targetspec.rules import Answer, Purpose, Rule, at_most, attribute, equal, worst
from targetspec.target import Target, frozen_names

# One vocabulary for all kinds: each limit's doc and unit.
LIMITS: dict[str, tuple[str, str]] = {
    "max_threads_per_block": ("most threads in a block (a workgroup)", "thread"),
    "max_num_threads": ("threads in a block that schedules start by themselves", "thread"),
    "max_block_size_x": ("most threads in a block along x", "thread"),
    "max_block_size_y": ("most threads in a block along y", "thread"),
    "max_block_size_z": ("most threads in a block along z", "thread"),
    "max_shared_memory_per_block": ("memory that the threads of a block can share", "byte"),
    "max_shared_memory_per_core": ("memory of that kind on one core (a multiprocessor)", "byte"),
    "max_threads_per_core": ("most threads resident on one core (a multiprocessor)", "thread"),
    "registers_per_block": ("32-bit registers that a block can use", "register"),
    "registers_per_thread": ("32-bit registers that a thread can use", "register"),
    "l2_cache_bytes": ("level 2 cache", "byte"),
    "vtcm_bytes": ("memory tightly coupled with the vector unit", "byte"),
    "memory_bytes": ("memory of the device", "byte"),
    "num_cores": ("cores: multiprocessors, compute units, or hardware threads", "core"),
    "max_function_args": ("most arguments of a kernel", ""),
    "max_push_constants_bytes": ("push constants of a kernel", "byte"),
    "max_uniform_buffer_bytes": ("largest uniform buffer", "byte"),
    "max_storage_buffer_bytes": ("largest storage buffer", "byte"),
    "max_storage_buffers": ("most storage buffers of a kernel", ""),
    "image_base_address_alignment": ("alignment of an image's base address", "pixel"),
    "texture_spatial_limit": ("largest width or height of an image", "pixel"),
    "texture_depth_limit": ("largest depth of an image, or layers of an array", "pixel"),
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
    doc = "threads that run in step: a warp, wavefront, SIMD group or subgroup"
    declared = spec(shape or Count(1, 1024), doc, unit="thread", code=code, need=need)
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


def both_ways(rule: Rule) -> Rule:
    """Return the rule that two targets can each take the other's place."""

    def decide(need: Any, have: Any) -> Answer:
        return worst((rule.decide(need[0], have[1]), rule.decide(have[0], need[1])))

    def view(target: Any) -> Any:
        return rule.demand(target), rule.promise(target)

    def say(need: Any, have: Any) -> tuple[str, str]:
        if rule.decide(need[0], have[1]) != "yes":
            return rule.say(need[0], have[1])
        there, here = rule.say(have[0], need[1])
        return here, there

    def repair(built_for: Any, run_on: Any) -> tuple[str, Any] | None:
        if rule.repair is None or rule.label not in run_on.specs():
            return None
        return lifting(built_for, run_on, (rule.label,), lambda mended: decide(view(built_for), view(mended)))

    return Rule(
        label=rule.label,
        statement=f"{rule.statement}, both ways",
        source=rule.source,
        decide=decide,
        demand=view,
        promise=view,
        say=say,
        repair=repair,
        advice=rule.advice,
    )


def lifting(built_for: Any, run_on: Any, fields: tuple[str, ...], decide: Any) -> tuple[str, Any] | None:
    """Return the first field, with its value in the code's target, that lifts a no when the runner takes it over."""
    for name in fields:
        value = getattr(built_for, name)
        try:
            mended = run_on.evolve(**{name: value})
        except ValueError:
            continue
        if decide(mended) != "no":
            return name, value
    return None


_LINK: dict[type[Target], tuple[Rule, ...]] = {}


@attrs.frozen(eq=False, repr=False, kw_only=True)
class DeviceTarget(Target):
    """The base of the kinds of devices: linking asks what running asks, both ways."""

    @classmethod
    def rules(cls, purpose: Purpose) -> tuple[Rule, ...]:
        """Return the rules of the relation for a purpose, each once."""
        if purpose != "link":
            return super().rules(purpose)
        if cls not in _LINK:
            _LINK[cls] = tuple(both_ways(rule) for rule in cls.rules("code"))
        return _LINK[cls]
