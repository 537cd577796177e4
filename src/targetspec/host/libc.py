"""Read which C library a process runs on, and its version, from what the library says of itself."""

from __future__ import annotations

import re

_SAYINGS = (
    ("glibc", re.compile(r"\s*glibc (\d+(?:\.\d+)+)")),  # confstr(_CS_GNU_LIBC_VERSION)
    ("glibc", re.compile(r"ldd \([^)\n]*\) (\d+(?:\.\d+)+)")),  # the first line of ldd --version
    ("musl", re.compile(r"musl libc[^\n]*\n\s*Version (\d+(?:\.\d+)+)")),  # the loader, run without arguments
)


_BIONIC = re.compile(r"bionic \d+")


def read_libc(text: str) -> tuple[str | None, str | None]:
    r"""Return the library and its version, (None, None) where the text says neither.

    >>> read_libc("musl libc (x86_64)\nVersion 1.2.4\nDynamic Program Loader")
    ('musl', '1.2.4')
    """
    if _BIONIC.fullmatch(text):
        return "bionic", None
    for name, saying in _SAYINGS:
        found = saying.match(text)
        if found:
            return name, found[1]
    return None, None


def musl_loader(maps: str) -> str | None:
    """Return the path of musl's loader among the files that a process has mapped, None where there is none."""
    found = re.search(r"(/\S*/ld-musl-[A-Za-z0-9_.-]+\.so\.1)$", maps, re.MULTILINE)
    return found[1] if found else None
