"""FeatureSet: what an instruction set offers or code demands, as an exact and immutable value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Self, final

from targetspec.cpu_tables import TABLES_VERSION, table


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

    __slots__ = ("_hash", "_masks", "family", "names", "tables")

    family: str
    names: frozenset[str]
    tables: str
    _hash: int
    _masks: tuple[int, frozenset[str]] | None

    def __new__(cls) -> Self:
        """Refuse: a set is made by one of the class methods, which check its names."""
        raise TypeError("use FeatureSet.closed(family, names)")

    @classmethod
    def _make(cls, family: str, names: Iterable[str], tables: str) -> FeatureSet:
        self = object.__new__(cls)
        put = object.__setattr__
        put(self, "family", family)
        put(self, "names", frozenset(names))
        put(self, "tables", tables)
        put(self, "_hash", hash((family, self.names)))
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
        held = table(family)
        mask = held.ups(name for name in map(held.held, names) if name is not None)
        return cls.of_mask(family, held.checked(mask))

    @classmethod
    def verbatim(cls, family: str, names: Iterable[str], tables: str) -> FeatureSet:
        """Return the names as they are, as closed with another version of the tables; unknown ones are kept."""
        return cls._make(family, names, tables)

    @classmethod
    def of_mask(cls, family: str, mask: int) -> FeatureSet:
        """Return the set of a closed mask over today's table."""
        return cls._make(family, table(family).unmask(mask), TABLES_VERSION)

    @classmethod
    def _load(cls, family: str, names: str, tables: str) -> FeatureSet:
        return cls._make(family, names.split(), tables)

    def __reduce__(self) -> tuple[object, ...]:
        return FeatureSet._load, (self.family, " ".join(self), self.tables)

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
        return iter(sorted(self.names))

    def __len__(self) -> int:
        return len(self.names)

    def __eq__(self, other: object) -> bool:
        if other.__class__ is not FeatureSet:
            return NotImplemented
        return self._hash == other._hash and self.names == other.names and self.family == other.family

    def __hash__(self) -> int:
        return self._hash

    def __contains__(self, name: str) -> bool:
        """Say whether a feature is there, by its canonical name or an alias.

        Raises:
            UnknownNameError: the name is neither in the set nor in the table.
        """
        if name in self.names:
            return True
        held = table(self.family)
        return bool(self._wide()[0] & held.bit.get(held.canonical(name), 0))

    def __le__(self, other: FeatureSet) -> bool:
        if other.__class__ is not FeatureSet:
            return NotImplemented
        mine, unknown = self._masks or self._wide()
        theirs, others = other._masks or other._wide()
        return not mine & ~theirs and unknown <= others and self.family == other.family

    def __sub__(self, other: FeatureSet) -> tuple[str, ...]:
        """Return the names, sorted, that are not there in another set; of another family, all."""
        if other.__class__ is not FeatureSet:
            return NotImplemented
        if self.family != other.family:
            return tuple(self)
        bit = table(self.family).bit
        theirs, others = other._wide()
        return tuple(name for name in self if not (theirs & bit.get(name, 0) or name in others))

    def _wide(self) -> tuple[int, frozenset[str]]:
        """Return the mask over today's table with all that is covered, and the names that the table lacks."""
        masks = self._masks
        if masks is None:
            held = table(self.family)
            unknown = frozenset(self.names - held.bit.keys())
            masks = held.widen(held.mask(self.names - unknown)), unknown
            object.__setattr__(self, "_masks", masks)
        return masks

    def with_changes(self, add: Iterable[str] = (), remove: Iterable[str] = ()) -> FeatureSet:
        """Return the set with features added, with all they bring, and removed, with all that depend on them.

        Raises:
            UnknownNameError: no such feature.
            FeatureConflictError: what is added implies what is removed.
        """
        held = table(self.family)
        remove = tuple(remove)
        unknown = self.names - held.bit.keys()
        mask = held.change(
            held.mask(self.names - unknown), add, (name for name in remove if name not in unknown)
        )
        kept = unknown.difference(remove)
        return FeatureSet._make(self.family, kept.union(held.unmask(mask)), TABLES_VERSION)

    def reclosed(self) -> FeatureSet:
        """Return the set closed with today's tables; names that they lack are kept."""
        held = table(self.family)
        unknown = self.names - held.bit.keys()
        mask = held.close(held.mask(self.names - unknown))
        return FeatureSet._make(self.family, unknown.union(held.unmask(mask)), TABLES_VERSION)
