"""Platform tags of Python wheels.

    manylinux_2_17_x86_64   musllinux_1_2_aarch64   linux_x86_64      glibc and musl with their floor; a system without
    manylinux1_x86_64  manylinux2010_i686  manylinux2014_aarch64      glibc 2.5, 2.12 and 2.17
    macosx_11_0_arm64       ios_13_0_arm64_iphonesimulator            the deployment target
    android_24_arm64_v8a    win32  win_amd64  win_arm64               the API level; Windows
    emscripten_4_0_9_wasm32

    numpy-2.1.0-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl      the name of a file

One tag a target, or a set of tags that mean one; the rest of a file's name is a leftover. `macosx_*_universal2`, `intel` and the like hold code for several, one of which runs: they are no
composite, all of whose members must, and `targets_of` gives them one by one. `any` names no platform.

Source: PEPs 425, 513, 571, 599, 600, 656, 730, 738, 783; the library `packaging` for the order of what is accepted.
"""

from __future__ import annotations

import functools
import re

from targetspec.dialects.fitting import fitted, refused_kind
from targetspec.dialects.wheel_accepted import accepted_tags
from targetspec.dialects.wheel_names import (
    ANDROID_ABIS,
    HARD_FLOAT,
    IOS_DEVICES,
    LEGACY,
    LINUX_ARCHS,
    MAC_FORMATS,
    WINDOWS,
    arch_name,
    ios_device,
    numbers,
)
from targetspec.dialects.words import Source, Word
from targetspec.errors import NotRepresentableError, TargetSyntaxError, nearest
from targetspec.kinds.cpu import CpuTarget
from targetspec.parsing import Parsed
from targetspec.target import Target

__all__ = ["NAME", "accepted_tags", "format", "parse", "targets_of"]

NAME = "wheel"
PATTERN = (
    r"^[\s\u001c-\u001f\u0085]*(?:[^\s\u001c-\u001f\u0085]+-)?"
    r"(?:manylinux|musllinux|linux|macosx|ios|android|emscripten|win)[A-Za-z0-9_.]*[\s\u001c-\u001f\u0085]*$"
)
"""What every text matches that is read here, as a regular expression of JSON Schema."""

_LINUX = re.compile(
    r"(?:(?P<libc>manylinux|musllinux)_(?P<version>[0-9]{1,4}_[0-9]{1,4})|(?P<legacy>manylinux(?:1|2010|2014))|linux)"
    r"_(?P<arch>\w+)"
)
_MAC = re.compile(r"macosx_(?P<version>[0-9]{1,4}_[0-9]{1,4})_(?P<arch>\w+)")
_IOS = re.compile(r"ios_(?P<version>[0-9]{1,4}_[0-9]{1,4})_(?P<arch>\w+)")
_ANDROID = re.compile(r"android_(?P<version>[0-9]{1,4})_(?P<arch>\w+)")
_EMSCRIPTEN = re.compile(r"emscripten_(?P<version>[0-9]{1,4}_[0-9]{1,4}_[0-9]{1,4})_(?P<arch>wasm32)")
# The tags of a set that are looked at; files have two or three.
_MOST_TAGS = 16
_ENVIRONMENTS = {"manylinux": "gnu", "musllinux": "musl", "": ""}


def parse(text: str) -> Parsed:
    """Read a platform tag; TargetSyntaxError says what is wrong where."""
    source = Source(text, NAME)
    word = Word(text.strip(), len(text) - len(text.lstrip()))
    tags, leftovers = _of_file(source, word)
    target, *others = [_target(source, tag) for tag in tags.items(".")[:_MOST_TAGS]]
    if any(other != target for other in others):
        raise source.fault(tags, "this is a set of tags for several targets", "read each of them on its own")
    return Parsed(target, leftovers, NAME)


