"""Real inputs of other projects with known answers: each row is right, or on a reviewed list with its reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from judges.files import FILES, paths_in, rows_of
from judges.judge import Judge, verdict

pytestmark = pytest.mark.shared


@pytest.mark.parametrize("name", FILES)
def test_every_row_is_right_or_listed(shared: Path, name: str) -> None:
    """And nothing is listed that is right."""
    path = paths_in(shared / "corpora")[name]
    found = verdict(FILES[name], rows_of(path))
    assert ({}, ()) == (found.wrong, found.stale)
    assert found.right
    assert found.within, f"{found.share:.1f} % of {name} are listed"


def test_every_file_has_a_judge(shared: Path) -> None:
    """No file goes uncounted."""
    assert set(paths_in(shared / "corpora")) == set(FILES)


def test_a_wrong_row_a_listed_one_and_a_stale_one_are_told_apart() -> None:
    """By a judge that finds every row wrong but one."""
    judge = Judge(lambda row: [] if row["id"] == "a" else ["no"], {"a": "", "b": "", "z": ""}, 50)
    found = verdict(judge, [{"id": "a"}, {"id": "b"}, {"id": "c"}])
    assert (("a",), {"c": "no"}, ("b",), ("a",)) == (found.right, found.wrong, found.listed, found.stale)
    assert (3, True) == (found.rows, found.within)
