"""The kind `cpu`: a processor with its operating system, ABI and C library."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Self

import attrs

from targetspec import cpu as facts
from targetspec.errors import FeatureConflictError, FieldError, FieldTypeError
from targetspec.features import FeatureSet
from targetspec.fields import (
    LONGEST_TEXT,
    Choice,
    Count,
    Flag,
    NameSet,
    Refused,
    Shape,
    Spec,
    Text,
    Version,
    plain_json,
    quoted,
    spec,
)
from targetspec.kinds import cpu_rules as rules
from targetspec.kinds import cpu_vectors
from targetspec.kinds.cpu_abis import check_abi
from targetspec.kinds.cpu_arch import ARCH, FAMILY
from targetspec.kinds.cpu_ground import Ground, canonical_cpu, foreign_family, ground_of
from targetspec.kinds.cpu_libc import LIBC
from targetspec.kinds.cpu_width import changed, settled
from targetspec.kinds.device import model
from targetspec.rules import Rule, needed, re_measure, same
from targetspec.target import Target, frozen_names
from targetspec.triple import Triple

_NAME = r"[A-Za-z0-9][A-Za-z0-9_.+-]*"
_C_LIBRARIES = ("bionic", "glibc", "musl", "newlib", "uclibc")
_VERSIONED_BY_TRIPLE = ("glibc", "musl")


@attrs.frozen
class _TripleShape(Shape):
    def check(self, value: Any) -> Triple:
        """Accept a Triple; texts are read by the converter."""
        if type(value) is not Triple:
            raise Refused("must be a triple such as x86_64-unknown-linux-gnu", wrong_type=True)
        return value

    def load(self, value: Any) -> Triple:
        if type(value) is not str:
            raise Refused("must be a triple, a string", wrong_type=True)
        if len(value) > LONGEST_TEXT:
            raise Refused(f"must be a triple, of at most {LONGEST_TEXT} characters")
        return Triple.parse(value)

    def dump(self, value: Any) -> str:
        return str(value)

    def json(self, value: Any) -> str:
        return quoted(str(value))

    def read(self, text: str) -> Triple:
        return Triple.parse(text)

    def schema(self) -> dict[str, Any]:
        return {"type": "string", "pattern": "^[A-Za-z0-9_.+-]+$", "maxLength": LONGEST_TEXT}


# The same few sets are written again and again.
@functools.lru_cache(maxsize=1024)
def _features_text(features: FeatureSet) -> str:
    return plain_json(list(features))


_WHOLE = (
    "features is the whole set; target.features.with_changes(['avx2']) changes one, as +avx2 does in a text"
)


@attrs.frozen
class _FeatureNames(NameSet):
    pattern: str = _NAME
    what: str = "feature name"
    advice: str = _WHOLE

    def refusal(self, refused: Refused, name: Any) -> Refused:  # noqa: ARG002 - whatever the name is
        return Refused(refused.message, self.advice, wrong_type=refused.wrong_type)


_FEATURE_NAMES = _FeatureNames()


@attrs.frozen
class _FeaturesShape(Shape):
    """A FeatureSet, or names that become one once the family is known."""

    def check(self, value: Any) -> Any:
        if type(value) is FeatureSet:
            return value
        return _FEATURE_NAMES.check(value)

    def load(self, value: Any) -> frozenset[str]:
        return _FEATURE_NAMES.load(value)

    def dump(self, value: Any) -> list[str]:
        return list(value)

    def json(self, value: Any) -> str:
        return _features_text(value)

    def write(self, value: Any) -> str:
        return ",".join(value)

    def schema(self) -> dict[str, Any]:
        return _FEATURE_NAMES.schema()


def _as_triple(value: Any) -> Any:
    return Triple.parse(value) if type(value) is str else value


def _as_features(value: Any) -> Any:
    return value if type(value) is FeatureSet else frozen_names(value)


_LLVM = "LLVM Triple::isCompatibleWith"
_OF_ONE_MACHINE = (
    "vector_bits",
    "model",
    "num_cores",
    "l1d_cache_bytes",
    "l2_cache_bytes",
    "l3_cache_bytes",
    "cache_line_bytes",
)
_CACHE = "cache that a core can use, per instance"


@attrs.frozen(eq=False, repr=False, kw_only=True)
class CpuTarget(Target):
    """A processor as code generators see it.

    `triple` is a Triple or its text; `cpu` and `tune` are LLVM's names, aliases resolved, `tune` None where
    it is `cpu`. `features` is the whole set in LLVM's names (closed here), or None: then the CPU's set, or
    the set of the triple's baseline where no CPU is stated. `tuning` holds signed tuning features that
    depart from the CPU's, `restrictions` what the code must keep to (`strict-align`).

    Raises UnknownNameError, FieldError, FieldTypeError, FeatureConflictError, TargetSyntaxError (a triple).

    >>> t = CpuTarget(triple="x86_64-linux-gnu", cpu="haswell")
    >>> "avx2" in t.features, t.native_vector_bits, t.libc
    (True, 256, 'glibc')
    """

    kind: ClassVar[str] = "cpu"
    about: ClassVar[str] = "A processor as code generators see it."
    host_capable: ClassVar[bool] = True
    always_written: ClassVar[frozenset[str]] = frozenset({"features"})
    derived_needs: ClassVar[Mapping[str, tuple[Shape, Rule]]] = {
        "vector_registers": (Count(), rules.NEEDS_VECTOR_REGISTERS)
    }

    triple: Triple | None = attrs.field(
        default=None,
        converter=_as_triple,
        metadata=spec(
            _TripleShape(),
            "architecture, vendor, operating system and environment",
            code=(ARCH, rules.SYSTEM, rules.OS_FLOOR, rules.API_LEVEL),
            link=(rules.LINK,),
            schedule=(FAMILY, re_measure("triple")),
        ),
    )
    cpu: str | None = attrs.field(
        default=None, metadata=spec(Text(_NAME, "a CPU name"), "LLVM's name of the CPU")
    )
    tune: str | None = attrs.field(
        default=None, metadata=spec(Text(_NAME, "a CPU name"), "the CPU to schedule for, where it is another")
    )
    features: FeatureSet | None = attrs.field(
        default=None,
        converter=_as_features,
        metadata=spec(
            _FeaturesShape(),
            "the closed set of isa and abi features: all that code may use, and not a change of the CPU's",
            code=(rules.FEATURES, rules.ABI_FEATURES, rules.GENERATION),
            link=(rules.LINKED_FEATURES, rules.GENERATION),
        ),
    )
    tuning: frozenset[str] = attrs.field(
        default=frozenset(),
        converter=frozen_names,
        metadata=spec(
            NameSet(rf"[+-]{_NAME}", "signed tuning feature"), "tuning features that depart from the CPU's"
        ),
    )
    restrictions: frozenset[str] = attrs.field(
        default=frozenset(),
        converter=frozen_names,
        metadata=spec(
            NameSet(_NAME, "restriction"),
            "what the code keeps to, such as strict-align",
            code=(rules.RESTRICTIONS,),
        ),
    )
    abi: str | None = attrs.field(
        default=None,
        metadata=spec(
            Text(_NAME, "an ABI name"),
            "the ABI by LLVM's name, where the triple leaves a choice (lp64d, elfv2)",
            code=(rules.calls("abi", _LLVM),),
            link=(same("abi", _LLVM),),
        ),
    )
    float_abi: str | None = attrs.field(
        default=None,
        metadata=spec(
            Choice(("soft", "softfp", "hard")),
            "how floating point is passed",
            code=(rules.calls("float_abi", "AAPCS: eabi and eabihf do not link"),),
            link=(same("float_abi", "AAPCS: eabi and eabihf do not link"),),
        ),
    )
    long_double: str | None = attrs.field(
        default=None,
        metadata=spec(
            Choice(("64", "80", "ieee128", "ibm128")),
            "the format of long double, where the ABI leaves a choice",
            code=(rules.calls("long_double", "Power ELF ABI: both formats of 128 bits are in use"),),
            link=(same("long_double", "Power ELF ABI: both formats of 128 bits are in use"),),
        ),
    )
    vector_bits: int | None = attrs.field(
        default=None,
        metadata=spec(
            Count(32, 1 << 16),
            "the length of a scalable vector that the code is fixed to",
            unit="bit",
            code=(rules.VECTOR_BITS,),
            need=rules.NEEDS_VECTOR_BITS,
        ),
    )
    model: str | None = model()
    num_cores: int | None = attrs.field(
        default=None,
        metadata=spec(Count(), "physical cores of the machine", need=needed("num_cores")),
    )
    l1d_cache_bytes: int | None = attrs.field(
        default=None,
        metadata=spec(Count(), f"level 1 data {_CACHE}", unit="byte", need=needed("l1d_cache_bytes")),
    )
    l2_cache_bytes: int | None = attrs.field(
        default=None,
        metadata=spec(Count(), f"level 2 {_CACHE}", unit="byte", need=needed("l2_cache_bytes")),
    )
    l3_cache_bytes: int | None = attrs.field(
        default=None,
        metadata=spec(Count(), f"level 3 {_CACHE}", unit="byte", need=needed("l3_cache_bytes")),
    )
    cache_line_bytes: int | None = attrs.field(
        default=None, metadata=spec(Count(), "length of a cache line", unit="byte")
    )
    libc: str | None = attrs.field(
        default=None,
        metadata=spec(
            Choice(_C_LIBRARIES),
            "the C library; what the triple's environment says",
            code=(LIBC,),
            tunes=False,
        ),
    )
    libc_version: str | None = attrs.field(
        default=None,
        metadata=spec(
            Version(), "the C library's version: needed at least, or present", code=(LIBC,), tunes=False
        ),
    )
    static: bool = attrs.field(
        default=False,
        metadata=spec(Flag(), "linked without a dynamic C library", code=(LIBC,), tunes=False),
    )

    def _complete(self) -> None:
        ground = self._ground()
        self._settle_cpu(ground)
        self._settle_features(ground.family)
        if self.abi is not None and not self._is_of_other_tables:
            check_abi(ground.family, self.abi)
        if self.tuning or self.restrictions:
            self._settle_names()
        self._settle_libc(ground.libc)
        for name, value in ground.implied.items():
            if value is not None and getattr(self, name) is None:
                self._store(name, value)

    @classmethod
    def of_checked(cls, fields: Mapping[str, Any], tables: str | None = None) -> Self:
        """Return the target of values that their shapes have checked; features of other tables are taken as they stand."""
        names = fields.get("features")
        if tables in (None, facts.TABLES_VERSION) or names is None:
            return super().of_checked(fields)
        family = foreign_family(fields.get("triple"), fields.get("cpu"), names)
        if family is None:
            raise FieldError(
                cls.kind, "features", names, "feature names mean nothing without a family", "state a triple"
            )
        return super().of_checked({**fields, "features": FeatureSet.verbatim(family, names, str(tables))})

    def _ground(self) -> Ground:
        return ground_of(self.triple, self.cpu, foreign=self._foreign)

    @property
    def _foreign(self) -> str | None:
        """The family of the features where other tables closed them."""
        features: Any = self.features
        return features.family if self._is_of_other_tables else None

    @property
    def _is_of_other_tables(self) -> bool:
        return type(self.features) is FeatureSet and self.features.tables != facts.TABLES_VERSION

    def implied(self) -> Mapping[str, Any]:
        """Return the C library and float ABI that the triple says, and the features of the CPU."""
        return self._ground().implied

    @property
    def family(self) -> str | None:
        """The table that the CPU and its features are in: the triple's, else the only one with the CPU."""
        return self._ground().family

    def table_features(self) -> FeatureSet | None:
        """Return the set that the tables give to the CPU, or to the triple's baseline; None where unknown."""
        return self._ground().features

    def request_features(self, add: Iterable[str], remove: Iterable[str]) -> FeatureSet | None:
        """Return the CPU's set with changes, closed; None where no table is known. Raises as construction."""
        base = self.table_features()
        return None if base is None else changed(base, self.triple, add, remove)

    def generalise(self, cpu: str) -> Self:
        """Return a target for caches that a fleet shares: this system with a CPU that more machines serve.

        What one machine has beside is left out: features, tuning, cores, caches, and the versions of system and libc.
        Raises FieldError where code for that CPU would not run here, UnknownNameError for a name that is no CPU.

        >>> CpuTarget(triple="x86_64-linux-gnu", cpu="znver3", num_cores=8).generalise("x86-64-v3").cpu
        'x86-64-v3'
        """
        triple = self.triple and attrs.evolve(self.triple, os_version="")
        bare = {
            name: self.defaults()[name]
            for name in (*_OF_ONE_MACHINE, "features", "tune", "tuning", "libc_version")
        }
        if type(cpu) is not str:
            raise FieldTypeError(self.kind, "cpu", cpu, "must be the name of a CPU, a str")
        wider = self.evolve(triple=triple, cpu=cpu, **bare)
        verdict = wider.compatible(self)
        if not verdict:
            raise FieldError(
                self.kind,
                "cpu",
                cpu,
                f"must be a CPU whose code runs here: {verdict.reasons[0]}",
                "name an older one",
            )
        return wider

    @property
    def native_vector_bits(self) -> int | None:
        """The widest vector register that code can count on, in bits, 64 without any; `vector_bits` where stated.

        None where no architecture is stated.
        """
        if self.vector_bits is not None:
            return self.vector_bits
        return cpu_vectors.native_vector_bits(self)

    @property
    def vector_registers(self) -> int | None:
        """How many such registers there are: 32 on AArch64 and with AVX-512, 16 on x86-64, 8 on 32-bit x86; None likewise."""
        return cpu_vectors.vector_registers(self)

    def _settle_cpu(self, ground: Ground) -> None:
        if self.cpu != ground.cpu:
            self._store("cpu", ground.cpu)
        if self.tune is not None:
            tune = self.tune
            if not self._is_of_other_tables or facts.has_cpu(str(ground.family), tune):
                tune = canonical_cpu(self.triple, ground.family, tune)
            self._store("tune", None if tune == self.cpu else tune)

    def _settle_features(self, family: str | None) -> None:
        given: Any = self.features
        if given is not None:
            if self._is_of_other_tables and family != foreign_family(self.triple, self.cpu, given.names):
                hint = "state a triple, or a CPU that a table of today has"
                raise FieldError(
                    self.kind, "features", given, "are of a family that no document would tell", hint
                )
            found = settled(given, family, self.triple)
            if found is not given:
                self._store("features", found)

    def _settle_names(self) -> None:
        for field, role in (("tuning", "tuning"), ("restrictions", "inverse")):
            names = getattr(self, field)
            if names and self.family is None:
                raise FieldError(self.kind, field, ",".join(sorted(names)), "needs a triple or a CPU")
            self._store(field, frozenset(self._canonical(field, name, role) for name in sorted(names)))
        self._settle_tuning()

    def _canonical(self, field: str, name: str, wanted: str) -> str:
        plain = name.lstrip("+-")
        if self._is_of_other_tables and not facts.has_feature(str(self.family), plain):
            return name
        feature = facts.canonical_feature(str(self.family), plain)
        role = facts.role(str(self.family), feature)
        if role != wanted:
            raise FieldError(self.kind, field, name, f"is a feature of role {role}", f"allowed: {wanted}")
        return name.removesuffix(plain) + feature

    def _settle_tuning(self) -> None:
        """Keep what departs from the tuning that comes with the CPU's name."""
        for name in sorted(self.tuning):
            if name[0] == "+" and f"-{name[1:]}" in self.tuning:
                reason = "asked for and refused at once"
                raise FeatureConflictError(str(self.family), name, f"-{name[1:]}", reason)
        cpu = self.tune or self._ground().base
        if self.tuning and cpu is not None and facts.has_cpu(str(self.family), cpu):
            there = facts.tuning_of(str(self.family), cpu)
            self._store(
                "tuning", frozenset(name for name in self.tuning if (name[0] == "+") != (name[1:] in there))
            )

    def _settle_libc(self, implied: str | None) -> None:
        if implied in _VERSIONED_BY_TRIPLE and self.triple is not None and self.triple.environment_version:
            self._take_version(self.triple)
        if implied is not None and self.libc not in (None, implied):
            raise FieldError(
                self.kind, "libc", self.libc, f"the triple says {implied}", "change one of the two"
            )
        if self.libc_version is not None and self.libc is None and implied is None:
            raise FieldError(self.kind, "libc_version", self.libc_version, "needs libc", "state libc as well")

    def _take_version(self, triple: Triple) -> None:
        """Move the C library's version from the triple (`gnu2.17`) to the field that holds it."""
        version = self._checked("libc_version", self.specs()["libc_version"], triple.environment_version)
        if self.libc_version not in (None, version):
            raise FieldError(
                self.kind,
                "libc_version",
                self.libc_version,
                f"the triple says {version}",
                "change one of the two",
            )
        self._store("libc_version", version)
        self._store("triple", attrs.evolve(triple, environment_version=""))

    def _tables(self) -> str | None:
        return None if self.features is None else self.features.tables

    def _tuning_value(self, name: str, one: Spec, value: Any) -> Any:
        if name == "triple":
            return str(attrs.evolve(value, os_version="", environment_version=""))
        return super()._tuning_value(name, one, value)
