"""Halide's target strings: the machine, and flags in any order.

    x86-64-linux-tune_znver3-avx2-cuda-cuda_capability_80-no_asserts
    target = ( "host" | arch "-" bits "-" os ) { "-" ( processor | flag | "vector_bits_" N ) }

Architecture, bits and system must all be stated; "host" is this machine. The triple is the one Halide
hands to LLVM, but 32-bit ARM is ARMv7 with NEON, as Halide compiles it. Flags of the CPU bring others as they do in
Halide (`avx2` brings fma and f16c). A flag of a device makes a target of its kind, with the CPU as the host; several
devices are a composite, in the order of their names. `hexagon` is a device too, with the DSP's system as its host. Flags
for the compiler are leftovers, and so is what has no place here: Direct3D, `avx512_knl`, `avx10_1` without 512 bits, the
length of streaming vectors, and what says something of a device that is not named. Refused, as by Halide: flags of
another architecture, two lengths of streaming vectors, `simulator` on anything but iOS.

Source: Halide at commit abbf7ff, after version 21.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import Any

import attrs

from targetspec import registry
from targetspec.dialects import halide_names as names
from targetspec.dialects.halide_cpu import HalideCPU, cpu_of, flags_of_cpu, machine_of
from targetspec.dialects.halide_devices import DEVICE_FLAGS, devices_of, flags_of, idle_flags
from targetspec.dialects.words import Source, Word
from targetspec.errors import NotRepresentableError, TargetSyntaxError, nearest
from targetspec.kinds.composite import CompositeTarget
from targetspec.kinds.cpu import CpuTarget
from targetspec.parsing import Parsed
from targetspec.target import Target

NAME = "halide"
PATTERN = r"^[\s\u001c-\u001f\u0085]*[a-z0-9_]+(?:-[a-z0-9_]+)*(?:[\s\u001c-\u001f\u0085]+[a-z0-9_]+(?:-[a-z0-9_]+)*)*[\s\u001c-\u001f\u0085]*$"
"""What every text matches that is read here, as a regular expression of JSON Schema."""

_NUMBER = re.compile(r"vector_bits_([0-9]{1,9})")
_HOST = "host"
_LONGEST = 64


@attrs.define
class _Stated:
    """The tokens, by what they are."""

    machine: dict[str, Word] = attrs.Factory(dict)
    flags: dict[str, Word] = attrs.Factory(dict)


def parse(text: str) -> Parsed:
    """Read a target; TargetSyntaxError says what is wrong where."""
    source = Source(text, NAME)
    stated = _sorted_tokens(source)
    host = _detected() if _HOST in stated.machine else None
    machine = _machine(source, stated) if host is None else _machine_here(source, stated, host)
    _check(source, stated, machine.arch)
    flags = frozenset(stated.flags)
    cpu, unused = source.reading(_places(stated), lambda: cpu_of(machine, flags, host))
    devices, left = _beside(flags, hexagon=machine.arch == "hexagon")
    leftovers = tuple([name for name in stated.flags if name in left or name in unused])
    return Parsed(_together(cpu, devices), leftovers, NAME)


def format(target: Target, *, lossy: bool = False) -> str:  # noqa: A001 - the name of every dialect's writer
    """Return the string that says a target; NotRepresentableError for what has none, unless `lossy`."""
    unfit: list[tuple[str, str]] = []
    cpu = target if isinstance(target, CpuTarget) else target.host
    words = [] if cpu is None else _words(target, cpu, unfit)
    if cpu is None:
        unfit.append(("host", "not stated, and every string begins with the CPU"))
    if unfit and not (lossy and words):
        raise NotRepresentableError(NAME, tuple(unfit))
    return "-".join(words)


# -- reading ------------------------------------------------------------------------------------------


def _detected() -> CpuTarget:
    found: CpuTarget = registry.layer_above("host.detected").detect_host()
    return found


@functools.lru_cache(maxsize=1024)
def _beside(flags: frozenset[str], *, hexagon: bool) -> tuple[tuple[Target, ...], frozenset[str]]:
    """Return the devices that flags name, and the flags that say nothing of a target."""
    return tuple(devices_of(flags, hexagon=hexagon)), (flags & names.COMPILER) | idle_flags(
        flags, hexagon=hexagon
    )


def _tokens(source: Source) -> Iterator[Word]:
    """Give the tokens between dashes; white space parts what came as leftovers."""
    for part in re.finditer(r"\S+", source.text):
        for token in Word(part[0], part.start()).items("-"):
            if not token.text:
                raise source.fault(token, "there is nothing between two dashes", "leave one out")
            if len(token.text) > _LONGEST:
                raise source.fault(token, "no name is that long")
            yield token


def _sorted_tokens(source: Source) -> _Stated:
    stated = _Stated()
    for index, token in enumerate(_tokens(source)):
        what = _what(token.text)
        if what is None:
            raise _unknown(source, token)
        if what == _HOST and index:
            raise source.fault(token, "host comes first")
        if what == "flag":
            stated.flags.setdefault(token.text, token)
        else:
            _state(source, stated, what, token)
    return stated


def _state(source: Source, stated: _Stated, what: str, token: Word) -> None:
    if _HOST in stated.machine and what in ("arch", "bits", "os"):
        raise source.fault(token, f"host states the {what} already", "state all three instead of host")
    first = stated.machine.setdefault(what, token)
    if first is not token and (what != "vector_bits" or first.text != token.text):
        raise source.fault(
            token, f"the {what} is stated twice, as {first.text!r} and {token.text!r}", "state it once"
        )


def _what(text: str) -> str | None:
    return "vector_bits" if _NUMBER.fullmatch(text) else _known_tokens().get(text)


@functools.cache
def _known_tokens() -> dict[str, str]:
    """Return what each token is."""
    odd = frozenset().union(*names.ODD_FLAGS.values(), *names.FEATURES.values())
    others = (names.SOFT_FLOAT, names.SIMULATOR, *names.STREAMING_LENGTHS)
    return {
        **dict.fromkeys(odd.union(names.COMPILER, DEVICE_FLAGS, others), "flag"),
        **dict.fromkeys((*names.ARCH_NAMES, names.UNKNOWN_ARCH), "arch"),
        **dict.fromkeys((*names.OSES, names.UNKNOWN_OS), "os"),
        **dict.fromkeys(names.BITS, "bits"),
        **dict.fromkeys((*names.TUNES, names.TUNE_GENERIC), "processor"),
        _HOST: _HOST,
    }


def _unknown(source: Source, token: Word) -> TargetSyntaxError:
    near = nearest(token.text, _known_tokens())
    hint = f"did you mean {' or '.join(near)}?" if near else ""
    return source.fault(token, f"Halide has no {token.text[:80]!r}", hint)


def _machine(source: Source, stated: _Stated) -> HalideCPU:
    hint = "begin with architecture, bits and system: x86-64-linux"
    for part in ("arch", "bits", "os"):
        if part not in stated.machine:
            raise source.fault(None, f"the {part} is not stated", hint)
        if stated.machine[part].text in (names.UNKNOWN_ARCH, names.UNKNOWN_OS, "0"):
            raise source.fault(stated.machine[part], f"the {part} must be known", hint)
    arch, bits, os = (stated.machine[part].text for part in ("arch", "bits", "os"))
    if (arch, int(bits)) not in names.ARCHS:
        raise source.fault(stated.machine["bits"], f"{arch} has no {bits} bits")
    if (os == names.WASM_RUNTIME) != (arch == "wasm"):
        raise source.fault(
            stated.machine["os"], f"wasm runs under wasmrt, and nothing else does; this is {arch}"
        )
    return _with_rest(source, HalideCPU(arch, int(bits), os), stated)


def _machine_here(source: Source, stated: _Stated, host: CpuTarget) -> HalideCPU:
    machine = machine_of(host)
    if machine is None:
        raise source.fault(stated.machine[_HOST], f"Halide has no name for this machine, {host.triple}")
    return _with_rest(source, machine, stated)


def _with_rest(source: Source, machine: HalideCPU, stated: _Stated) -> HalideCPU:
    processor = stated.machine.get("processor")
    number = stated.machine.get("vector_bits")
    if processor is not None and processor.text in names.TUNES and machine.arch != "x86":
        raise source.fault(processor, f"{processor.text} is a processor of x86, and this is {machine.arch}")
    return attrs.evolve(
        machine,
        tune=None if processor is None else names.TUNES.get(processor.text),
        vector_bits=None if number is None else int(number.text.removeprefix(names.VECTOR_BITS)) or None,
    )


def _check(source: Source, stated: _Stated, arch: str) -> None:
    """Refuse the flags that Halide refuses together, and those of another architecture."""
    for name, token in stated.flags.items():
        archs = names.arch_of_flag(name)
        if archs and arch not in archs:
            raise source.fault(
                token, f"{name} is a flag of {' and '.join(sorted(archs))}, and this is {arch}"
            )
        if name == names.SIMULATOR and stated.machine.get("os", token).text != "ios":
            raise source.fault(token, "only ios has a simulator")
    lengths = [name for name in stated.flags if name in names.STREAMING_LENGTHS]
    if len(lengths) > 1:
        raise source.fault(
            stated.flags[lengths[1]], "the length of streaming vectors is stated twice", "state one"
        )


def _places(stated: _Stated) -> dict[str, Word]:
    place = stated.machine.get("vector_bits")
    return {**stated.flags, **({} if place is None else {"vector_bits": place})}


def _together(cpu: CpuTarget, devices: tuple[Target, ...]) -> Target:
    if not devices:
        return cpu
    if len(devices) == 1:
        return devices[0].with_host(cpu)
    return CompositeTarget(members=devices, host=cpu)


# -- writing ------------------------------------------------------------------------------------------


def _words(target: Target, cpu: Target, unfit: list[tuple[str, str]]) -> list[str]:
    """Return the tokens in Halide's order; what has none goes to `unfit`."""
    if not isinstance(cpu, CpuTarget):
        unfit.append(("host", f"a {cpu.kind} target is no CPU"))
        return []
    found: list[tuple[str, str]] = []
    words, flags, last = flags_of_cpu(cpu, found)
    unfit.extend(found if cpu is target else [("host", f"{field}: {why}") for field, why in found])
    if not words:
        return []
    for member in _members(target):
        flags.update(flags_of(member, unfit))
    if words[0] == "hexagon" and not any(member.kind == "hexagon" for member in _members(target)):
        unfit.append(("kind", "Halide's hexagon is a target of that kind, with the CPU as its host"))
    return [*words, *sorted(flags), *last]


def _members(target: Target) -> tuple[Any, ...]:
    if isinstance(target, CompositeTarget):
        return target.members
    return () if isinstance(target, CpuTarget) else (target,)
