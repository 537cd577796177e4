"""Generate `docs/fields.md` from the declarations of the kinds: each field with its shape, its unit, and what it means.

    python tools/fields_page.py [--check]

With `--check` nothing is written, and the exit status is 1 where the page differs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from targetspec import registry
from targetspec.fields import Count, NameSet, Spec, Text
from targetspec.target import Target

PAGE = Path(__file__).resolve().parents[1] / "docs" / "fields.md"
_MANY = 12
_HEAD = """\
# The fields of every kind

Made by `tools/fields_page.py` from the declarations; do not edit. The names are those of Python, of JSON and of our
text (`cuda arch=sm_90a num_cores=132`). What is not stated is None, or the empty set, and is not written. Sets are
arrays in JSON, and joined by commas in text. A field marked * must be stated.
"""


def page() -> str:
    """Return the page."""
    return "\n".join((_HEAD, *(line for name in sorted(registry.KINDS) for line in _of_kind(name))))


def _of_kind(name: str) -> Iterator[str]:
    cls: type[Target] = registry.kind(name)
    host = " It can be a host." if cls.host_capable else ""
    yield f"## {name}: `{cls.__name__}`\n"
    yield f"{cls.about}{host}\n"
    yield "| field | shape | unit | meaning |"
    yield "|---|---|---|---|"
    for field, one in cls.specs().items():
        mark = "*" if field in cls.required else ""
        cells = (f"`{field}`{mark}", _shape(one), one.unit, one.doc)
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
    yield ""


def _shape(one: Spec) -> str:
    schema = one.shape.schema()
    match one.shape:
        case Text(what=what):
            return what
        case NameSet(what=what) if schema.get("maxItems") != 0:
            return f"set of {what}s"
    return _by_schema(schema)


def _by_schema(schema: Mapping[str, Any]) -> str:
    match schema:
        case {"enum": words}:
            return _one_of([str(word) for word in words])
        case {"type": "boolean"}:
            return "true or false"
        case {"type": "integer", "minimum": least, "maximum": most}:
            return f"whole number, {_range(least, most)}"
        case {"$ref": _}:
            return "a target"
        case {"type": "array"}:
            return _array(schema)
    return "text"


def _array(schema: Mapping[str, Any]) -> str:
    if schema.get("maxItems") == 0:
        return "empty"
    return "list of targets" if "$ref" in schema["items"] else "set of names"


def _range(least: int, most: int) -> str:
    if most == Count().maximum:
        return f"{least} or more"
    return f"{least}" if least == most else f"{least} to {most}"


def _one_of(words: list[str]) -> str:
    if len(words) > _MANY:
        return f"one of {len(words)}, `{words[0]}` to `{words[-1]}`"
    return ", ".join(f"`{word}`" for word in words)


def main(arguments: list[str]) -> int:
    """Write the page, or say whether it is current."""
    text = page()
    if "--check" in arguments:
        return int(PAGE.read_text("utf-8") != text)
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
