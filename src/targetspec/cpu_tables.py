"""The generated CPU and feature tables: one JSON file a family under `data/`, read when it is first used.

A table holds two relations of a feature. `implies` is hard: a set that has one has the other, and taking the other
away takes the first with it. `brings` is a default: asking for one asks for the other as well, unless that is refused,
and nothing else ties them (x86 `sse4.2` brings `crc32`, yet haswell without `crc32` keeps `sse4.2`). A third, `covers`,
is for names that clang leaves out where an architecture version implies them (AArch64 `v8.7a` covers `hcx`): they
count as there when sets are compared, and are not listed; so does a name for several features where they all are there
(`crypto` for `aes` and `sha2`). Sets are worked on as bit masks over the sorted names.
"""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Iterable, Mapping
from typing import Any, Literal, cast

from targetspec.errors import (
    FeatureConflictError,
    FeatureRoleError,
    UnknownNameError,
    nearest,
    wrong_type,
)
from targetspec.feature_aliases import aliases_of
from targetspec.packaged import packaged

Role = Literal["isa", "tuning", "inverse", "abi"]

TABLES_VERSION = "22.1.8"
"""The LLVM that the tables were made from."""

FAMILIES = (
    "aarch64",
    "amdgpu",
    "arm",
    "hexagon",
    "loongarch",
    "mips",
    "nvptx",
    "powerpc",
    "riscv",
    "systemz",
    "webassembly",
    "x86",
)

_DIGITS = bytes(int(byte == ord("1")) for byte in range(256))


class Bring:
    """One default: the mask that comes, where the set has all of `when` and nothing of `unless`."""

    __slots__ = ("mask", "unless", "when")

    def __init__(self, mask: int, when: int = 0, unless: int = 0) -> None:
        self.mask, self.when, self.unless = mask, when, unless


