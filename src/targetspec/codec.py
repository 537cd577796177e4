"""Reading JSON documents, every fault at once; writing them needs no more than a target (`target.dumps`).

A document is read by cattrs, one hook a kind, made from the kind's declaration. `validate` and `from_dict`
are one reading: the first returns the faults, the second raises them.
"""

from __future__ import annotations

import functools
import itertools
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NoReturn

import cattrs

from targetspec import registry
from targetspec.errors import (
    DocumentError,
    FeatureConflictError,
    FeatureRoleError,
    FieldError,
    Problem,
    TargetspecError,
    UnknownNameError,
    cut,
    nearest,
    portable,
    wrong_type,
)
from targetspec.fields import LONGEST_DOCUMENT, LONGEST_TEXT, TABLES_NAME, Refused, Shape
from targetspec.target import MOST_MEMBERS, HostShape, MembersShape, Target

# Of the fields of one object that are none: each is told up to here, with names that are near; then how many more.
_MOST_TOLD = 20


class _Fault(Exception):  # noqa: N818 - an exception is how cattrs collects
    """Faults below one place of a document."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__(problems)
        self.problems = problems


def loads(text: str | bytes) -> Target:
    """Return the target of a JSON text; DocumentError holds every fault."""
    return from_dict(_decoded(text))


def from_dict(mapping: Mapping[str, Any]) -> Target:
    """Return the target of a JSON document; DocumentError holds every fault."""
    try:
        return _read(mapping, "$")
    except _Fault as fault:
        raise DocumentError(fault.problems) from None


def validate(document: str | bytes | Mapping[str, Any]) -> list[Problem]:
    """Return every fault of a document, as `from_dict` or `loads` would raise them; empty for a good one."""
    try:
        if isinstance(document, str | bytes):
            loads(document)
        else:
            from_dict(document)
    except DocumentError as error:
        return list(error.problems)
    return []


def _fail(path: str, message: str, hint: str = "") -> NoReturn:
    raise _Fault((Problem(path, message, hint),))


def _decoded(text: str | bytes) -> Any:
    if not isinstance(text, str | bytes):
        raise wrong_type("loads", "the document", text, "a str or bytes", "from_dict takes what is decoded")
    if len(text) > LONGEST_DOCUMENT:
        raise DocumentError(
            (Problem("$", f"must be at most {LONGEST_DOCUMENT} characters, got {len(text)}"),)
        )
    try:
        decoded = _DECODER.decode(_without_mark(text if isinstance(text, str) else text.decode("utf-8")))
    except _Fault as fault:
        raise DocumentError(fault.problems) from None
    except json.JSONDecodeError as error:
        problem = Problem("$", f"is no JSON: {error.msg}", f"line {error.lineno}, column {error.colno}")
        raise DocumentError((problem,)) from None
    except (UnicodeDecodeError, RecursionError, ValueError) as error:
        message = "nested too deeply" if isinstance(error, RecursionError) else str(error)[:200]
        raise DocumentError((Problem("$", f"is no JSON that is read here: {message}"),)) from None
    return decoded


def _without_mark(text: str) -> str:
    if text.startswith("\ufeff"):
        _fail("$", "starts with a byte order mark", "save it as UTF-8 without one")
    return text


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        # `add` gives None: the first name that was seen before.
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        _fail("$", f"has the key {cut(twice)!r} twice", "keep one of the two")
    return found


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        _fail("$", f"{text} is no number that a computer holds")
    return number


def _refuse_constant(name: str) -> NoReturn:
    _fail("$", f"{name} is no JSON number")


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_float=_finite, parse_constant=_refuse_constant)


def _read(document: Any, path: str, *, as_host: bool = False, inner: bool = False) -> Target:
    if type(document) is not dict and not isinstance(document, Mapping):
        _fail(path, f"must be an object with a kind, got {type(document).__name__}")
    kind = document.get("kind")
    if type(kind) is not str:
        _fail(f"{path}.kind", "must name the kind of target", f"one of {', '.join(registry.kind_names())}")
    if len(kind) > LONGEST_TEXT:
        _fail(f"{path}.kind", f"must be a kind of target, of at most {LONGEST_TEXT} characters")
    try:
        cls = registry.kind(kind)
    except UnknownNameError as error:
        _fail(f"{path}.kind", str(error))
    if cls.is_composite and (as_host or inner):
        # Refused before its members are read, so that no document nests without end.
        _fail(f"{path}.kind", "must be no composite", "composites do not nest, and are no hosts")
    if as_host and not cls.host_capable:
        _fail(f"{path}.kind", f"must be a kind that can be a host, and {kind} cannot")
    nested: tuple[Problem, ...] = ()
    if as_host and "host" in document:
        nested = (Problem(f"{path}.host", "hosts do not nest: a host has no host itself", "leave it out"),)
        document = {name: value for name, value in document.items() if name != "host"}
    fields, faults = _CONVERTER.structure(document, cls)
    if faults:
        nested += tuple(problem._replace(path=path + problem.path) for problem in faults)
    return _constructed(cls, fields, document, path, nested)


_Read = tuple[dict[str, Any], list[Problem]]


def _reader(cls: type[Target]) -> Callable[[Mapping[str, Any], Any], _Read]:
    """Return the cattrs hook of a kind: it gives the values to construct with, each read by its field's shape, and faults."""
    loaders = {name: _loader(name, one.shape) for name, one in cls.specs().items()}
    loaders |= {"kind": _no_load, "tables": TABLES_NAME.load}

    def read(document: Mapping[str, Any], _: Any) -> _Read:
        faults: list[Problem] = []
        fields: dict[str, Any] = {}
        unknown: list[Any] = []
        for name, value in document.items():
            load = loaders.get(name)
            if load is None:
                unknown.append(name)
                continue
            try:
                fields[name] = load(value)
            except Refused as refused:
                faults += itertools.islice(_refusals(name, value, refused, load), _MOST_TOLD)
            except TargetspecError as error:
                faults.append(Problem(f".{name}", str(error)))
            except _Fault as fault:
                faults += fault.problems
        if unknown:
            faults += _unknown_fields(unknown, loaders)
        del fields["kind"]
        fields.pop("tables", None)
        return fields, faults

    return read


