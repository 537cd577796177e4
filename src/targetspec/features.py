"""FeatureSet: what an instruction set offers or code demands, as an exact and immutable value."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator
from typing import Any, Self, final

from targetspec.cpu_tables import TABLES_VERSION, table
from targetspec.errors import FeatureConflictError, FieldError, TargetspecError, wrong_type

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]{0,255}")
_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+_-]{0,39}")


@final
class FeatureSet:
    """A closed set of the isa and abi features of one family, under LLVM's canonical names.

    Iterating gives the names, sorted. `a <= b` says that all of `a` is there in `b`; where an architecture version
    covers a feature that is not listed by name (AArch64 `v8.7a` covers `hcx`) that counts as there. `tables` is the version of the
    tables that the set was closed with; it is no part of `==` and hash.

    >>> list(FeatureSet.closed("x86", ["sse2"]))
    ['sse', 'sse2']
    >>> FeatureSet.closed("x86", ["sse2"]) <= FeatureSet.closed("x86", ["avx"])
    True
    """

    __slots__ = ("_hash", "_masks", "_sorted", "family", "names", "tables")

    family: str
    names: frozenset[str]
    tables: str
    _hash: int
    _sorted: tuple[str, ...]
    _masks: tuple[int, int, frozenset[str]] | None

    def __new__(cls) -> Self:
        """Refuse: a set is made by one of the class methods, which check its names."""
        raise TypeError("use FeatureSet.closed(family, names)")

    @classmethod
    def _make(cls, family: str, names: tuple[str, ...], tables: str) -> FeatureSet:
        self = object.__new__(cls)
        put = object.__setattr__
        put(self, "family", family)
        put(self, "names", frozenset(names))
        put(self, "tables", tables)
        put(self, "_hash", hash((family, self.names)))
        put(self, "_sorted", names)
        put(self, "_masks", None)
        return self

    @classmethod
    def closed(cls, family: str, names: Iterable[str]) -> FeatureSet:
        """Return the names with all that they imply; their order and duplicates do not matter.

        Names that only repeat the triple (x86 `64bit`) are checked and left out.

        Raises:
            UnknownNameError: no such family or feature.
            FeatureRoleError: a tuning or an inverse feature, which no set holds.
            FeatureConflictError: two of them exclude each other (RISC-V's f and zfinx).
        """
        found = names if type(names) is frozenset else _names("closed", "the names", names)
        try:
            return _closed_names(family, found)
        except TargetspecError:
            if type(names) is tuple or type(names) is list:
                raise
        # The same fault in every process, whatever the order of a set.
        return _closed_names(family, tuple(sorted(_names("closed", "the names", found))))

    @classmethod
    def verbatim(cls, family: str, names: Iterable[str], tables: str) -> FeatureSet:
        """Return the names as they are, as closed with another version of the tables; unknown ones are kept.

        Raises FieldError for what is no name or version, and with today's version what `closed` raises.
        """
        each = _names("verbatim", "the names", names)
        if tables == TABLES_VERSION:
            return cls.closed(family, each)
        table(family)
        text = " ".join(sorted(set(each)))
        for what, pattern, found in (("names", _NAME, each), ("tables", _VERSION, (tables,))):
            for name in found:
                if type(name) is not str or not pattern.fullmatch(name):
                    raise FieldError("feature set", what, name, f"must match {pattern.pattern}")
        return (
            _load(family, text, tables)
            if len(text) <= _LONGEST_KEPT
            else _load.__wrapped__(family, text, tables)
        )

    @classmethod
    def of_mask(cls, family: str, mask: int) -> FeatureSet:
        """Return the set of a closed mask over today's table."""
        return _of_mask(family, mask)

    def __reduce__(self) -> tuple[object, ...]:
        return _load, (self.family, " ".join(self._sorted), self.tables)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a FeatureSet is immutable: cannot set {name!r}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a FeatureSet is immutable: cannot delete {name!r}")

    def __copy__(self) -> FeatureSet:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> FeatureSet:
        return self

    def __repr__(self) -> str:
        return f"FeatureSet({self.family!r}, {' '.join(self)!r})"

    def __iter__(self) -> Iterator[str]:
        return iter(self._sorted)

    def __len__(self) -> int:
        return len(self.names)

    def __eq__(self, other: object) -> bool:
        if other.__class__ is not FeatureSet:
            return NotImplemented
        if self is other:
            return True
        return self._hash == other._hash and self.names == other.names and self.family == other.family

    def __hash__(self) -> int:
        return self._hash

    def __contains__(self, name: str) -> bool:
        """Say whether a feature is there, by its canonical name or an alias; of a group, whether all of it is.

        What other fields state (tuning, and x86's `64bit`, which is the triple's) is in no set.

        Raises:
            UnknownNameError: the name is neither in the set nor in the table.
        """
        if type(name) is not str:
            raise wrong_type("in a FeatureSet", "the name", name, "a str")
        if name in self.names:
            return True
        meant = table(self.family).meaning(name)
        return bool(meant) and meant & self._seen()[1] == meant

    def __le__(self, other: FeatureSet) -> bool:
        if other.__class__ is not FeatureSet:
            return NotImplemented
        _, mine, unknown = self._masks or self._seen()
        _, theirs, others = other._masks or other._seen()
        return mine | theirs == theirs and unknown <= others and self.family == other.family

    def __and__(self, other: FeatureSet) -> FeatureSet:
        """Return what two sets of one family both have. Raises FeatureConflictError for two families."""
        if other.__class__ is not FeatureSet:
            return NotImplemented
        if self.family != other.family:
            raise FeatureConflictError(
                self.family, self.family, other.family, "sets of two families share nothing"
            )
        _, mine, unknown = self._seen()
        _, theirs, others = other._seen()
        held = table(self.family)
        named = held.mask(name for name in self.names | other.names if name in held.bit)
        both = held.closed_within(mine & theirs & named, mine & theirs)
        return _with_unknown(_of_mask(self.family, both), unknown & others, self.tables)

    def __sub__(self, other: FeatureSet) -> tuple[str, ...]:
        """Return the names, sorted, that are not there in another set; of another family, all."""
        if other.__class__ is not FeatureSet:
            return NotImplemented
        if self.family != other.family:
            return self._sorted
        mine, theirs = self._seen(), other._seen()
        gone = table(self.family).unmask(mine[0] & ~theirs[1])
        unknown = mine[2] - theirs[2]
        return tuple(sorted(unknown.union(gone))) if unknown else gone

    def _seen(self) -> tuple[int, int, frozenset[str]]:
        """Return the mask over today's table, the same with all that is covered, and the names that the table lacks."""
        masks = self._masks
        if masks is None:
            held = table(self.family)
            unknown = self.names - held.bit.keys()
            mask = held.mask(self.names - unknown)
            masks = mask, held.widen(mask), unknown
            object.__setattr__(self, "_masks", masks)
        return masks

    def with_changes(self, add: Iterable[str] = (), remove: Iterable[str] = ()) -> FeatureSet:
        """Return the set with features added, with all they bring, and removed, with all that depend on them.

        Raises:
            UnknownNameError: no such feature.
            FeatureConflictError: what is added implies what is removed.
        """
        mask, unknown = self._today()
        add, remove = _names("with_changes", "add", add), _names("with_changes", "remove", remove)
        mask = _changed(self.family, mask, add, tuple(name for name in remove if name not in unknown))
        return _with_unknown(_of_mask(self.family, mask), unknown.difference(remove), self.tables)

    def union(self, other: FeatureSet) -> FeatureSet:
        """Return the closed set of all that two sets of one family have, under today's tables.

        Raises:
            FeatureConflictError: features of the two exclude each other.
        """
        if other.__class__ is not FeatureSet:
            raise wrong_type("union", "the other", other, "a FeatureSet")
        if self.family != other.family:
            raise FeatureConflictError(
                self.family, self.family, other.family, "sets of two families have no union"
            )
        mask, unknown = self._today()
        more, others = other._today()
        tables = self.tables if unknown else other.tables
        return _with_unknown(_closed(self.family, mask | more), unknown | others, tables)

    def for_width(self, bits: int) -> FeatureSet:
        """Return the set in code of a pointer width: with what its features imply only there (RISC-V's zcf on 32 bits).

        A set of another version of the tables stays as it is.

        Raises:
            FeatureConflictError: a feature is of another width.
        """
        return self if self.tables != TABLES_VERSION else _for_width(self, bits)

    @property
    def is_current(self) -> bool:
        """Whether today's tables have all the names, and would close the set as it is."""
        if self.tables == TABLES_VERSION:
            return True
        mask, _, unknown = self._seen()
        return not unknown and mask == table(self.family).close(mask)

    def reclosed(self) -> FeatureSet:
        """Return the set closed with today's tables; names that they lack are kept."""
        mask, unknown = self._today()
        return _with_unknown(_of_mask(self.family, mask), unknown)

    def _today(self) -> tuple[int, frozenset[str]]:
        """Return the mask over today's table, closed with it, and the names that the table lacks."""
        mask, _, unknown = self._seen()
        return (mask if self.tables == TABLES_VERSION else table(self.family).close(mask)), unknown


def _names(function: str, argument: str, names: Any) -> tuple[str, ...]:
    """Return names as a tuple; refuse a bare string, whose letters nobody means."""
    allowed = "an iterable of names, each a str"
    if type(names) not in (tuple, list, frozenset) and (
        isinstance(names, str) or not isinstance(names, Iterable)
    ):
        raise wrong_type(f"FeatureSet.{function}", argument, names, allowed, "wrap a single one in a list")
    found = tuple(names)
    if not set(map(type, found)) <= {str}:
        odd = next(name for name in found if type(name) is not str)
        raise wrong_type(f"FeatureSet.{function}", argument, odd, allowed)
    return found


# Far more than any table's names take: what a hostile document holds is not kept.
_LONGEST_KEPT = 20_000

# Few sets are in use at a time, and each is asked for often: one object each makes comparing and hashing them cheap.


@functools.lru_cache(maxsize=4096)
def _changed(family: str, mask: int, add: tuple[str, ...], remove: tuple[str, ...]) -> int:
    return table(family).change(mask, add, remove)


@functools.lru_cache(maxsize=4096)
def _of_mask(family: str, mask: int) -> FeatureSet:
    return _load(family, " ".join(sorted(table(family).unmask(mask))), TABLES_VERSION)


@functools.lru_cache(maxsize=4096)
def _closed(family: str, mask: int) -> FeatureSet:
    return _of_mask(family, table(family).checked(mask))


@functools.lru_cache(maxsize=4096)
def _for_width(features: FeatureSet, bits: int) -> FeatureSet:
    held = table(features.family)
    known = features.names & held.bit.keys()
    fitting = _of_mask(features.family, held.fit(held.mask(known), bits))
    return _with_unknown(fitting, features.names - known, features.tables)


@functools.lru_cache(maxsize=4096)
def _closed_names(family: str, names: frozenset[str] | tuple[str, ...]) -> FeatureSet:
    return _closed(family, table(family).raised(names))


@functools.lru_cache(maxsize=4096)
def _load(family: str, names: str, tables: str) -> FeatureSet:
    """Return the set of names in their order, without asking the reader's tables."""
    return FeatureSet._make(family, tuple(names.split()), tables)


def _with_unknown(known: FeatureSet, unknown: frozenset[str], tables: str = TABLES_VERSION) -> FeatureSet:
    """Return a set with names that today's tables lack, of the version that has them: only that one reads it whole."""
    if not unknown:
        return known
    return _load(known.family, " ".join(sorted(known.names | unknown)), tables)
