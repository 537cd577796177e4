"""The page of fields is what the declarations say."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from targetspec import registry

ROOT = Path(__file__).resolve().parents[1]
TOOL = runpy.run_path(str(ROOT / "tools" / "fields_page.py"))


def test_the_page_is_current() -> None:
    """`python tools/fields_page.py` writes it anew."""
    assert TOOL["page"]() == TOOL["PAGE"].read_text("utf-8")


@pytest.mark.parametrize("name", sorted(registry.KINDS))
def test_each_field_is_a_row_with_its_unit_and_meaning(name: str) -> None:
    """Of every kind: as many rows as fields, in their order, each of four cells."""
    text = TOOL["PAGE"].read_text("utf-8")
    section = text.partition(f"\n## {name}: ")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    specs = registry.kind(name).specs()
    assert list(specs) == [row.split("`")[1] for row in rows]
    for row, (field, one) in zip(rows, specs.items(), strict=True):
        assert 5 == row.replace("\\|", "").count("|")
        assert row.endswith(f"| {one.unit} | {one.doc} |")
        assert (f"`{field}`*" in row) == (field in registry.kind(name).required)


def test_another_page_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the exit status of --check, which writes nothing."""
    page = tmp_path / "fields.md"
    monkeypatch.setitem(TOOL["main"].__globals__, "PAGE", page)
    page.write_text("old", encoding="utf-8")
    assert 1 == TOOL["main"](["--check"])
    assert "old" == page.read_text("utf-8")
    assert 0 == TOOL["main"]([])
    assert 0 == TOOL["main"](["--check"])
