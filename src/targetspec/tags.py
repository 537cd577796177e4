"""Known devices and boards by name: the target tags of TVM, as values of our kinds.

The facts are TVM's, of version 0.27: what a tag states and the defaults of its kind, in our fields. What TVM derives
by itself is not among them (`feature.is_aarch64` is wrong wherever the triple says arm64: arm/mate10, apple/*), and
neither are `keys` and `device=arm_cpu`, which choose schedules, nor options of the compiler (`llvm-options`).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

from targetspec.cpu_tables import TABLES_VERSION
from targetspec.errors import FieldTypeError, UnknownNameError, nearest
from targetspec.packaged import packaged
from targetspec.parsing import parse
from targetspec.target import Target

_REMARK = "#"
_MOST = 3
_SHORTEST = 2

# What TVM has a tag for and no kind or table here can say: the kind of name that is missing, and the name.
_WITHOUT_VALUE = {
    "aws/trn1/trn1.2xlarge": ("kind", "trn"),
    "aws/trn1/trn1.32xlarge": ("kind", "trn"),
    "riscv/spacemit-k3": ("CPU", "spacemit-x100"),
}


def tag(name: str) -> Target:
    """Return the target of a device or board; a maker's name need not be said twice (`nvidia/h100`).

    Raises:
        UnknownNameError: no such tag, or one of TVM's that needs a kind or a CPU which is not known here.
        FieldTypeError: the name is no str.

    >>> tag("nvidia/h100") == tag("nvidia/nvidia-h100")
    True
    >>> tag("nvidia/jetson-agx-xavier").host.cpu
    'carmel'
    """
    if not isinstance(name, str):
        raise FieldTypeError("tag", "name", name, "must be a str")
    if name in _WITHOUT_VALUE:
        what, missing = _WITHOUT_VALUE[name]
        raise UnknownNameError(what, missing, (), f"the tag {name} (tables {TABLES_VERSION})")
    known = _texts()
    full = name if name in known else _in_full(name)
    if full not in known:
        raise UnknownNameError("tag", name, _near(name))
    return _value(full)


def missing_of_tag(name: str) -> tuple[str, str] | None:
    """Return what a tag of TVM's needs that is not known here, a kind or a CPU, and its name; None for all others."""
    return _WITHOUT_VALUE.get(name)


def tag_names() -> tuple[str, ...]:
    """Return the names that `tag` has a target for, sorted."""
    return tuple(sorted(_texts()))


@functools.cache
def _texts() -> Mapping[str, str]:
    lines = (
        line.partition(_REMARK)[0].split(None, 1)
        for line in packaged("tags.txt").decode("ascii").splitlines()
    )
    return {line[0]: line[1].strip() for line in lines if line}


@functools.cache
def _value(name: str) -> Target:
    return parse(_texts()[name], "targetspec")


def _in_full(name: str) -> str:
    maker, _, rest = name.partition("/")
    return f"{maker}/{maker}-{rest}"


def _near(name: str) -> tuple[str, ...]:
    """Return names that hold the last part of this one, hyphens aside, and then close ones."""
    wanted = name[:64].lower()
    last = _plain(wanted.rpartition("/")[2])
    holding = (known for known in tag_names() if len(last) >= _SHORTEST and last in _plain(known))
    return tuple(dict.fromkeys((*holding, *nearest(wanted, _texts()))))[:_MOST]


def _plain(name: str) -> str:
    return name.replace("-", "").replace("_", "")