_CONVERTER = cattrs.Converter()
_CONVERTER.register_structure_hook_factory(lambda cls: issubclass(cls, Target), _reader)


def _refusals(name: str, value: Any, refused: Refused, load: Callable[[Any], Any]) -> Iterator[Problem]:
    """Give the fault of a field; where it is an item of an array, those of all items, each read alone."""
    if refused.at is None or type(value) is not list:
        yield _refusal(f".{name}", value, refused)
        return
    yield _refusal(f".{name}[{refused.at}]", value[refused.at], refused)
    for at, item in enumerate(value[refused.at + 1 :], refused.at + 1):
        try:
            load([item])
        except Refused as fault:
            yield _refusal(f".{name}[{at}]", item, fault)


def _refusal(place: str, value: Any, refused: Refused) -> Problem:
    return Problem(place, f"{refused.message}, got {_shown(value)}", refused.hint)


def _loader(name: str, shape: Shape) -> Callable[[Any], Any]:
    if isinstance(shape, HostShape):
        return _host
    if isinstance(shape, MembersShape):
        return functools.partial(_members, name, shape)
    return shape.load


def _no_load(value: Any) -> Any:
    return value


def _unknown_fields(names: list[Any], known: Iterable[str]) -> Iterator[Problem]:
    for name in names[:_MOST_TOLD]:
        shown = str(portable(name))
        near = nearest(shown, known)
        hint = f"did you mean {' or '.join(near)}?" if near else ""
        yield Problem(f".{shown}", "no such field", hint)
    more = len(names) - _MOST_TOLD
    if more > 0:
        yield Problem("", f"has {more} more fields that are none", "see the schema")


def _shown(value: Any) -> str:
    """Return a faulty value as JSON writes it, cut; one that is no JSON as Python does."""
    shown = portable(value)
    plain = value is shown or type(value) in (list, dict)
    try:
        if type(value) is str:
            value = value[:LONGEST_TEXT]
        return (json.dumps(value) if plain else str(shown))[:80]
    except (RecursionError, TypeError, ValueError):
        return str(shown)[:80]