def _of_file(source: Source, word: Word) -> tuple[Word, tuple[str, ...]]:
    """Return the tags of a file's name, and the rest of it; the tags themselves where there is no file."""
    if not word.text.endswith(".whl"):
        return word, ()
    head, dash, _ = word.text.removesuffix(".whl").rpartition("-")
    if not dash:
        raise source.fault(word, "a wheel's name ends in its platform tag", "-manylinux_2_17_x86_64.whl")
    return Word(word.text[len(head) + 1 : -len(".whl")], word.start + len(head) + 1), (head,)


def _target(source: Source, word: Word) -> CpuTarget:
    archs = _archs(source, word)
    if len(archs) > 1:
        each = " or ".join(word.text[: _arch_at(word.text)] + arch for arch in archs)
        raise source.fault(word, f"{word.text[:80]!r} is code for {len(archs)} targets", f"name one: {each}")
    return _read(source, word)


def format_parsed(parsed: Parsed) -> str:
    """Return the tag, or the name of the file with it."""
    tag = format(parsed.target)
    return f"{'-'.join(parsed.leftovers)}-{tag}.whl" if parsed.leftovers else tag


def targets_of(text: str) -> tuple[CpuTarget, ...]:
    """Return the targets that the code of a tag is for: two for universal2, one for most; errors are those of `parse`.

    >>> [str(target.triple) for target in targets_of("macosx_10_9_universal2")]
    ['aarch64-apple-macosx11.0', 'x86_64-apple-macosx10.9']
    """
    source = Source(text, NAME)
    word = Word(text.strip(), len(text) - len(text.lstrip()))
    archs = _archs(source, word)
    if len(archs) == 1:
        return (_read(source, word),)
    head = word.text[: _arch_at(word.text)]
    # ARM came with macOS 11, whatever the tag says for the other part.
    early = "macosx_11_0_" if head.startswith("macosx_10_") else head
    return tuple(_made(f"{early if arch == 'arm64' else head}{arch}") for arch in archs)


def _archs(source: Source, word: Word) -> tuple[str, ...]:
    if "." in word.text:
        raise source.fault(word, "this is a set of tags", "read each of them on its own")
    mac = _MAC.fullmatch(word.text)
    if mac is None or mac["arch"] not in MAC_FORMATS:
        return ("",)
    return MAC_FORMATS[mac["arch"]]


def _arch_at(text: str) -> int:
    found = _MAC.fullmatch(text)
    return found.start("arch") if found else 0


def _read(source: Source, word: Word) -> CpuTarget:
    try:
        return _made(word.text)
    except TargetSyntaxError as error:
        start, end = error.span
        span = (word.start + start, word.start + end)
        raise TargetSyntaxError(source.text, span, error.message, error.hint, NAME) from None


@functools.lru_cache(maxsize=1024)
def _made(tag: str) -> CpuTarget:
    source = Source(tag, NAME)
    word = Word(tag, 0)
    if tag in WINDOWS:
        return CpuTarget(triple=f"{WINDOWS[tag]}-unknown-windows-msvc")
    for pattern, read in _READERS:
        found = pattern.fullmatch(tag)
        if found is not None:
            target: CpuTarget = source.reading({"triple": word}, functools.partial(read, source, found))
            return target
    if tag == "any":
        raise source.fault(word, "'any' names no platform", "name one: manylinux_2_17_x86_64")
    near = nearest(tag[:80], ("manylinux_2_17_x86_64", "musllinux_1_2_x86_64", "macosx_11_0_arm64", *WINDOWS))
    hint = f"did you mean {' or '.join(near)}?" if near else "write it as manylinux_2_17_x86_64"
    raise source.fault(word, f"{tag[:80]!r} is no platform tag", hint)


def _part(source: Source, found: re.Match[str], known: dict[str, str]) -> str:
    name = found["arch"]
    if name not in known:
        near = nearest(name[:80], known) or tuple(known)
        word = Word(name, found.start("arch"))
        raise source.fault(word, f"unknown architecture {name[:80]!r}", f"did you mean {' or '.join(near)}?")
    return known[name]