class Table:
    """One family's table, with its relations as masks."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.family: str = document["family"]
        self.version: str = document["llvm"]
        self.features: dict[str, dict[str, str]] = document["features"]
        self.cpus: dict[str, dict[str, str]] = document["cpus"]
        self.cpu_aliases: dict[str, str] = document["aliases"]
        self.bits: str = document["bits"]
        self.patched: dict[str, str] = document["patched"]
        self.names = tuple(name for name, row in self.features.items() if row["role"] in ("isa", "abi"))
        self.bit = {name: 1 << index for index, name in enumerate(self.names)}
        self._conflicts = tuple(
            (self.mask(names.split()), (*names.rsplit(" ", 1), reason))
            for names, reason in document.get("conflicts", {}).items()
        )
        self._needs = tuple(
            (self.bit[name], self.bit[needed], name, needed)
            for name, needed in document.get("needs", {}).items()
        )
        self._stated = self.mask(name for name in self.names if self._is_stated(name))
        self._up: dict[str, int] = {}
        self._cpu_masks: dict[tuple[str, int], int] = {}
        for name in self.names:
            self._climb(name)
        self.covers = tuple(
            (self.bit[name], self.mask(row["covers"].split()))
            for name, row in self.features.items()
            if "covers" in row
        )
        self._together = tuple(
            (self.mask(parts.split()), self.bit[name]) for name, parts in document.get("together", {}).items()
        )
        self.rules = tuple(
            (self.mask(need.split()), self._up[give]) for give, need in document.get("rules", {}).items()
        )

    def _is_stated(self, name: str) -> bool:
        """Whether a field of the target states a feature, which sets then leave out: the triple x86's `64bit`."""
        return self.features[name].get("field", "group") != "group"

    def _climb(self, name: str) -> int:
        known = self._up.get(name)
        if known is None:
            # A group (RISC-V's rva22u64) only stands for what it implies.
            known = 0 if self.features[name].get("field") == "group" else self.bit[name]
            for implied in self.features[name].get("implies", "").split():
                known |= self._climb(implied)
            self._up[name] = known
        return known

    def mask(self, names: Iterable[str]) -> int:
        """Return the mask of canonical names, nothing closed."""
        mask = 0
        for name in names:
            mask |= self.bit[name]
        return mask

    def unmask(self, mask: int) -> tuple[str, ...]:
        """Return the names of a mask, sorted."""
        return tuple(itertools.compress(self.names, f"{mask:b}"[::-1].encode().translate(_DIGITS)))

    def up(self, name: str) -> int:
        """Return the mask of a feature and all it implies."""
        return self._up[name]

    def reach(self, name: str) -> int:
        """Return the mask of a feature and all it implies or covers."""
        return self.widen(self._up[name])

    def widen(self, mask: int) -> int:
        """Return a mask with what its features cover, each by itself or together."""
        mask = self._cover(mask)
        for parts, bit in self._together:
            if mask & parts == parts:
                mask |= bit
        return mask

    def _cover(self, mask: int) -> int:
        for bit, cover in self.covers:
            if mask & bit:
                mask |= cover
        return mask

    @functools.cached_property
    def _down(self) -> dict[str, int]:
        down = dict.fromkeys(self.names, 0)
        for name, bit in self.bit.items():
            for implied in self.unmask(self.reach(name)):
                down[implied] |= bit
        for _, needed_bit, name, _ in self._needs:
            for other, dependents in down.items():
                if dependents & needed_bit:
                    down[other] = dependents | down[name]
        return down

    def ups(self, names: Iterable[str]) -> int:
        """Return the mask of features and all they imply."""
        mask = 0
        for name in names:
            mask |= self._up[name]
        return mask

    def raised(self, names: Iterable[str]) -> int:
        """Return the mask of features by any of their names, and of all that they imply.

        Raises:
            UnknownNameError: no such feature.
            FeatureRoleError: a tuning or an inverse feature, which no set holds.
        """
        mask = 0
        for name in names:
            known = self._plain.get(name)
            if known is None:
                self.held(name)
                known = self._up[self.canonical(name)]
            mask |= known
        return mask

    def fit(self, mask: int, bits: int) -> int:
        """Return a closed mask with what it implies together with a pointer width (RISC-V: c and f are zcf on 32 bits).

        Raises:
            FeatureConflictError: a feature is of another width.
        """
        mark = f"{bits}bit"
        if mark not in self.bit or not self._stated & self.bit[mark]:
            return mask
        return self.checked(mask | self._up[mark])

    @functools.cached_property
    def _plain(self) -> dict[str, int]:
        """What the features that sets list imply, by canonical name."""
        return {name: self._up[name] for name in self.names if "field" not in self.features[name]}

    def down(self, name: str) -> int:
        """Return the mask of a feature and all that implies or covers it."""
        return self._down[name]

    def gone(self, name: str) -> int:
        """Return the mask of what goes when a feature is refused by name."""
        taken = self.features[name].get("takes", "").split()
        return functools.reduce(lambda mask, one: mask | self._down[one], taken, self._down[name])

    def close(self, mask: int) -> int:
        """Return a mask with all that its features imply."""
        return self._settled(mask | self.ups(self.unmask(mask)))

    def closed_within(self, mask: int, bound: int) -> int:
        """Return the greatest closed part of a mask whose features imply nothing beyond a bound."""
        kept = self.mask(name for name in self.unmask(mask) if not self._up[name] & ~bound)
        return self.ups(self.unmask(kept))

    def _settled(self, mask: int) -> int:
        """Return a mask that holds what its features imply singly, with what they imply together."""
        fresh = bool(self.rules)
        while fresh:
            fresh = False
            for need, give in self.rules:
                if need & mask == need and give & ~mask:
                    mask |= give
                    fresh = True
        return mask

    def checked(self, mask: int) -> int:
        """Return a mask of `raised` closed, once it is known that its features go together; what fields state is left out.

        Raises:
            FeatureConflictError: two features exclude each other, or one is there without what it needs.
        """
        mask = self._settled(mask)
        for these, conflict in self._conflicts:
            if mask & these == these:
                raise FeatureConflictError(self.family, *conflict)
        for bit, needed_bit, name, needed in self._needs:
            if mask & bit and not mask & needed_bit:
                raise FeatureConflictError(self.family, f"+{name}", f"-{needed}", f"{name} needs {needed}")
        return mask & ~self._stated

    @functools.cached_property
    def brings(self) -> tuple[tuple[int, Bring], ...]:
        """The defaults: the bit of a feature, and what comes with it."""
        return tuple(
            (self.bit[name], self._bring(text))
            for name, row in self.features.items()
            for text in row.get("brings", "").split(";")
            if text
        )

    def _bring(self, text: str) -> Bring:
        condition, _, unless = text.partition(" unless ")
        names, _, when = condition.partition(" if ")
        closed = self.ups(names.split())
        return Bring(closed, self.mask(when.split()), self.mask(unless.split()))

    def canonical(self, name: str) -> str:
        """Return a feature's canonical name.

        Raises:
            UnknownNameError: no such feature.
        """
        if name in self.features:
            return name
        alias = aliases_of(self.family).get(name) or self._folded.get(name)
        if alias is None:
            _check_text("feature", name)
            raise UnknownNameError("feature", name, nearest(name, self.features), self.family)
        return alias

    @functools.cached_property
    def _folded(self) -> dict[str, str]:
        # zig, and C identifiers made of feature names, write an underscore for what LLVM writes as a dot or a dash.
        return {name.translate({ord("."): "_", ord("-"): "_"}): name for name in self.features}

    def held(self, name: str) -> str | None:
        """Return the canonical name of a feature that sets hold; None for one that the triple states.

        Raises:
            FeatureRoleError: a tuning or an inverse feature.
        """
        name = self.canonical(name)
        row = self.features[name]
        if row["role"] not in ("isa", "abi"):
            raise FeatureRoleError(self.family, name, row["role"])
        return None if row.get("field", "group") != "group" else name

    def meaning(self, name: str) -> int:
        """Return the mask of what a feature's name stands for in a set: all of a group; nothing where no set holds it.

        Raises:
            UnknownNameError: no such feature.
        """
        feature = self.canonical(name)
        if self.features[feature].get("field") == "group":
            return self._up[feature] & ~self._stated
        return self.bit.get(feature, 0)

    def _single(self, name: str) -> str | None:
        held = self.held(name)
        if held is not None and self.features[held].get("field") == "group":
            raise FeatureRoleError(self.family, held, "group")
        return held

    def canonical_cpu(self, name: str) -> str:
        """Return a CPU's canonical name.

        Raises:
            UnknownNameError: no such CPU.
        """
        if name in self.cpus:
            return name
        alias = self.cpu_aliases.get(name)
        if alias is None:
            _check_text("CPU", name)
            others = cpu_index().get(name)
            scope = f"{self.family} (it is one of {' and '.join(others)})" if others else self.family
            near = () if others else nearest(name, [*self.cpus, *self.cpu_aliases])
            raise UnknownNameError("CPU", name, near, scope)
        return alias

    def cpu_mask(self, cpu: str, bits: int) -> int:
        """Return the closed set of a CPU in code of a pointer width, of its own where it does not run that one."""
        known = self._cpu_masks.get((cpu, bits))
        if known is None:
            row = self.cpus[self.canonical_cpu(cpu)]
            known = self.fit(self.close(self.mask(row["has"].split())), self.width_of(cpu, bits))
            self._cpu_masks[cpu, bits] = known
        return known

    def width_of(self, cpu: str, bits: int) -> int:
        """Return a pointer width where a CPU runs code of it, else the widest that it runs."""
        widths = self.cpus[self.canonical_cpu(cpu)].get("bits", self.bits).split()
        return bits if str(bits) in widths else int(widths[-1])

    def change(self, mask: int, add: Iterable[str], remove: Iterable[str]) -> int:
        """Return a closed mask with features asked for and refused, in any order.

        Raises:
            FeatureConflictError: what is asked for implies what is refused.
        """
        wanted = [name for name in map(self.held, add) if name is not None]
        refused = [name for name in map(self._single, remove) if name is not None]
        self._check(wanted, refused)
        gone = functools.reduce(lambda mask, name: mask | self.gone(name), refused, 0)
        mask = self._without(mask, gone)
        wide = self._cover(mask)
        # What is there already brings nothing; what is only covered is listed from now on, as clang does.
        fresh = self.ups(name for name in wanted if not self.bit[name] & wide)
        named = self.ups(name for name in wanted if self.features[name].get("field") != "group")
        return self.checked(self._bringing(mask | named | fresh, fresh, gone))

    def _without(self, mask: int, gone: int) -> int:
        # What only a version covered stays when the version goes, as LLVM clears no more than what implies the name;
        # not what implies a feature that went before.
        left, covered = mask & ~gone, 0
        for bit, cover in self.covers:
            if mask & gone & bit:
                covered |= cover & ~gone
        whole = left | covered
        bare = covered & ~self.widen(left)
        return left | self.ups(name for name in self.unmask(bare) if not self._up[name] & ~whole)

    def _bringing(self, mask: int, fresh: int, gone: int) -> int:
        fresh = self._settled(fresh)
        while fresh:
            more = 0
            for bit, bring in self.brings:
                if fresh & bit and mask & bring.when == bring.when and not mask & bring.unless:
                    more |= bring.mask
            fresh = more & ~gone & ~mask
            mask |= fresh
        return mask

    def _check(self, wanted: list[str], refused: list[str]) -> None:
        for name in wanted:
            reach = self.reach(name)
            for other in refused:
                if reach & self.bit[other]:
                    reason = f"{name} implies {other}" if name != other else "asked for and refused at once"
                    raise FeatureConflictError(self.family, f"+{name}", f"-{other}", reason)


