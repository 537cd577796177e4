"""JSON Schema (2020-12) of the documents, made from the declarations of the kinds.

The schema accepts all that `from_dict` accepts. `validate` refuses more, for JSON Schema cannot say: UNSAID.
"""

from __future__ import annotations

from typing import Any

from targetspec import registry
from targetspec.cpu import cpu_names, family_names, feature_names
from targetspec.errors import UnknownNameError, nearest, wrong_type
from targetspec.fields import TABLES_NAME
from targetspec.target import Target
from targetspec.target_strings import format_checker, string_schema

__all__ = ["NAMES", "UNSAID", "VERSIONS", "format_checker", "identifier", "json_schema"]

VERSIONS = {"target": 1, "target-string": 1}
NAMES = tuple(VERSIONS)
UNSAID = {
    "one as a fraction": "1.0 is an integer to JSON Schema; here a number with a decimal point or exponent is none",
    "key twice": "a schema judges the value that a reader made of a text, in which one of the two keys is gone",
    "line break at the end": "the $ of a pattern matches before it in some engines, Python's among them",
    "length of a text": "a document has at most two million characters, counted as they are written",
    "length of a set": "the names of a set have so many characters together; a schema counts the names, and those of each",
    "unknown name": "CPUs, processors and features: which there are depends on the triple, and on the version of the tables; the schema"
    " offers today's names to editors, and takes others",
    "no such triple": "the parts of a triple are read one by one, with their aliases",
    "names that exclude each other": "two features of which only one can hold (f and zfinx), a setting of a target id that"
    " is stated twice, or that its processor lacks",
    "fields that contradict each other": "the C library and the triple's, a CPU and a triple of another width, two hosts",
    "field that needs another": "a libc_version without a libc, features without a family",
    "feature in the wrong field": "which features are for tuning or restrict depends on the family",
}
"""What `validate` refuses and a schema cannot: why, by a name for it."""

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
# Where an editor is offered the names of today's tables; any other name of the right form is as good to the schema.
_OFFERED = {("cpu", "cpu"): "cpu-name", ("cpu", "tune"): "cpu-name", ("cpu", "features"): "feature-name"}


def json_schema(name: str = "target") -> dict[str, Any]:
    """Return the schema of a document of that name, one of NAMES, covering all installed kinds and dialects.

    Raises UnknownNameError.
    """
    if type(name) is not str:
        raise wrong_type("json_schema", "the name", name, f"one of {', '.join(NAMES)}")
    makers = {"target": _target, "target-string": string_schema}
    if name not in makers:
        raise UnknownNameError("schema", name, nearest(name, makers) or NAMES)
    return {"$schema": _DIALECT, "$id": identifier(name), **makers[name]()}


def identifier(name: str) -> str:
    """Return the `$id` of a schema: its name and version, and the kinds or dialects of other packages that it covers.

    >>> identifier("target")
    'urn:targetspec:schema:target:1'
    """
    installed, ours = (
        (registry.kind_names(), registry.KINDS)
        if name == "target"
        else (registry.dialect_names(), registry.DIALECTS)
    )
    foreign = [one for one in installed if one not in ours]
    return "+".join([f"urn:targetspec:schema:{name}:{VERSIONS[name]}", *foreign])


def _target() -> dict[str, Any]:
    kinds = [registry.kind(kind) for kind in registry.kind_names()]
    hosts = [kind for kind in kinds if kind.host_capable]
    return {
        "title": "A compilation target",
        **_one_of(kinds, ""),
        "$defs": {
            **{kind.kind: _kind(kind) for kind in kinds},
            **{f"{kind.kind}-host": _without_host(_kind(kind)) for kind in hosts},
            "host": _one_of(hosts, "-host"),
            "member": _one_of([kind for kind in kinds if not kind.is_composite], ""),
            "cpu-name": {"enum": _names(cpu_names), "description": "a CPU of some table, by LLVM's name"},
            "feature-name": {"enum": _names(feature_names), "description": "a feature of some table"},
        },
    }


def _one_of(kinds: list[type[Target]], suffix: str) -> dict[str, Any]:
    """Return the schema that is the one of the kind which is stated, so that faults keep their path in all validators."""
    return {
        "type": "object",
        "required": ["kind"],
        "properties": {"kind": {"enum": [kind.kind for kind in kinds], "description": "the kind of target"}},
        "allOf": [
            {
                "if": {"type": "object", "properties": {"kind": {"const": kind.kind}}, "required": ["kind"]},
                "then": {"$ref": f"#/$defs/{kind.kind}{suffix}"},
            }
            for kind in kinds
        ],
    }


def _kind(cls: type[Target]) -> dict[str, Any]:
    properties: dict[str, Any] = {"kind": {"const": cls.kind, "description": "the kind of target"}}
    for name, one in cls.specs().items():
        unit = f" ({one.unit})" if one.unit else ""
        offered = _offering(one.shape.schema(), _OFFERED.get((cls.kind, name)))
        properties[name] = {**offered, "description": f"{one.doc}{unit}"}
    properties["tables"] = {
        **TABLES_NAME.schema(),
        "description": "the version of the tables that the features were closed with",
    }
    return {
        "type": "object",
        "description": cls.about or f"a target of the kind {cls.kind}",
        "properties": properties,
        "required": ["kind", *cls.required],
        "additionalProperties": False,
    }


def _offering(schema: dict[str, Any], names: str | None) -> dict[str, Any]:
    """Return a schema of a text, or of an array of texts, that takes what it took and offers names beside."""
    if names is None:
        return schema
    if schema.get("type") == "array":
        return {**schema, "items": _offering(schema["items"], names)}
    return {"anyOf": [schema, {"$ref": f"#/$defs/{names}"}]}


def _names(names_of: Any) -> list[str]:
    return sorted({name for family in family_names() for name in names_of(family)})


def _without_host(schema: dict[str, Any]) -> dict[str, Any]:
    properties = {name: value for name, value in schema["properties"].items() if name != "host"}
    return {**schema, "properties": properties}
