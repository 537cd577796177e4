"""Target strings in other projects' files: the schema of one, and the format that checks it to the last name.

The schema has a pattern for each dialect: the value of the constant PATTERN of the dialect's module, a regular expression as
JSON Schema has them (ECMA-262, and Python's), that every text matches which the dialect reads; any text where it states
none. The format `target-string` is the whole check, and `target-string-DIALECT` that of one dialect. The text
"native" is another target on each machine, and so it is no target string.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

from targetspec import registry
from targetspec.errors import TargetspecError, TargetSyntaxError
from targetspec.fields import LONGEST_DOCUMENT
from targetspec.parsing import parse

FORMAT = "target-string"
ANY_TEXT = r"^[^\u0000]+$"
_JSON = r"^[\s\u001c-\u001f\u0085]*\{"
_NATIVE = r"^[\s\u001c-\u001f\u0085]*native[\s\u001c-\u001f\u0085]*$"


def definitions() -> dict[str, Any]:
    """Return the schema of a text of each installed dialect, by the dialect's name."""
    found = {name: _definition(name, _pattern(name)) for name in registry.dialect_names()}
    return {**found, "json": _definition("json", _JSON)}


def string_schema() -> dict[str, Any]:
    """Return what is said of a target string of any dialect; it refers to the definitions."""
    return {
        "title": "A target as text, in any dialect",
        "type": "string",
        "format": FORMAT,
        "maxLength": LONGEST_DOCUMENT,
        "not": {"pattern": _NATIVE},
        "anyOf": [{"$ref": f"#/$defs/{name}"} for name in sorted(definitions())],
        "$defs": definitions(),
    }


def check_target_string(value: object, dialect: str = "auto") -> bool:
    """Say True of a value that is no string, as formats do, and of a text that a dialect reads; else raise.

    Raises TargetSyntaxError, with the span.
    """
    if isinstance(value, str):
        if value.strip() == "native":
            hint = "write down the target that it is: targetspec host"
            raise TargetSyntaxError(
                value, (0, len(value)), "'native' is another target on each machine", hint
            )
        parse(value, dialect)
    return True


def formats() -> dict[str, Callable[[object], bool]]:
    """Return the checks by the names of their formats, to register with any validator; each returns True or raises."""
    checks: dict[str, Callable[[object], bool]] = {FORMAT: check_target_string}
    for name in definitions():
        checks[f"{FORMAT}-{name}"] = functools.partial(check_target_string, dialect=name)
    return checks


def format_checker() -> Any:
    """Return a new `jsonschema.FormatChecker` that knows the formats; raises ImportError without the package jsonschema.

    The TargetSyntaxError of a bad string is the `cause` of jsonschema's error.
    """
    checker = importlib.import_module("jsonschema").FormatChecker()
    for name, check in formats().items():
        # The instance's own table, and not the class's: what others register stays as it is.
        checker.checkers[name] = (check, TargetspecError)
    return checker


def _definition(name: str, pattern: str) -> dict[str, Any]:
    return {
        "type": "string",
        "minLength": 1,
        "maxLength": LONGEST_DOCUMENT,
        "pattern": pattern,
        "description": f"a target as the dialect {name} writes it; its format {FORMAT}-{name} checks it in full",
    }


def _pattern(name: str) -> str:
    return str(getattr(registry.dialect(name), "PATTERN", ANY_TEXT))
