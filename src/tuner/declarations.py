"""What a record's fields say of themselves beside their checks: their meaning, and their JSON Schema."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tuner.values import INTEGERS

NAME = {"type": "string", "minLength": 1}
TEXT = {"type": "string"}
MAYBE_TEXT = {"type": ["string", "null"]}
FLAG = {"type": "boolean"}
COUNT = {"type": "integer", "minimum": 0, "maximum": INTEGERS[-1]}
DIGEST = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
INSTANT = {
    "type": "string",
    "pattern": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?(Z|\+00:00)$",
}
VALUES = {"type": "object", "additionalProperties": {"type": ["integer", "number", "string", "boolean"]}}
SECONDS = {"type": ["number", "null"], "exclusiveMinimum": 0}
READINGS = {"type": "array", "items": {"type": "number", "minimum": 0}}


def declared(doc: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Return the metadata of a field."""
    return {"tuner": {**schema, "description": doc}}


def one_of(names: Sequence[str], *more: None) -> dict[str, Any]:
    """Return the schema of one of some texts, or null where that is one of them."""
    return {"enum": [*names, *more]}


def ref(identifier: str) -> dict[str, Any]:
    """Return a reference to another schema."""
    return {"$ref": identifier}
