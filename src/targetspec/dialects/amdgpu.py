"""AMD's target ids, alone or as a bundle of code objects and rocminfo name them.

    target id = PROCESSOR { ":" ("sramecc" | "xnack") ("+" | "-") }     each setting once; left out, it is any
    whole     = [ KIND "-" ] "amdgcn-" VENDOR "-" SYSTEM "-" [ "unknown" ] "-" target id

PROCESSOR may be an older name (fiji is gfx803). SYSTEM is amdhsa, amdpal or mesa3d; KIND is what bundles begin with
(hip, hipv4, openmp), and a leftover. Settings are written in alphabetical order. No white space, as in LLVM.

Source: LLVM's AMDGPUUsage ("Target ID") and ClangOffloadBundler.
"""

from __future__ import annotations

import re

from targetspec.dialects.fitting import fitted, refused_kind
from targetspec.dialects.words import Source, Word
from targetspec.errors import NotRepresentableError
from targetspec.gpu_amd import ALIASES, TargetId
from targetspec.kinds.rocm import RocmTarget
from targetspec.parsing import Parsed
from targetspec.target import Target

NAME = "amdgpu"
PATTERN = (
    r"^(?:(?:(?:hipv4|hip|openmp)-)?amdgcn-(?:amd|mesa|unknown|)-(?:amdhsa|amdpal|mesa3d)-(?:unknown)?-?)?"
    r"[A-Za-z0-9-]+(?::(?:sramecc|xnack)[+-]){0,2}$"
)
"""What every text matches that is read here, as a regular expression of JSON Schema."""

_WHOLE = re.compile(
    r"(?:(?P<kind>hipv4|hip|openmp)-)?amdgcn-(?:amd|mesa|unknown|)-(?P<os>amdhsa|amdpal|mesa3d)-(?:unknown)?-?"
)
_SETTING = re.compile(r"(?P<name>[A-Za-z0-9_]+)(?P<sign>[+-])")
_VENDOR = {"amdhsa": "amd", "amdpal": "amd", "mesa3d": "mesa"}


def parse(text: str) -> Parsed:
    """Read a target id; TargetSyntaxError says what is wrong where."""
    source = Source(text, NAME)
    word = Word(text, 0)
    whole = _WHOLE.match(word.text)
    target_id = _target_id(source, word.after(whole.end()) if whole else word)
    leftovers = (whole["kind"],) if whole and whole["kind"] else ()
    return Parsed(RocmTarget(target_id=target_id, os=whole["os"] if whole else None), leftovers, NAME)


def _target_id(source: Source, word: Word) -> TargetId:
    processor, *settings = word.items(":")
    name = ALIASES.get(processor.text, processor.text)
    found: TargetId = source.reading({"target_id": processor}, lambda: TargetId(name))
    stated: dict[str, bool] = {}
    for part in settings:
        setting = _SETTING.fullmatch(part.text)
        if setting is None:
            raise source.fault(part, "a setting is its name and + or -", "write xnack+ or xnack-")
        if setting["name"] not in ("sramecc", "xnack"):
            hint = "the settings are sramecc and xnack"
            raise source.fault(part, f"there is no setting {setting['name'][:80]!r}", hint)
        if setting["name"] in stated:
            raise source.fault(part, f"{setting['name']} is stated twice", "state it once")
        stated[setting["name"]] = setting["sign"] == "+"
        found = source.reading({"target_id": part}, lambda: TargetId(name, **stated))
    return found


def format(target: Target, *, lossy: bool = False) -> str:  # noqa: A001 - the name of every dialect's writer
    """Return the target id, in whole where a system is stated; NotRepresentableError for all else that is."""
    if not isinstance(target, RocmTarget):
        raise refused_kind(NAME, target, "rocm")
    if target.target_id is None:
        raise NotRepresentableError(NAME, (("target_id", "not stated, and the form is nothing without it"),))
    head = f"amdgcn-{_VENDOR[target.os]}-{target.os}--" if target.os else ""
    return fitted(NAME, target, f"{head}{target.target_id}", lambda said: parse(said).target, lossy=lossy)


def format_parsed(parsed: Parsed) -> str:
    """Return the text with the kind of bundle that it began with."""
    return "-".join((*parsed.leftovers, format(parsed.target)))