def _host(value: Any) -> Target:
    return _read(value, ".host", as_host=True)


def _members(name: str, shape: MembersShape, value: Any) -> tuple[Target, ...]:
    if type(value) is not list:
        _fail(f".{name}", f"must be an array of targets, got {_shown(value)}")
    if len(value) > MOST_MEMBERS:
        _fail(f".{name}", f"must hold 1 to {MOST_MEMBERS} targets, got {len(value)}")
    members: list[Target] = []
    problems: list[Problem] = []
    for at, document in enumerate(value):
        try:
            members.append(_read(document, f".{name}[{at}]", inner=True))
        except _Fault as fault:
            problems += fault.problems
    if problems:
        raise _Fault(tuple(problems))
    try:
        return shape.check(members)
    except Refused as refused:
        _fail(f".{name}", refused.message, refused.hint)


def _constructed(
    cls: type[Target],
    fields: dict[str, Any],
    document: Mapping[str, Any],
    path: str,
    told: tuple[Problem, ...],
) -> Target:
    """Return the target of some fields; raise _Fault with what was told of others, and all that is wrong with these."""
    if not told:
        try:
            return cls.of_checked(fields, document.get("tables"))
        except TargetspecError:
            pass  # Every fault is looked for below, this one among them.
    # Of what rests on a field that is at fault, nothing more can be said.
    lost = {_field_of(problem.path.removeprefix(path)) for problem in told}
    if lost.intersection(_GROUND) or (
        told and any(name in document and name not in fields for name in cls.required)
    ):
        raise _Fault(told)
    found: list[Problem] = []
    left: dict[str, Any] | None = fields
    while left is not None and len(found) < _MOST_TOLD:
        try:
            cls.of_checked(left, document.get("tables"))
        except TargetspecError as error:
            problem = _problem_of(cls, document, error)
            if problem in found or (told and _field_of(problem.path) not in document):
                break
            found.append(problem)
            left = _without(left, document, problem.path)
        else:
            break
    raise _Fault((*told, *(problem._replace(path=path + problem.path) for problem in found)))


def _field_of(place: str) -> str:
    """Return the field that a path below its target begins with."""
    return re.split(r"[.\[]", place.removeprefix("."), maxsplit=1)[0]


def _problem_of(cls: type[Target], document: Mapping[str, Any], error: TargetspecError) -> Problem:
    if isinstance(error, FieldError):
        return Problem(f".{error.field}", f"{error.message}, got {_shown(error.value)}", error.hint)
    return Problem(_place_of_names(cls, document, error), str(error))


# What the meaning of other fields rests on: without these, further faults would be of our own making.
_GROUND = ("triple", "cpu", "arch", "members")


def _without(fields: Mapping[str, Any], document: Mapping[str, Any], place: str) -> dict[str, Any] | None:
    """Return the fields without what is at fault, to look for further faults; None where they say nothing without it."""
    field, _, at = place.removeprefix(".").partition("[")
    if field not in fields or (field in _GROUND and not (field == "cpu" and "triple" in fields)):
        return None
    if at:
        wrong = document[field][int(at.removesuffix("]"))]
        return {**fields, field: frozenset(fields[field]) - {wrong}}
    return {name: value for name, value in fields.items() if name != field}


def _place_of_names(cls: type[Target], document: Mapping[str, Any], error: TargetspecError) -> str:
    """Return which field, or which of its items, has the name that an error is about; the first one has it that is read."""
    for name in _names_at_fault(error):
        for field in cls.specs():
            value = document.get(field)
            if value == name:
                return f".{field}"
            for at, item in enumerate(value if type(value) is list else ()):
                if item == name or (type(item) is str and item[1:] == name and item[0] in "+-"):
                    return f".{field}[{at}]"
    return ".features" if isinstance(error, FeatureConflictError) else ""


def _names_at_fault(error: TargetspecError) -> tuple[str, ...]:
    if isinstance(error, UnknownNameError):
        return (error.name,)
    if isinstance(error, FeatureRoleError):
        return (error.feature,)
    if isinstance(error, FeatureConflictError):
        return error.first, error.second, error.first.lstrip("+-"), error.second.lstrip("+-")
    return ()
