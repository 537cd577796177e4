"""What TVM asks of compiler options: the values of LLVM's own options in `cl-opt`."""

from __future__ import annotations

import re

from targetspec.dialects.tvm_config import Config, shown
from targetspec.dialects.words import Word

# A type goes with a value; without one the option is a bool.
_CL_OPT = re.compile(
    r"--?(?P<name>[^-:=][^:=]*)(?P<typed>:(?P<type>[^=]*))?(?:(?P<equals>=)(?P<value>.*))?", re.DOTALL
)
_VALUES = {
    "bool": re.compile(r"[+-]?0*[01]|true|false", re.IGNORECASE),
    "int": re.compile(r"[+-]?[0-9]{1,19}"),
    "uint": re.compile(r"[+-]?[0-9]{1,19}"),
    "string": re.compile(r".*", re.DOTALL),
}


def check_options(config: Config) -> None:
    """Raise TargetSyntaxError for an option of LLVM whose type and value TVM would refuse."""
    stated = config.stated.get("cl-opt")
    for option in stated.value if stated else ():
        reason = _fault_of(option)
        if reason and stated:
            at = stated.word.text.find(option)
            word = Word(option, stated.word.start + at) if at >= 0 else stated.word
            hint = "write -NAME, -NAME=true or -NAME:TYPE=VALUE with bool, int, uint or string"
            raise config.source.fault(word, f"cl-opt {shown(option)}: {reason}", hint)


def _fault_of(option: str) -> str:
    found = _CL_OPT.fullmatch(option)
    if found is None:
        return "an option is one or two dashes and a name"
    kind = found["type"] if found["typed"] else "bool"
    if kind not in _VALUES:
        return f"no type {found['type']!r}" if found["type"] else "a colon without a type"
    if found["equals"] is None:
        return f"the type {kind} without a value" if found["typed"] else ""
    if not _VALUES[kind].fullmatch(found["value"]):
        return f"{found['value']!r} is no {kind}"
    return ""
