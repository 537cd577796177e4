"""Strategies made from declarations: values that a shape takes, and targets of fields that may not go together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from targetspec.errors import FieldError, TargetspecError
from targetspec.fields import Choice, Count, Flag, NameSet, Refused, Shape, Text, Version
from targetspec.target import Target

_USUAL = 1 << 20


def shape_values(shape: Shape) -> st.SearchStrategy[Any]:
    """Return values to construct with that a shape takes, the smallest and the largest count among them.

    A shape of another package is drawn from by its JSON Schema; None where that says too little.
    """
    match shape:
        case Count():
            found: st.SearchStrategy[Any] = counts(shape)
        case Flag():
            found = st.booleans()
        case Choice():
            found = st.sampled_from(shape.words)
        case NameSet():
            found = st.frozensets(st.from_regex(shape.pattern, fullmatch=True), max_size=3)
        case Version():
            found = st.sampled_from(("0", "1.0", "1.2", "2.17", "3", "3.0.0.0", "999999999.0.1"))
        case Text():
            found = st.from_regex(shape.pattern, fullmatch=True)
        case _:
            return _by_schema(shape)
    return found.filter(lambda value: takes(shape, value))


def counts(shape: Count) -> st.SearchStrategy[int]:
    """Return whole numbers within the bounds: the bounds themselves, powers of two, and others."""
    usual = min(shape.maximum, max(shape.minimum, _USUAL))
    powers = [1 << n for n in range(64) if shape.minimum <= 1 << n <= shape.maximum]
    return st.sampled_from((shape.minimum, *powers, shape.maximum)) | st.integers(shape.minimum, usual)


def takes(shape: Shape, value: Any) -> bool:
    """Say whether a shape takes a value."""
    try:
        shape.check(value)
    except (Refused, TargetspecError):
        return False
    return True


def _by_schema(shape: Shape) -> st.SearchStrategy[Any]:
    documents = _documents(shape.schema())
    return (
        st.none() if documents is None else documents.filter(lambda one: _loads(shape, one)).map(shape.load)
    )


def _documents(schema: Mapping[str, Any]) -> st.SearchStrategy[Any] | None:
    match schema:
        case {"enum": words}:
            return st.sampled_from(list(words))
        case {"type": "boolean"}:
            return st.booleans()
        case {"type": "integer"}:
            return counts(Count(schema.get("minimum", 0), schema.get("maximum", Count().maximum)))
        case {"type": "string", "pattern": pattern}:
            return st.from_regex(pattern)
        case {"type": "array", "items": items}:
            inner = _documents(items)
            return None if inner is None else st.lists(inner, max_size=3, unique_by=repr)
    return None


def _loads(shape: Shape, document: Any) -> bool:
    try:
        shape.load(document)
    except (Refused, TargetspecError):
        return False
    return True


def made(cls: type[Target], fields: Mapping[str, Any]) -> Target:
    """Return the target of some fields, without those that do not go with the others."""
    kept = dict(fields)
    while True:
        try:
            return cls(**kept)
        except FieldError as error:
            if error.field not in kept:
                raise
            del kept[error.field]


def stated(target: Target) -> dict[str, Any]:
    """Return the fields of a target that are not implied by others."""
    implied = target.implied()
    values = {name: getattr(target, name) for name in target.specs()}
    return {name: value for name, value in values.items() if value is not None and value != implied.get(name)}
