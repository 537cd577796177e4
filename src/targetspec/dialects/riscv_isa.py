"""Reading one ISA string: its width, its extensions with their places, and what makes it none."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping

import attrs

from targetspec.cpu_tables import table
from targetspec.dialects.riscv_names import (
    EXCLUSIVE,
    EXPERIMENTAL,
    EXPERIMENTAL_PROFILES,
    NOT_WITH_C_AND_D,
    ONE_OF,
    ONLY_RV32,
    PROFILES,
    SINGLE_LETTERS,
    TYPES,
    G,
    features,
    version_of,
)
from targetspec.dialects.words import Source, Word
from targetspec.errors import FeatureConflictError, TargetSyntaxError, nearest
from targetspec.features import FeatureSet

_FOREIGN = re.compile(r"[^a-z0-9_]")
_WIDTH = re.compile(r"rv(?:32|64)")
_VERSION = re.compile(r"(\d*)(p(\d*))?")
_DIGITS = "0123456789"
_PROFILES = re.compile("|".join(PROFILES))
_BEGINNINGS = "begin with rv32 or rv64 and i, e or g, or with a profile such as rva23u64"


@attrs.frozen
class Isa:
    """What an ISA string says: the pointer width, and the place of each extension by its name."""

    bits: int
    places: Mapping[str, Word]


@attrs.frozen
class Reader:
    """Reads the ISA string that stands somewhere in a text.

    `experimental` allows extensions that are not ratified, and `versioned` asks for the version of each such.
    """

    source: Source
    experimental: bool = True
    versioned: bool = True

    def read(self, word: Word) -> Isa:
        """Return what the word says; TargetSyntaxError names the part at fault."""
        foreign = _FOREIGN.search(word.text)
        if foreign is not None:
            at = Word(foreign[0], word.start + foreign.start())
            raise self.source.fault(at, "an ISA string may only contain [a-z0-9_]", "write small letters")
        places: dict[str, Word] = {}
        if _WIDTH.match(word.text):
            bits = int(word.text[2:4])
            rest = self._base(word.after(4), places, bits)
        else:
            bits, rest = self._profile(word, places)
        for part in self._parts(rest):
            self._extensions(part, places)
        return Isa(bits, places)

    def _profile(self, word: Word, places: dict[str, Word]) -> tuple[int, Word]:
        found = _PROFILES.match(word.text)
        if found is None:
            near = nearest(word.text.partition("_")[0], PROFILES)
            hint = f"did you mean {' or '.join(near)}?" if near else _BEGINNINGS
            raise self.source.fault(word, f"an ISA string must {_BEGINNINGS}", hint)
        name = Word(found[0], word.start)
        if name.text in EXPERIMENTAL_PROFILES and not self.experimental:
            raise self.source.fault(name, f"the profile {name.text!r} is experimental")
        rest = word.after(len(name.text))
        if rest.text and rest.text[0] != "_":
            message = "additional extensions of a profile must be after the separator '_'"
            raise self.source.fault(rest, message, f"write {name.text}_{rest.text[:40]}")
        bits, listed = PROFILES[name.text]
        places.update(dict.fromkeys(listed.split(), name))
        return bits, rest

    def _base(self, rest: Word, places: dict[str, Word], bits: int) -> Word:
        letter = Word(rest.text[:1], rest.start)
        if not letter.text:
            raise self.source.fault(
                letter, f"an ISA string must {_BEGINNINGS}", f"write rv{bits}i or rv{bits}gc"
            )
        if letter.text not in ("i", "e", "g"):
            raise self.source.fault(letter, f"the first letter after 'rv{bits}' must be 'e', 'i' or 'g'")
        rest = rest.after(1)
        if letter.text != "g":
            places[letter.text] = letter
            return self._version(letter, rest)
        if rest.text[:1].isdigit():
            raise self.source.fault(rest, "'g' has no version: it is not supported for a list of extensions")
        places.update(dict.fromkeys(G, letter))
        return rest

    def _parts(self, rest: Word) -> Iterator[Word]:
        """Give what stands between the separators."""
        if not rest.text:
            return
        first, *others = rest.items("_")
        if first.text:
            yield first
        for part in others:
            if not part.text:
                at = Word("_", part.start - 1)
                raise self.source.fault(at, "the name of an extension is missing after the separator '_'")
            yield part

    def _extensions(self, part: Word, places: dict[str, Word]) -> None:
        while part.text:
            kind = part.text[0]
            if kind in SINGLE_LETTERS:
                name = Word(kind, part.start)
                part = self._version(name, part.after(1))
            elif kind in TYPES:
                name = self._long(part)
                part = Word("", part.start)
            else:
                at = Word(kind, part.start)
                raise self.source.fault(at, f"invalid extension {kind!r}: no standard one is called that")
            if name.text in places and not (kind == "z" and places[name.text].text == "g"):
                raise self.source.fault(name, f"duplicated extension {name.text!r}", "state it once")
            places[name.text] = name

    def _long(self, part: Word) -> Word:
        name = Word(_without_version(part.text), part.start)
        if len(name.text) == 1:
            kind = f"{TYPES[name.text]} extension"
            raise self.source.fault(part, f"the name of the {kind} is missing after {name.text!r}")
        self._version(name, part.after(len(name.text)))
        return name

    def _version(self, name: Word, rest: Word) -> Word:
        """Return what stands behind the version of an extension, whose name and version are checked."""
        found = _VERSION.match(rest.text)
        major, dot, minor = found.groups() if found and found[1] else ("", None, None)
        length = len(major) + len(dot or "")
        self._check_known(name)
        if dot and not minor:
            message = f"the minor version is missing after 'p' for the extension {name.text!r}"
            raise self.source.fault(Word(rest.text[:length], rest.start), message)
        self._check_version(name, Word(rest.text[:length], rest.start), major, minor or "")
        return rest.after(length)

    def _check_known(self, name: Word) -> None:
        feature = features().get(name.text)
        if feature is None:
            kind = TYPES.get(name.text[0], "user-level") if len(name.text) > 1 else "user-level"
            near = nearest(name.text, features())
            hint = f"did you mean {' or '.join(near)}?" if near else ""
            raise self.source.fault(name, f"unsupported {kind} extension {name.text!r}", hint)
        if feature.startswith(EXPERIMENTAL) and not self.experimental:
            raise self.source.fault(name, f"the extension {name.text!r} is experimental")

    def _check_version(self, name: Word, place: Word, major: str, minor: str) -> None:
        supported = version_of(name.text)
        experimental = features()[name.text].startswith(EXPERIMENTAL)
        hint = f"write {name.text}{supported}"
        if not major:
            if experimental and self.versioned:
                message = f"the experimental extension {name.text!r} requires its explicit version number"
                raise self.source.fault(name, message, hint)
            return
        if f"{major.lstrip('0') or '0'}p{minor.lstrip('0') or '0'}" != supported and (
            self.versioned or not experimental
        ):
            stated = f"{major[:20]}.{minor[:20]}".rstrip(".")
            message = f"unsupported version number {stated} for the extension {name.text!r}"
            raise self.source.fault(place, message, hint)


def _without_version(text: str) -> str:
    """Return a name without the version behind it: names end neither with a digit nor, before one, with p."""
    name = text.rstrip(_DIGITS)
    if name.endswith("p") and name[-2:-1] in _DIGITS and len(name) > 1:
        name = name[:-1].rstrip(_DIGITS)
    return name


def feature_set(source: Source, isa: Isa) -> FeatureSet:
    """Return the closed set of an ISA string; TargetSyntaxError for extensions that do not go together."""
    wanted = [features()[name] for name in isa.places]
    refused = _adjusted(isa.bits, wanted)
    base = FeatureSet.closed("riscv", [f"{isa.bits}bit", *sorted({"i", "e"} & isa.places.keys())])
    try:
        found = base.with_changes(wanted, refused).for_width(isa.bits)
    except FeatureConflictError as error:
        _check(source, isa, _reached(isa.bits, wanted))
        raise source.fault(None, str(error)) from None
    _check(source, isa, {name for name, _ in _watched() if name in found.names})
    return found


def _adjusted(bits: int, wanted: list[str]) -> tuple[str, ...]:
    """Add what the width brings, zcf or c, and return what zca does not bring: c is there with all its parts alone."""
    there = _reached(bits, wanted)
    narrow = bits == 32  # noqa: PLR2004 - only there c has loads of f
    if narrow and {"zce", "f"} <= there:
        wanted.append("zcf")
        there |= {"zcf"}
    if "zca" not in there or "c" in there:
        return ()
    lacking = (narrow and "f" in there and "zcf" not in there) or ("d" in there and "zcd" not in there)
    if not lacking:
        wanted.append("c")
    return ("c",) if lacking else ()


def _check(source: Source, isa: Isa, there: set[str]) -> None:
    for message, names in _conflicts(isa.bits, there):
        raise _fault(source, isa, message, names)


def _reached(bits: int, wanted: list[str]) -> set[str]:
    """Return the extensions that some features imply, together with the width: those that matter to what goes together."""
    held = table("riscv")
    mask = held.close(held.raised([*wanted, f"{bits}bit"]))
    return {name for name, bit in _watched() if mask & bit}


@functools.cache
def _watched() -> tuple[tuple[str, int], ...]:
    names = {"c", "d", "f", "zca", "zcd", "zce", "zcf", *NOT_WITH_C_AND_D, *ONLY_RV32}
    names.update(*EXCLUSIVE)
    names.update(*(one for one in ONE_OF.values()), ONE_OF)
    names.update(name for name in features() if name.startswith("xqci"))
    held = table("riscv")
    return tuple((name, held.bit[features()[name]]) for name in sorted(names & features().keys()))


def _conflicts(bits: int, there: set[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Give what does not go together in a closed set: the message, and the extensions at fault."""
    for first, second in EXCLUSIVE:
        if first in there and second in there:
            yield f"the extensions {first!r} and {second!r} are incompatible", (second, first)
    for name, (first, second, needed) in ONE_OF.items():
        if name in there and not {needed, second} & there:
            called = "zvl*b" if name == "zvl32b" else name
            yield f"{called!r} requires the extension {first!r} or {second!r}", (name,)
    if "d" in there and there & {"c", "zcd"}:
        whole = "c" in there or bits == 64 or "zcf" in there  # noqa: PLR2004 - zcd and zcf are all of c
        other = "c" if whole else "zcd"
        for name in NOT_WITH_C_AND_D:
            if name in there:
                yield f"{name!r} is incompatible with {other!r} where 'd' is there", (name, other)
    if bits != 32:  # noqa: PLR2004 - the other width
        narrow = (name for name in there if name in ONLY_RV32 or name.startswith("xqci"))
        for name in sorted(narrow):
            yield f"the extension {name!r} is only there on 'rv32'", (name,)


def _fault(source: Source, isa: Isa, message: str, names: tuple[str, ...]) -> TargetSyntaxError:
    """Return the fault of the first of some extensions, at its place or that of what implies it."""
    held = table("riscv")
    for name in names:
        bit = held.bit[features()[name]]
        implying = (word for other, word in isa.places.items() if held.up(features()[other]) & bit)
        word = isa.places.get(name) or next(implying, None)
        if word is not None:
            return source.fault(word, message)
    return source.fault(None, message)
