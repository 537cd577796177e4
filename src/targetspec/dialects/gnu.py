"""GNU's own way: a configuration name, as autoconf's `--host=` takes it, in any form that `config.sub` canonicalises.

    x86_64-pc-linux-gnu    i686-linux    amd64-freebsd    arm-none-eabi    sparc64-linux

`canonical_gnu` reads every name that GNU config has, text to text; a target is made of those whose architecture and
system a triple has. The system `gnu` without a kernel is the Hurd, a CPU name may say LLVM's CPU as well
(`mipsisa32r2el`), and SuperH is big-endian unless on Linux or said. Facts of GNU config, as of July 2023.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

import attrs

from targetspec.dialects.deltas import stated_fields
from targetspec.dialects.fitting import refused_kind
from targetspec.dialects.gnu_archs import arch_of, spellings
from targetspec.dialects.gnu_configuration import NAME, Configuration, canonical_gnu, read_configuration
from targetspec.dialects.words import Source, Word
from targetspec.errors import NotRepresentableError, TargetspecError
from targetspec.kinds.cpu import CpuTarget
from targetspec.parsing import Parsed
from targetspec.target import Target
from targetspec.triple import Triple

__all__ = ["NAME", "canonical_gnu", "format", "parse"]

PATTERN = r"^[\s\u001c-\u001f\u0085]*[!-~]+[\s\u001c-\u001f\u0085]*$"
"""What every text matches that is read here, as a regular expression of JSON Schema."""

_HURD = re.compile(r"gnu([0-9.]*)")
_ENVIRONMENTS = {"uclibcgnueabi": "uclibceabi", "uclibcgnueabihf": "uclibceabihf"}
_GNU_ENVIRONMENTS = {name: gnu for gnu, name in _ENVIRONMENTS.items()}
_OSES = {"macosx": "macos"}
_WINDOWS = {
    "gnu": ("mingw32", "windows-gnu"),
    "msvc": ("windows-msvc",),
    "cygnus": ("cygwin",),
}


def parse(text: str) -> Parsed:
    """Read a CPU target; TargetSyntaxError says what is wrong where."""
    words = text.split()
    if len(words) != 1:
        message = "a configuration name is one word"
        raise Source(text, NAME).fault(None, message, "it has no options: x86_64-pc-linux-gnu")
    return Parsed(_target(text, words[0]), (), NAME)


def format(target: Target, *, lossy: bool = False) -> str:  # noqa: A001 - the name of every dialect's writer
    """Return the canonical name of a CPU target; NotRepresentableError for what a name cannot say, unless `lossy`."""
    if not isinstance(target, CpuTarget):
        raise refused_kind(NAME, target, "CPUs")
    if target.triple is None:
        raise NotRepresentableError(NAME, (("triple", "not stated, and a configuration name is one"),))
    triple = _versioned(target, target.triple)
    found = _name(triple, target.cpu) or _name(triple, None)
    if found is None:
        raise NotRepresentableError(NAME, (("triple", f"GNU config has no name for {target.triple}"),))
    said = dict(stated_fields(_read(found)))
    unfit = tuple(
        (name, "a configuration name does not say it")
        for name, value in stated_fields(target)
        if said.get(name) != value
    )
    if unfit and not lossy:
        raise NotRepresentableError(NAME, unfit)
    return found


# -- reading ------------------------------------------------------------------------------------------


def _target(text: str, word: str) -> CpuTarget:
    try:
        return _read(word)
    except TargetspecError as error:
        start = text.index(word)
        at = getattr(error, "span", (0, len(word)))
        place = Word(word[at[0] : at[1]], start + at[0])
        hint = getattr(error, "hint", "")
        raise Source(text, NAME).fault(place, getattr(error, "message", str(error)), hint) from None


@functools.lru_cache(maxsize=1024)
def _read(word: str) -> CpuTarget:
    source = Source(word, NAME)
    configuration = read_configuration(word)
    if configuration.local:
        raise source.fault(None, "a local name says nothing of the machine")
    machine = arch_of(configuration.cpu, configuration.kernel)
    if machine is None:
        near = {"riscv": "write riscv32 or riscv64", "x86": "write i686 or x86_64"}.get(configuration.cpu, "")
        message = f"no architecture of LLVM's: {configuration.cpu!r} ({configuration})"
        raise source.fault(Word(word.partition("-")[0], 0), message, near)
    arch, cpu = machine
    return source.reading({"triple": Word(word, 0)}, lambda: _made(configuration, arch, cpu))  # type: ignore[no-any-return]


def _made(configuration: Configuration, arch: str, cpu: str | None) -> CpuTarget:
    return CpuTarget(triple=Triple.parse(_triple_text(configuration, arch)), cpu=cpu)


def _triple_text(configuration: Configuration, arch: str) -> str:
    kernel, os = configuration.kernel, configuration.os
    hurd = _HURD.fullmatch(os)
    if not kernel and hurd:
        kernel, os = f"hurd{hurd[1]}", "gnu"
    parts = [arch, configuration.vendor, kernel, _ENVIRONMENTS.get(os, os)]
    return "-".join(part for part in parts if part)


# -- writing ------------------------------------------------------------------------------------------


def _versioned(target: CpuTarget, triple: Triple) -> Triple:
    """Return a triple with the C library's version, which a CpuTarget has in its own field: `gnu2.17`."""
    version = target.libc_version
    if version is None or not triple.environment.startswith(("gnu", "musl")) or triple.environment_version:
        return triple
    return attrs.evolve(triple, environment_version=version)


