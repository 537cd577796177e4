"""Known devices and boards by name: the target tags of TVM, as values of our kinds.

The facts are TVM's, of version 0.27: what a tag states and the defaults of its kind, in our fields. What TVM derives
by itself is not among them (`feature.is_aarch64` is wrong wherever the triple says arm64: arm/mate10, apple/*), and
neither are `keys` and `device=arm_cpu`, which choose schedules, nor options of the compiler (`llvm-options`).
"""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Iterable, Mapping

from targetspec.cpu_tables import TABLES_VERSION
from targetspec.errors import FieldTypeError, UnknownNameError, nearest
from targetspec.packaged import packaged
from targetspec.parsing import parse
from targetspec.target import Target

_REMARK = "#"
_MOST = 3
_SHORTEST = 2
_LONGEST = 64
# What names the parts of one series: a word, and a number behind it, as in h100, rtx-4090 and hexagon-v68.
_SERIES = re.compile(r"([a-z]*)[-_ ]?([0-9]{1,6})(?![0-9])")
_SOURCE = "the tags of TVM 0.27"
_INSTEAD = "for any other device write a target, such as cuda arch=sm_90a"

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
        case = "" if name == name.lower() else "names are lower case; "
        raise UnknownNameError("tag", name, _near(name), f"{_SOURCE} ({case}{_INSTEAD})")
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
    """Return names that are near to one, those of its maker first: with its last part, of its series, or close ones."""
    wanted = name[:_LONGEST].lower()
    last = _plain(wanted.rpartition("/")[2])
    maker = f"{wanted.partition('/')[0]}/"
    makers = [known for known in tag_names() if known.startswith(maker)] or list(tag_names())
    holding = [known for known in tag_names() if len(last) >= _SHORTEST and last in _plain(known)]
    found = dict.fromkeys((*holding, *_of_series(wanted, makers)))
    ranked = sorted(found, key=lambda known: known not in makers)
    return tuple(ranked or _close(wanted, makers))[:_MOST]


def _plain(name: str) -> str:
    return name.replace("-", "").replace("_", "")


def _of_series(wanted: str, names: Iterable[str]) -> list[str]:
    """Return the names whose word before a number is this one's, the nearest numbers first."""
    series = dict(_SERIES.findall(wanted.rpartition("/")[2]))
    ranked = sorted(
        (*_distance(number, series[word]), -_likeness(wanted, name), name)
        for name in names
        for word, number in _SERIES.findall(name.rpartition("/")[2])
        if word in series
    )
    return [name for *_, name in ranked]


def _distance(one: str, other: str) -> tuple[bool, int]:
    """Return how far apart two numbers are; those of other lengths are of another generation, and all alike."""
    return len(one) != len(other), abs(int(one) - int(other)) if len(one) == len(other) else 0


def _likeness(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one, other).ratio()


def _close(wanted: str, names: Iterable[str]) -> list[str]:
    """Return the names that differ by a few letters, the maker aside, which all share."""
    short = {_short(name): name for name in names}
    return [short[one] for one in nearest(_short(wanted), short)]


def _short(name: str) -> str:
    maker, _, rest = name.partition("/")
    return rest.removeprefix(f"{maker}-") or name