@functools.cache
def table(family: str) -> Table:
    """Return a family's table.

    Raises:
        UnknownNameError: no such family.
    """
    if family not in FAMILIES:
        _check_text("family", family)
        raise UnknownNameError("table", family, nearest(family, FAMILIES) or FAMILIES)
    return Table(_read(f"{family}.json"))


@functools.cache
def descriptions(family: str) -> Mapping[str, str]:
    """Return what each feature of a family is."""
    return cast("Mapping[str, str]", _read(f"{table(family).family}.doc.json"))


@functools.cache
def cpu_index() -> Mapping[str, tuple[str, ...]]:
    """Return the families of each CPU name, aliases included, without reading the tables."""
    found: dict[str, tuple[str, ...]] = {}
    for family, names in _read("index.json").items():
        for name in names.split():
            found[name] = (*found.get(name, ()), family)
    return found


@functools.cache
def baselines() -> Mapping[str, str]:
    """Return the CPU of each architecture, and behind it the features that a triple adds to the CPU's set."""
    return cast("Mapping[str, str]", _read("baselines.json"))


def _check_text(what: str, name: Any) -> None:
    if not isinstance(name, str):
        raise wrong_type("the tables", f"the name of a {what}", name, "a str")


def _read(name: str) -> Any:
    return json.loads(packaged(name))