@functools.lru_cache(maxsize=1024)
def _name(triple: Triple, cpu: str | None) -> str | None:
    """Return the canonical name that is read as a triple and a CPU; None where there is none."""
    wanted = _unversioned(triple)
    for arch in spellings(triple.arch, triple.sub_arch, cpu):
        for rest in _rests(triple):
            text = f"{arch}-{rest}"
            found = _canonical_target(text)
            if found and found.cpu == cpu and found.triple in (triple, wanted):
                return text
    return None


def _unversioned(triple: Triple) -> Triple:
    """Return a triple without the version of its environment, which a CpuTarget has moved to its own field."""
    return attrs.evolve(triple, environment_version="")


def _canonical_target(text: str) -> CpuTarget | None:
    try:
        return _read(text) if canonical_gnu(text) == text else None
    except TargetspecError:
        return None


def _rests(triple: Triple) -> Iterator[str]:
    """Give what may follow the CPU, the usual form first: bare metal has no maker."""
    for system in _systems(triple):
        if triple.vendor == "unknown" and triple.os == "none" and "-" in system:
            yield system
        yield f"{triple.vendor}-{system}"
        if triple.vendor == "unknown":
            yield system


def _systems(triple: Triple) -> Iterator[str]:
    os = f"{_OSES.get(triple.os, triple.os)}{triple.os_version}"
    environment = _GNU_ENVIRONMENTS.get(triple.environment, triple.environment) + triple.environment_version
    if triple.os == "windows":
        yield from _WINDOWS.get(triple.environment, ())
        yield from (f"windows-{environment}", f"win32-{environment or triple.object_format}")
    elif triple.os == "hurd" and environment == "gnu":
        yield f"gnu{triple.os_version}"
    elif triple.os == "unknown":
        yield from filter(None, (environment, triple.object_format))
    elif not environment:
        yield from (os, f"{os}-{triple.object_format}", f"{triple.object_format}-{os}")
    else:
        yield from _with_environment(triple, os, environment)


def _with_environment(triple: Triple, os: str, environment: str) -> Iterator[str]:
    arm = triple.family == "arm"
    if arm and triple.environment == "android":
        yield f"{os}-androideabi{triple.environment_version}"
    if arm and triple.os == "netbsd":
        yield f"netbsdelf{triple.os_version}-{environment}"
    yield f"{os}-{environment}"
