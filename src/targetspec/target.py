"""The base of every target kind: exact equality, hash, digest, host, and the relation."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, Self

import attrs

from targetspec import compatibility, registry
from targetspec.errors import (
    DocumentError,
    FieldError,
    FieldTypeError,
    HostConflictError,
    NotRepresentableError,
    Problem,
    RegistrationError,
    TargetspecError,
    nearest,
    wrong_type,
)
from targetspec.fields import (
    NameSet,
    Refused,
    Shape,
    Spec,
    canonical_json,
    plain_json,
    quoted,
    sha256,
    spec,
    specs_of,
)
from targetspec.host_rules import HOST
from targetspec.rules import Purpose, Rule, both_ways, re_measure, subset

# Far more than any program's devices; a document of so many of the largest targets is still read.
MOST_MEMBERS = 16
_LIBRARY = r"[A-Za-z0-9][A-Za-z0-9_.+-]*"


@attrs.frozen
class HostShape(Shape):
    """A target of a kind that can be a host, and that has none itself."""

    def check(self, value: Any) -> Target:
        """Accept a host-capable target."""
        if not isinstance(value, Target):
            raise Refused("must be a target", "pass a CpuTarget, or parse its text first", wrong_type=True)
        if not value.host_capable:
            raise Refused(f"must be of a kind that can be a host, and {value.kind} cannot")
        if value.host is not None:
            raise Refused("must have no host itself, for hosts do not nest", "pass host.without_host()")
        return value

    def dump(self, value: Any) -> Any:
        """Return the host's own document."""
        return value.to_dict()

    def json(self, value: Any) -> str:
        """Return the host's own text."""
        return str(value.json_text())

    def schema(self) -> dict[str, Any]:
        """Refer to the definition that the document's schema holds."""
        return {"$ref": "#/$defs/host"}


@attrs.frozen
class MembersShape(Shape):
    """Targets of kinds that are no composite themselves: one or more, in order."""

    def check(self, value: Any) -> tuple[Target, ...]:
        """Accept a sequence of targets."""
        if type(value) not in (tuple, list):
            raise Refused("must be a sequence of targets", "put a single one in a list", wrong_type=True)
        if not 1 <= len(value) <= MOST_MEMBERS:
            raise Refused(f"must hold 1 to {MOST_MEMBERS} targets")
        for member in value:
            if not isinstance(member, Target):
                raise Refused("must hold targets only", "parse a text first", wrong_type=True)
            if member.is_composite:
                raise Refused(
                    "must hold no composite, for composites do not nest", "name its members instead"
                )
        return tuple(value)

    def dump(self, value: Any) -> Any:
        """Return the members' own documents."""
        return [member.to_dict() for member in value]

    def write(self, value: Any) -> str:
        """Write each member in brackets."""
        return "".join(f"[{member}]" for member in value)

    def schema(self) -> dict[str, Any]:
        """Refer to the definition that the document's schema holds."""
        return {
            "type": "array",
            "items": {"$ref": "#/$defs/member"},
            "minItems": 1,
            "maxItems": MOST_MEMBERS,
        }


def frozen_names(value: Any) -> Any:
    """Freeze a plain collection of names; anything else is left for the shape to judge."""
    if type(value) in (set, list, tuple):
        try:
            return frozenset(value)
        except TypeError:
            return value
    return value


