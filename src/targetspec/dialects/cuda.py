"""NVIDIA's architectures, in every spelling that compilers and build systems have for them.

    sm_90a  90a  9.0a  (9, 0)          the architecture; the form of the code is not stated
    compute_90a  90a-virtual           PTX
    sm_90a-real  90a-real              machine code
    9.0+PTX                            both, in one fat binary
    lto_90a                            an intermediate that is linked later

    -gencode arch=compute_90a,code=sm_90a       nvcc -arch=sm_90 -O3 a.cu       as nvcc has it (`nvcc_options`)

One architecture a text; upper and lower case differ (nvcc, CMake, PyTorch). Written are sm_90a, compute_90a, 90a-real,
9.0a+PTX and lto_90a.
"""

from __future__ import annotations

import re
from typing import Any

from targetspec.dialects import nvcc_options
from targetspec.dialects.fitting import fitted, refused_kind
from targetspec.dialects.words import Source, Word
from targetspec.errors import NotRepresentableError
from targetspec.kinds.cuda import CudaTarget
from targetspec.parsing import Parsed
from targetspec.target import Target

NAME = "cuda"
PATTERN = (
    r"^[\s\u001c-\u001f\u0085]*(?:(?:-|arch=|(?:[A-Za-z0-9_.+/\\:-]*[/\\])?nvcc)[^\u0000]*|"
    r"(?:(?:sm|compute|lto)_)?[0-9]{1,3}(?:\.[0-9])?[a-z]?(?:-real|-virtual)?(?:\+PTX)?"
    r"|\([\s\u001c-\u001f\u0085]*[0-9]{1,2}[\s\u001c-\u001f\u0085]*,[\s\u001c-\u001f\u0085]*[0-9][\s\u001c-\u001f\u0085]*,?[\s\u001c-\u001f\u0085]*\)"
    r")[\s\u001c-\u001f\u0085]*$"
)
"""What every text matches that is read here, as a regular expression of JSON Schema."""

_PAIR = re.compile(r"\(\s*([0-9]{1,2})\s*,\s*([0-9])\s*,?\s*\)")
_SEVERAL = re.compile(r"[\s;,]")


def parse(text: str) -> Parsed:
    """Read an architecture; TargetSyntaxError names the nearest ones where there is no such."""
    source = Source(text, NAME)
    if nvcc_options.are_options(text):
        return _of_options(source)
    word = Word(text.strip(), len(text) - len(text.lstrip()))
    pair = _PAIR.fullmatch(word.text)
    if pair is None and (several := _SEVERAL.search(word.text)):
        hint = "read each of them on its own"
        raise source.fault(word.after(several.start()), "a target is one architecture", hint)
    spelling = f"{pair[1]}.{pair[2]}" if pair else word.text
    fields: dict[str, Any] = {"arch": spelling}
    target = source.reading({"arch": word}, lambda: CudaTarget(**fields))
    return Parsed(target, (), NAME)


def _of_options(source: Source) -> Parsed:
    chosen = nvcc_options.chosen(source)
    fields: dict[str, Any] = {"arch": chosen.arch.text, "code_form": chosen.code_form}
    target = source.reading({"arch": chosen.arch}, lambda: CudaTarget(**fields))
    return Parsed(target, chosen.leftovers, NAME)


def format(target: Target, *, lossy: bool = False) -> str:  # noqa: A001 - the name of every dialect's writer
    """Return the spelling of an architecture and a form of code; NotRepresentableError for all else that is stated."""
    if not isinstance(target, CudaTarget):
        raise refused_kind(NAME, target, "cuda")
    if target.arch is None:
        raise NotRepresentableError(NAME, (("arch", "not stated, and it is all that this form says"),))
    number = f"{target.arch.number}{target.arch.suffix}"
    major, minor = target.arch.capability
    spellings = {
        None: f"sm_{number}",
        "ptx": f"compute_{number}",
        "cubin": f"{number}-real",
        "fat": f"{major}.{minor}{target.arch.suffix}+PTX",
        "lto": f"lto_{number}",
    }
    text = spellings[target.code_form]
    return fitted(NAME, target, text, lambda said: parse(said).target, lossy=lossy)


def format_parsed(parsed: Parsed) -> str:
    """Return the spelling, as an option of nvcc where others were beside it."""
    text = format(parsed.target)
    target = parsed.target
    if not parsed.leftovers or not isinstance(target, CudaTarget):
        return text
    return " ".join(("nvcc", *nvcc_options.written(str(target.arch), target.code_form), *parsed.leftovers))