def _linux(source: Source, found: re.Match[str]) -> CpuTarget:
    arch = _part(source, found, LINUX_ARCHS)
    environment = _ENVIRONMENTS[found["libc"] or ("manylinux" if found["legacy"] else "")]
    # Both standards are for the hard-float ABI of this architecture.
    if environment and found["arch"] in HARD_FLOAT:
        environment += "eabihf"
    version = LEGACY[found["legacy"]] if found["legacy"] else (found["version"] or "").replace("_", ".")
    triple = "-".join(filter(None, (arch, "unknown", "linux", environment)))
    return CpuTarget(triple=triple, libc_version=version or None)


def _mac(source: Source, found: re.Match[str]) -> CpuTarget:
    arch = _part(source, found, {name: name for name in ("arm64", "x86_64", "i386", "ppc", "ppc64")})
    if arch == "arm64" and found["version"].startswith("10_"):
        word = Word(found["version"], found.start("version"))
        raise source.fault(word, "macOS has arm64 from 11.0 on", "write macosx_11_0_arm64")
    return CpuTarget(triple=f"{arch}-apple-macosx{found['version'].replace('_', '.')}")


def _ios(source: Source, found: re.Match[str]) -> CpuTarget:
    device = _part(source, found, IOS_DEVICES)
    arch, _, environment = device.partition("-")
    system = f"ios{found['version'].replace('_', '.')}"
    return CpuTarget(triple="-".join(filter(None, (arch, "apple", system, environment))))


def _android(source: Source, found: re.Match[str]) -> CpuTarget:
    arch = _part(source, found, ANDROID_ABIS)
    return CpuTarget(triple=f"{arch}-unknown-linux-android{found['version']}")


def _emscripten(source: Source, found: re.Match[str]) -> CpuTarget:  # noqa: ARG001 - one signature for all
    return CpuTarget(triple=f"wasm32-unknown-emscripten{found['version'].replace('_', '.')}")


_READERS = (
    (_LINUX, _linux),
    (_MAC, _mac),
    (_IOS, _ios),
    (_ANDROID, _android),
    (_EMSCRIPTEN, _emscripten),
)


def format(target: Target, *, lossy: bool = False) -> str:  # noqa: A001 - the name of every dialect's writer
    """Return the tag of a CPU target, by the newer standard; NotRepresentableError for what it cannot say."""
    if not isinstance(target, CpuTarget):
        raise refused_kind(NAME, target, "cpu")
    text = _text(target)
    if text is None:
        what = f"no platform tag is for {target.triple or 'what states no triple'}"
        if target.libc in ("glibc", "musl") and target.libc_version is None:
            what = f"a tag for {target.libc} needs libc_version"
        raise NotRepresentableError(NAME, (("triple", what),))
    return fitted(NAME, target, text, lambda said: parse(said).target, lossy=lossy)


def _text(target: CpuTarget) -> str | None:
    triple, arch = target.triple, arch_name(target)
    if triple is None or arch is None:
        return None
    if triple.os == "windows":
        return arch
    if triple.os == "emscripten":
        return f"emscripten_{triple.os_version.replace('.', '_')}_{arch}" if triple.os_version else None
    if triple.os in ("macosx", "ios"):
        if not triple.os_version:
            return None
        major, minor = numbers(triple.os_version)
        device = ios_device(triple) if triple.os == "ios" else arch
        return f"{triple.os}_{major}_{minor}_{device}" if device else None
    return _linux_text(target, arch)


def _linux_text(target: CpuTarget, arch: str) -> str | None:
    triple = target.triple
    if triple is None or triple.os != "linux":
        return None
    if triple.environment == "android":
        return f"android_{triple.environment_version}_{arch}" if triple.environment_version else None
    standard = {"glibc": "manylinux", "musl": "musllinux"}.get(target.libc or "")
    if standard is None:
        return f"linux_{arch}"
    if target.libc_version is None:
        return None
    major, minor = numbers(target.libc_version)
    return f"{standard}_{major}_{minor}_{arch}"