@attrs.frozen(eq=False, repr=False, kw_only=True)
class Target:
    """What a compiler compiles for; see the kinds.

    Two targets are equal iff they have the same kind and every field is equal after normalisation; then
    hash, text, JSON and digest are equal too. `host` is the machine that runs the surrounding program,
    and `libs` names the libraries that generated code calls (`cudnn`).

    >>> from targetspec import CpuTarget
    >>> a = CpuTarget(triple="arm64-apple-macos", cpu="apple-m1")
    >>> a == CpuTarget(triple="aarch64-apple-macosx", cpu="apple-m1")
    True
    """

    kind: ClassVar[str]
    about: ClassVar[str] = ""
    """What a target of the kind is, in a sentence; the schema says it. A docstring would go with `python -OO`."""
    host_capable: ClassVar[bool] = False
    is_composite: ClassVar[bool] = False
    required: ClassVar[tuple[str, ...]] = ()
    always_written: ClassVar[frozenset[str]] = frozenset()
    derived_needs: ClassVar[Mapping[str, tuple[Shape, Rule]]] = {}

    libs: frozenset[str] = attrs.field(
        default=frozenset(),
        converter=frozen_names,
        metadata=spec(
            NameSet(_LIBRARY, "library name"),
            "libraries that the generated code calls, such as cudnn",
            code=(subset("libs", "code calls what it was generated to call"),),
        ),
    )
    host: Target | None = attrs.field(
        default=None,
        metadata=spec(
            HostShape(),
            "the machine that runs the program around it",
            code=(HOST,),
            link=(both_ways(HOST, ("host",)),),
        ),
    )
    # What is worked out once, when first asked for; none of it is stored or sent anywhere.
    _key: tuple[Any, ...] | None = attrs.field(init=False, default=None)
    _hash: int | None = attrs.field(init=False, default=None)
    _digest: str | None = attrs.field(init=False, default=None)
    _tuning: str | None = attrs.field(init=False, default=None)
    _json: str | None = attrs.field(init=False, default=None)
    _stances: dict[Purpose, compatibility.Stance] | None = attrs.field(init=False, default=None)
    _verdicts: dict[tuple[int, Purpose], compatibility.Verdict] | None = attrs.field(init=False, default=None)

    def __attrs_post_init__(self) -> None:
        cls = type(self)
        for name, default, one, put in _PLANS.get(cls) or _planned(cls):
            value = getattr(self, name)
            if value is not default:
                if value is None and name in cls.required:
                    raise FieldError(self.kind, name, None, "must be stated", f"{name}=... in a text")
                checked = self._checked(name, one, value)
                if checked is not value:
                    put(self, checked)
        self._complete()

    @classmethod
    def of_checked(cls, fields: Mapping[str, Any], tables: str | None = None) -> Self:  # noqa: ARG003 - kinds use it
        """Return the target of values that their shapes have checked already, as a reader does; raises as construction.

        `tables` is the version that a document was written with.
        """
        if any(name not in fields for name in cls.required):
            return cls(**fields)
        target = cls.__new__(cls)
        for name, default, _, put in _PLANS.get(cls) or _planned(cls):
            put(target, fields.get(name, default))
        for put in _NOT_YET:
            put(target, None)
        target._complete()  # noqa: SLF001 - one class
        return target

    def _checked(self, name: str, one: Spec, value: Any) -> Any:
        try:
            return one.shape.check(value)
        except Refused as refused:
            error = FieldTypeError if refused.wrong_type else FieldError
            raise error(self.kind, name, value, refused.message, refused.hint) from None

    def _store(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def _complete(self) -> None:
        """Settle fields that interact; a kind overrides this. Fills in what `implied` gives."""
        for name, value in self.implied().items():
            if value is not None and getattr(self, name) is None:
                self._store(name, value)

    def implied(self) -> Mapping[str, Any]:
        """Return the values that construction fills in from other fields; these are not written out."""
        return {}

    # -- the declaration ------------------------------------------------------------------------------

    @classmethod
    def specs(cls) -> Mapping[str, Spec]:
        """Return the declarations of the fields, by name: the kind's own first, then libs and host."""
        found = _SPECS.get(cls)
        if found is None:
            found = _SPECS[cls] = MappingProxyType(_ordered(specs_of(cls)))
        return found

    @classmethod
    def defaults(cls) -> Mapping[str, Any]:
        """Return the value of each declared field where it is not stated."""
        found = _DEFAULTS.get(cls)
        if found is None:
            fields = attrs.fields_dict(cls)
            found = _DEFAULTS[cls] = MappingProxyType({name: fields[name].default for name in cls.specs()})
        return found

    @classmethod
    def rules(cls, purpose: Purpose) -> tuple[Rule, ...]:
        """Return the rules of the relation for a purpose, each once."""
        found = _RULES.get((cls, purpose))
        if found is None:
            found = _RULES[cls, purpose] = tuple(_each_once(_rules_for(cls, purpose)))
        return found

    @classmethod
    def need_rules(cls) -> Mapping[str, tuple[Shape, Rule]]:
        """Return what may be stated in `needs`: the shape of each and its rule."""
        stated = {name: (one.shape, one.need) for name, one in cls.specs().items() if one.need is not None}
        return {**stated, **cls.derived_needs}

    # -- equality, copies -----------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        if other is self:
            return True
        if other.__class__ is not self.__class__:
            return NotImplemented
        return (self._key or self._values()) == (other._key or other._values())

    def __hash__(self) -> int:
        found = self._hash
        if found is None:
            found = hash(self._values())
            self._store("_hash", found)
        return found

    def _values(self) -> tuple[Any, ...]:
        """Return the values of all fields, in order; they are normalised, and so decide equality."""
        found = self._key
        if found is None:
            found = tuple([getattr(self, name) for name in self.specs()])
            self._store("_key", found)
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), self._values())

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def evolve(self, **changes: Any) -> Self:
        """Return a target with some fields changed; values that were implied by changed ones are implied anew.

        Raises FieldError for an unknown field, and what construction raises.
        """
        for name, value in changes.items():
            if name not in self.specs():
                near = nearest(name, self.specs())
                hint = f"did you mean {' or '.join(near)}?" if near else ""
                raise FieldError(self.kind, name, value, "no such field", hint)
        implied = self.implied()
        kept = {
            name: getattr(self, name)
            for name in self.specs()
            if name not in implied or getattr(self, name) != implied[name]
        }
        return type(self)(**{**kept, **changes})

    @classmethod
    def common_candidates(
        cls,
        targets: Sequence[Target],  # noqa: ARG003 - kinds override it
        fields: tuple[str, ...],  # noqa: ARG003
    ) -> Iterator[dict[str, Any]]:
        """Give further values for fields of a target whose code is to run on all of some; see `targetspec.common`."""
        return iter(())

    def generalise(self, cpu: str) -> Self:
        """Return this target for caches that a fleet shares: with another CPU, of the host where the kind has none itself.

        Raises FieldError where code for that CPU would not run here, or there is no CPU.
        """
        if self.host is None:
            raise FieldError(
                self.kind, "cpu", cpu, "is a fact of processors, and there is no host", "state the host"
            )
        return self.evolve(host=self.host.generalise(cpu))

    # -- host -----------------------------------------------------------------------------------------

    def with_host(self, host: Target, *, replace: bool = False) -> Self:
        """Return this target with a host; HostConflictError where it has a different one, unless `replace`."""
        if host is None:
            raise FieldTypeError(self.kind, "host", None, "must be a target", "without_host() removes one")
        host = self._checked("host", self.specs()["host"], host)
        if self.host is not None and self.host != host and not replace:
            raise HostConflictError(self.host, host)
        return self.evolve(host=host)

    def without_host(self) -> Self:
        """Return this target without a host."""
        return self.evolve(host=None)

    # -- written forms --------------------------------------------------------------------------------

    def _written(self) -> Iterator[tuple[str, Shape, Any]]:
        """Give the fields that a document states, with their shapes and values."""
        implied, always = self.implied(), self.always_written
        for name, default, one, _ in _PLANS[type(self)]:
            value = getattr(self, name)
            if value is not default and (name in always or value != implied.get(name, default)):
                yield name, one.shape, value

    def _document(self) -> dict[str, Any]:
        document: dict[str, Any] = {"kind": self.kind}
        for name, shape, value in self._written():
            document[name] = value._document() if isinstance(value, Target) else shape.dump(value)  # noqa: SLF001
        return document

    def _tables(self) -> str | None:
        """Return the version of the tables that the features were closed with; None where there are none."""
        return None

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document: the canonical form, and the version of the tables it was closed with."""
        document = self._document()
        if self.host is not None:
            document["host"] = self.host.to_dict()
        tables = self._tables()
        if tables is not None:
            document["tables"] = tables
        return document

    def json_text(self) -> str:
        """Return the text of `to_dict` on one line, with sorted keys; kept, for records write a target again and again."""
        if self._json is None:
            whole = type(self).to_dict is Target.to_dict
            self._store("_json", self._joined_texts() if whole else plain_json(self.to_dict()))
        return self._json  # type: ignore[return-value]

    def _joined_texts(self) -> str:
        # Each shape keeps or writes its own text in less time than an encoder takes to look at its document.
        texts = {name: shape.json(value) for name, shape, value in self._written()}
        texts["kind"] = quoted(self.kind)
        tables = self._tables()
        if tables is not None:
            texts["tables"] = quoted(tables)
        return "{" + ", ".join([f'"{name}": {texts[name]}' for name in sorted(texts)]) + "}"

    @property
    def digest(self) -> str:
        """SHA-256 over the canonical JSON, in hexadecimal; the same in every process and on every machine."""
        if self._digest is None:
            self._store("_digest", sha256(canonical_json(self._document())))
        return self._digest  # type: ignore[return-value]

    @property
    def tuning_key(self) -> str:
        """SHA-256 over the fields that can change code or timing: what a tuned record is looked up by."""
        if self._tuning is None:
            self._store("_tuning", sha256(canonical_json(self._tuning_document())))
        return str(self._tuning)

    def _tuning_document(self) -> dict[str, Any]:
        document: dict[str, Any] = {"kind": self.kind, "host": self.host and self.host.tuning_key}
        for (name, default, one, _), value in zip(_PLANS[type(self)], self._values(), strict=True):
            if one.tunes and name != "host" and value is not None and value != default:
                document[name] = self._tuning_value(name, one, value)
        return document

    def _tuning_value(self, name: str, one: Spec, value: Any) -> Any:  # noqa: ARG002 - kinds override it
        return one.shape.dump(value)

    def format(self, dialect: str = "targetspec", lossy: bool = False) -> str:
        """Return the text in a dialect; NotRepresentableError lists what does not fit, unless `lossy`.

        Its `lossy` is set where even a lossy text cannot be written: the error then says what is missing.
        """
        writer = registry.dialect(dialect)
        try:
            text = str(writer.format(self, lossy=lossy))
        except NotRepresentableError as error:
            raise self._unwritten(writer, error, lossy) from None
        if not lossy and dialect != "targetspec":
            self._check_read_back(text, dialect)
        return text

    def _unwritten(self, writer: Any, error: NotRepresentableError, lossy: bool) -> NotRepresentableError:
        """Return the error of a writer, marked where leaving things out would not help."""
        if lossy:
            return NotRepresentableError(error.dialect, error.fields, lossy=True)
        try:
            writer.format(self, lossy=True)
        except NotRepresentableError as hopeless:
            fields = tuple(dict.fromkeys((*hopeless.fields, *error.fields)))
            return NotRepresentableError(error.dialect, fields, lossy=True)
        return error

    def _check_read_back(self, text: str, dialect: str) -> None:
        """Refuse a text that its own dialect reads otherwise: what a writer did not know that it loses."""
        try:
            again: Target = registry.layer_above("parsing").parse(text, dialect)
        except TargetspecError as error:
            raise NotRepresentableError(dialect, (("kind", f"{text!r} is not read back: {error}"),)) from None
        if again != self:
            fields = (line.split(":", 1)[0] for line in diff(self, again))
            raise NotRepresentableError(dialect, tuple((name, f"{text!r} says otherwise") for name in fields))

    def __str__(self) -> str:
        return self.format()

    def __format__(self, dialect: str) -> str:
        return self.format(dialect or "targetspec")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self}>"

    # -- the relation ---------------------------------------------------------------------------------

    def compatible(
        self,
        run_on: Target,
        *,
        purpose: Purpose = "code",
        needs: Mapping[str, Any] | None = None,
        bridges: Iterable[str] = (),
    ) -> compatibility.Verdict:
        """Say whether what was built or tuned for this target can be used on `run_on`, and why.

        `purpose` is "code" (a binary runs), "link" (objects go together) or "schedule" (a tuned
        configuration is worth trying). `needs` states limits in use (`{"vector_bits": 256}`), `bridges`
        names layers that the caller has (`compat32`). Unknown names raise UnknownNameError.
        """
        if needs is not None or bridges or run_on.__class__ is not self.__class__:
            _check_target("compatible", "run_on", run_on)
            return compatibility.judge(self, run_on, purpose, needs, bridges)
        seen = self._verdicts
        if seen is None:
            seen = {}
            self._store("_verdicts", seen)
        # A verdict keeps its two targets, so that the number of a target in here is never another's.
        key = id(run_on), purpose
        found = seen.get(key)
        if found is None:
            if len(seen) >= _MOST_VERDICTS:
                seen.clear()
            try:
                mine, other = self._stances[purpose], run_on._stances[purpose]  # type: ignore[index]
            except (KeyError, TypeError):
                mine, other = self.stance(purpose), run_on.stance(purpose)
            found = seen[key] = compatibility.judge_plainly(self, run_on, mine, other)
        return found

    def stance(self, purpose: Purpose) -> compatibility.Stance:
        """Return how this target stands to the rules of a purpose, worked out once."""
        try:
            return self._stances[purpose]  # type: ignore[index]
        except TypeError:
            self._store("_stances", {})
        except KeyError:
            pass
        found = self._stances[purpose] = compatibility.stance(self, purpose)  # type: ignore[index]
        return found


_MOST_VERDICTS = 256


def dumps(target: Target, *, indent: int | None = None) -> str:
    """Return a target's JSON text, with the version of the tables its features were closed with."""
    _check_target("dumps", "the target", target)
    if indent is None:
        return target.json_text()
    return json.dumps(target.to_dict(), sort_keys=True, indent=indent, ensure_ascii=True, allow_nan=False)


