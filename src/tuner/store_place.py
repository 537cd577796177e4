"""Where record stores lie: the commands' default file, and what is no path of a file."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tuner.errors import DatabaseError


def default_path() -> Path:
    """Return the file that the commands use: `targetspec/tuner.sqlite` in the user's data folder."""
    # As platformdirs has it; that package is one more dependency for these few lines.
    stated = Path(os.environ.get("LOCALAPPDATA" if sys.platform == "win32" else "XDG_DATA_HOME", ""))
    if sys.platform == "darwin":
        folder = _home("Library", "Application Support")
    elif stated.is_absolute():
        # The XDG specification has relative paths ignored.
        folder = stated
    else:
        folder = _home("AppData", "Local") if sys.platform == "win32" else _home(".local", "share")
    return folder / "targetspec" / "tuner.sqlite"


def _home(*parts: str) -> Path:
    try:
        return Path.home().joinpath(*parts)
    except RuntimeError as error:
        raise DatabaseError(
            "~", f"cannot be found, so there is no default file; give a path ({error})"
        ) from error


def absolute(path: str | os.PathLike[str]) -> str:
    """Return a path as an absolute text; DatabaseError where it is none of a file."""
    text = os.fspath(path)
    if not isinstance(text, str):
        raise DatabaseError(repr(text), "is no text; give the path as str or pathlib.Path")
    if text in {"", ":memory:"} or "\0" in text:
        raise DatabaseError(repr(text), "is no path of a file; records are kept in a file, so give one")
    return os.path.abspath(text)  # noqa: PTH100 - Path.absolute keeps `..`
