"""JSON Schema (2020-12) of a record's JSON form, made from the declarations of its fields.

The schema accepts all that `Record.from_dict` accepts, which refuses more: 2.0 where an integer is wanted, integers of
more than 64 bits, keys that are there twice, names with line breaks, and what a target's own schema does not say.
"""

from __future__ import annotations

from typing import Any

import attrs

import targetspec
from tuner.declarations import ref
from tuner.record import VERSION, Outcome, Record

IDENTIFIER = f"urn:targetspec:schema:record:{VERSION}"

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def record_schema() -> dict[str, Any]:
    """Return the schema of one record, which is one line of JSON Lines; the schema of targets is within it."""
    record = _object(Record, {"target": ref("#/$defs/target"), "outcome": ref("#/$defs/outcome")})
    record["properties"]["version"] = {"const": VERSION, "description": "the version of this form"}
    record["required"] = [*record["required"], "version"]
    good = {"properties": {"outcome": {"properties": {"kind": {"const": "ok"}}}}}
    cost = {
        "if": good,
        "then": {"properties": {"cost": {"type": "number"}}},
        "else": {"properties": {"cost": {"const": None}}},
    }
    return {
        "$schema": _DIALECT,
        "$id": IDENTIFIER,
        "title": "A tuning record",
        "description": "One measurement of one configuration of a kernel, with all that its cost depends on.",
        **record,
        **cost,
        "$defs": {"outcome": _outcome(), "target": _target()},
    }


def _target() -> dict[str, Any]:
    """Return the schema of targets without the names of today's tables, which only help editors."""
    schema: dict[str, Any] = _moved(targetspec.json_schema("target"))
    for name, definition in schema["$defs"].items():
        if "enum" in definition:
            schema["$defs"][name] = {"type": "string", "description": definition["description"]}
    return {name: value for name, value in schema.items() if name not in {"$schema", "$id"}}


def _moved(schema: Any) -> Any:
    """Return a schema whose references to its own definitions lead to where it is put."""
    if isinstance(schema, list):
        return [_moved(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {name: _lead(value) if name == "$ref" else _moved(value) for name, value in schema.items()}


def _lead(reference: Any) -> Any:
    return reference.replace("#/", "#/$defs/target/", 1) if isinstance(reference, str) else reference


def _outcome() -> dict[str, Any]:
    good = {"properties": {"kind": {"const": "ok"}}}
    nothing = {"properties": {"stage": {"const": None}, "cause": {"const": None}}}
    failed = {
        "properties": {"stage": {"type": "string"}, "stopped_early": {"const": False}},
        "required": ["stage"],
    }
    return {**_object(Outcome, {}), "if": good, "then": nothing, "else": failed}


def _object(cls: type[attrs.AttrsInstance], refs: dict[str, Any]) -> dict[str, Any]:
    fields = attrs.fields(cls)
    properties = {field.name: {**field.metadata["tuner"], **refs.get(field.name, {})} for field in fields}
    return {
        "type": "object",
        "properties": properties,
        "required": [field.name for field in fields if field.default is attrs.NOTHING],
        "additionalProperties": False,
    }