def _check_target(function: str, argument: str, value: Any) -> None:
    if not isinstance(value, Target):
        raise wrong_type(function, argument, value, "a Target", "parse a text first")


def diff(first: Target, second: Target) -> tuple[str, ...]:
    """Return one line for each field in which two targets differ; empty iff they are equal."""
    for place, target in (("the first", first), ("the second", second)):
        _check_target("diff", place, target)
    return compatibility.difference(first, second)


def _restore(cls: type[Target], values: tuple[Any, ...]) -> Target:
    """Make a target from its stored values, without asking the reader's tables."""
    plan = _PLANS.get(cls) or _planned(cls)
    if len(values) != len(plan):
        raise DocumentError(
            (
                Problem(
                    "$",
                    f"was pickled with {len(values)} fields where a {cls.kind} target of this version has {len(plan)}",
                    "between versions of targetspec send JSON",
                ),
            )
        )
    target = cls.__new__(cls)
    for (_, _, _, put), value in zip(plan, values, strict=True):
        put(target, value)
    for put in _NOT_YET:
        put(target, None)
    target._store("_key", values)  # noqa: SLF001 - one class
    return target


# A slot's own setter: what `object.__setattr__` comes to, without looking its name up each time.
_Put = Callable[[Target, Any], None]
_NOT_YET: tuple[_Put, ...] = tuple(
    getattr(Target, field.name).__set__ for field in attrs.fields(Target) if not field.init
)
_Plan = tuple[tuple[str, Any, Spec, _Put], ...]
_PLANS: dict[type[Target], _Plan] = {}
_SPECS: dict[type[Target], Mapping[str, Spec]] = {}
_DEFAULTS: dict[type[Target], Mapping[str, Any]] = {}
_RULES: dict[tuple[type[Target], Purpose], tuple[Rule, ...]] = {}


