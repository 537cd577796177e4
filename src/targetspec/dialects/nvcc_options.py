"""nvcc's options that choose an architecture and the form of its code.

    -arch=sm_90                                  machine code and PTX
    -arch=compute_90 -code=sm_90                 machine code; without -code, PTX
    -gencode arch=compute_90,code=[sm_90,compute_90]

Also by their long names (--gpu-architecture, --gpu-code, --generate-code), the value joined or as the next word. All
of them must be of one architecture. Source: NVIDIA's documentation of nvcc, "Options for Steering GPU Code Generation".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import attrs

from targetspec.dialects.words import Source, Word, split_words
from targetspec.programs import NVCC, options_of

_OPTIONS = {
    "arch": "arch",
    "gpu-architecture": "arch",
    "code": "code",
    "gpu-code": "code",
    "gencode": "gencode",
    "generate-code": "gencode",
}
_OPTION = re.compile(rf"--?({'|'.join(_OPTIONS)})(=.*)?", re.DOTALL)
_GENCODE = re.compile(r"arch=(?P<arch>[^,=]*),code=(?P<code>.*)", re.DOTALL)
_CODE = re.compile(r"(?P<form>sm|compute|lto)_(?P<number>[0-9]{2,3}[a-z]?)")
_FORMS = {
    frozenset(("sm",)): "cubin",
    frozenset(("compute",)): "ptx",
    frozenset(("sm", "compute")): "fat",
    frozenset(("lto",)): "lto",
}
_CODES = {
    None: "sm_{0}",
    "cubin": "sm_{0}",
    "ptx": "compute_{0}",
    "fat": "[sm_{0},compute_{0}]",
    "lto": "lto_{0}",
}
_EACH = "read each of them on its own"


def written(arch: str, code_form: str | None) -> tuple[str, str]:
    """Return the options that have nvcc write one form of code; machine code where none is stated."""
    number = arch.removeprefix("sm_")
    return "-gencode", f"arch=compute_{number},code={_CODES[code_form].format(number)}"


@attrs.frozen
class Chosen:
    """The architecture that options choose, with its place, the form of its code, and all other words."""

    arch: Word
    code_form: str
    leftovers: tuple[str, ...]


def are_options(text: str) -> bool:
    """Whether a text is a command line of nvcc, or begins with an option that chooses an architecture."""
    words = split_words(text)
    if options_of(words, NVCC)[1]:
        return True
    return bool(words) and bool(_OPTION.fullmatch(words[0].text) or _GENCODE.match(words[0].text))


def chosen(source: Source) -> Chosen:
    """Return what the options of a command line choose; TargetSyntaxError for none, and for several architectures."""
    behind, _ = options_of(split_words(source.text), NVCC)
    values: dict[str, list[Word]] = {"arch": [], "code": [], "gencode": []}
    leftovers = tuple(_sorted(source, iter(behind), values))
    codes = [code for value in values["gencode"] for code in _gencode(source, value)]
    codes += _short(source, values["arch"], values["code"])
    if not codes:
        raise source.fault(None, "no option chooses an architecture", "state -arch=sm_90")
    forms = frozenset(_form(source, code, codes[0]) for code in codes)
    if forms not in _FORMS:
        raise source.fault(
            codes[-1], "a target has one form of code: machine code, PTX, both, or LTO's", _EACH
        )
    return Chosen(codes[0].after(codes[0].text.index("_") + 1), _FORMS[forms], leftovers)


def _sorted(source: Source, words: Iterator[Word], values: dict[str, list[Word]]) -> Iterator[str]:
    """Put the values of the options where they belong, and give all other words."""
    for word in words:
        found = _OPTION.fullmatch(word.text)
        if found is None and _GENCODE.match(word.text) is None:
            yield word.text
            continue
        if found is None:
            values["gencode"].append(word)
            continue
        value = word.after(found.start(2) + 1) if found[2] else next(words, None)
        if value is None or not value.text:
            raise source.fault(word, f"{word.text} has no value", "write -arch=sm_90")
        values[_OPTIONS[found[1]]].append(value)


def _gencode(source: Source, value: Word) -> Iterable[Word]:
    found = _GENCODE.fullmatch(value.text.replace('"', " ").replace("'", " ").strip())
    if found is None:
        raise source.fault(
            value, f"{value.text[:80]!r} is no arch=...,code=...", "arch=compute_90,code=sm_90"
        )
    at = value.text.index("arch=")
    virtual = Word(found["arch"], value.start + at + found.start("arch"))
    codes = _listed(Word(found["code"], value.start + at + found.start("code")))
    return _of(source, virtual, codes)


def _short(source: Source, archs: list[Word], codes: list[Word]) -> Iterable[Word]:
    """Return the codes of -arch, which by itself means itself, and PTX where it is an architecture of devices."""
    if not archs:
        if codes:
            raise source.fault(codes[0], "-code says nothing without -arch", "state -arch=compute_90")
        return ()
    if len(archs) > 1:
        raise source.fault(archs[1], "-arch is stated twice", "state it once")
    arch = archs[0]
    if codes:
        return _of(source, arch, tuple(code for word in codes for code in _listed(word)))
    if arch.text.startswith("sm_"):
        return arch, Word(f"compute_{arch.text[3:]}", arch.start)
    return (arch,)


def _listed(value: Word) -> tuple[Word, ...]:
    inside = value.text.strip("[]\"' ")
    return Word(inside, value.start + value.text.index(inside)).items()


def _of(source: Source, virtual: Word, codes: tuple[Word, ...]) -> tuple[Word, ...]:
    """Return the codes, made from an architecture that must be theirs."""
    for code in codes:
        _form(source, code, virtual)
    return codes


def _form(source: Source, code: Word, first: Word) -> str:
    """Return the form of a code, whose architecture must be that of the first one."""
    for word in (first, code):
        if _CODE.fullmatch(word.text) is None:
            hint = "native, all and all-major are no one architecture" if word.text.isalpha() else ""
            raise source.fault(
                word, f"{word.text[:80]!r} is no architecture", hint or "write sm_90 or compute_90"
            )
    if code.text.partition("_")[2] != first.text.partition("_")[2]:
        raise source.fault(code, "a target is one architecture", _EACH)
    return code.text.partition("_")[0]
