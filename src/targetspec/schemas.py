"""JSON Schema (2020-12) of the documents, made from the declarations of the kinds."""

from __future__ import annotations

from typing import Any

from targetspec import registry
from targetspec.errors import UnknownNameError
from targetspec.fields import TABLES_NAME
from targetspec.target import Target

VERSION = 1
_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_ID = "urn:targetspec:schema:{name}:{version}"


def json_schema(name: str = "target") -> dict[str, Any]:
    """Return the schema of a document of that name, covering all installed kinds; `target` is the one there is.

    Raises UnknownNameError.
    """
    makers = {"target": _target}
    if name not in makers:
        raise UnknownNameError("schema", name, registry.nearest(name, makers))
    return makers[name]()


def _target() -> dict[str, Any]:
    kinds = [registry.kind(kind) for kind in registry.kind_names()]
    definitions = {kind.kind: _kind(kind) for kind in kinds}
    members = [{"$ref": f"#/$defs/{kind.kind}"} for kind in kinds if not kind.is_composite]
    hosts = [_without_host(_kind(kind)) for kind in kinds if kind.host_capable]
    return {
        "$schema": _DIALECT,
        "$id": _ID.format(name="target", version=VERSION),
        "title": "A compilation target",
        "oneOf": [{"$ref": f"#/$defs/{kind}"} for kind in definitions],
        "$defs": {**definitions, "host": {"oneOf": hosts}, "member": {"oneOf": members}},
    }


def _kind(cls: type[Target]) -> dict[str, Any]:
    properties: dict[str, Any] = {"kind": {"const": cls.kind, "description": "the kind of target"}}
    for name, one in cls.specs().items():
        unit = f" ({one.unit})" if one.unit else ""
        properties[name] = {**one.shape.schema(), "description": f"{one.doc}{unit}"}
    properties["tables"] = {
        **TABLES_NAME.schema(),
        "description": "the version of the tables that the features were closed with",
    }
    required = ["kind", *cls.required]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _without_host(schema: dict[str, Any]) -> dict[str, Any]:
    properties = {name: value for name, value in schema["properties"].items() if name != "host"}
    return {**schema, "properties": properties}