def _planned(cls: type[Target]) -> _Plan:
    """Return, and keep, the name, default and declaration of each field: what construction goes through."""
    if not hasattr(cls, "kind"):
        raise TypeError("Target is the base of the kinds; make one of them, such as CpuTarget")
    ours = registry.KINDS.get(cls.kind)
    if "kind" not in cls.__dict__ or ours not in (None, f"{cls.__module__}:{cls.__qualname__}"):
        # Such targets would be unequal to those of the kind, and have their JSON and digest.
        raise RegistrationError(
            cls.kind, f"{cls.__qualname__} needs a `kind` of its own, for this one is another class"
        )
    # What attrs gives to classes with slots, for pickles of its own: here it would change a target in place.
    for base in cls.__mro__:
        if issubclass(base, Target) and "__setstate__" in base.__dict__:
            del base.__setstate__  # type: ignore[attr-defined]
    # A required field has no default, so that it is always checked, and always written.
    defaults = {**cls.defaults(), **dict.fromkeys(cls.required, attrs.NOTHING)}
    plan = _PLANS[cls] = tuple(
        (name, defaults[name], one, getattr(cls, name).__set__) for name, one in cls.specs().items()
    )
    return plan


def _ordered(declared: dict[str, Spec]) -> dict[str, Spec]:
    """Return a kind's own declarations first, and those that every kind has last."""
    common = ("libs", "host")
    return {name: declared[name] for name in (*(n for n in declared if n not in common), *common)}


def _rules_for(cls: type[Target], purpose: Purpose) -> Iterator[Rule]:
    for name, one in cls.specs().items():
        yield from one.rules[purpose]
        if purpose == "schedule" and one.tunes and not one.rules[purpose]:
            yield re_measure(name)


def _each_once(rules: Iterable[Rule]) -> Iterable[Rule]:
    return {id(rule): rule for rule in rules}.values()
