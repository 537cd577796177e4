"""GNU configuration names, CPU-MAKER-SYSTEM or CPU-MAKER-KERNEL-SYSTEM: text to text, as `config.sub` has it.

Parts may be missing, and a name of one word may stand for a whole machine. Two parts are a CPU and a system, unless the
second is a maker; of three, the last two are a kernel and what runs on it where they are known to go together.
"""

from __future__ import annotations

import functools
import re

import attrs

from targetspec.dialects.gnu_machines import is_cpu, machine_words, model, pair
from targetspec.dialects.gnu_systems import (
    LIBRARIES,
    default_system,
    is_system,
    maker,
    runs_on,
    spelled,
)
from targetspec.dialects.words import Source, Word

NAME = "gnu"
_MOST_PARTS = 4
_LONGEST = 256
_ODD = re.compile(r"[^!-\[\]-~]")
# What may stand in the middle of three parts, with what then is the last: a kernel with its system.
_TOGETHER = re.compile(
    r"nto-qnx.*|linux-.*|uclinux-(uclibc|gnu).*|(kfreebsd|knetbsd|netbsd|kopensolaris).*-gnu.*|netbsd.*-eabi.*"
    r"|cloudabi.*-eabi.*|storm-chaos.*|os2-emx.*|rtmk-nova.*|managarm-.*|windows-.*"
)
_SYSTEMS = re.compile(r"sun.*os.*")
_MAKERS = re.compile(
    r"(dec|mips|sequent|encore|pc533|sgi|sony|att|7300|3300|delta|motorola|sun[234]|unicom|ibm|isi|altos|convergent"
    r"|ncr|32|3600|3100|hitachi|c[123]|convex|omron|tti|microblaze).*"
    r"|next|hp|apollo|news|sun|crds|dg|ultra|harris|dolphin|highlevel|gould|cbm|ns|masscomp|apple|axis|knuth|cray"
    r"|sim|cisco|oki|wec|wrs|winbond"
)
_SAME_MAKER = {"digital": "dec", "commodore": "cbm"}


@attrs.frozen
class Configuration:
    """A configuration in its parts; `kernel` is "" where none is named, and `local` a name that is taken as it is."""

    cpu: str
    vendor: str
    kernel: str
    os: str
    local: str = ""

    def __str__(self) -> str:
        kernel = f"{self.kernel}-" if self.kernel else ""
        return self.local or f"{self.cpu}-{self.vendor}-{kernel}{self.os}"


def canonical_gnu(text: str) -> str:
    """Return a configuration name in its canonical form, as `config.sub` does, also of machines that LLVM lacks.

    Raises:
        TargetSyntaxError: no such machine or system, or a system on a kernel that it does not run on.

    >>> canonical_gnu("i686-linux"), canonical_gnu("sun4")
    ('i686-pc-linux-gnu', 'sparc-sun-sunos4.1.1')
    """
    return str(read_configuration(text))


@functools.lru_cache(maxsize=1024)
def read_configuration(text: str) -> Configuration:
    """Return the parts of a configuration name; errors are those of `canonical_gnu`."""
    source = Source(text, NAME)
    _check_text(source)
    if "local" in text:
        return Configuration("", "", "", "", text)
    basic, system = _split(source)
    cpu, vendor, system = _machine(source, basic, system)
    kernel, os = _system(cpu, vendor, system)
    _check_system(source, kernel, os)
    if vendor == "unknown":
        vendor = maker(cpu, os)
    return Configuration(cpu, vendor, kernel, os)


def _check_text(source: Source) -> None:
    text = source.text
    odd = _ODD.search(text)
    if odd:
        raise source.fault(Word(odd[0], odd.start()), "a configuration name is one word of printable ASCII")
    if not text or text.startswith("-"):
        hint = "begin with a CPU, as in x86_64-pc-linux-gnu"
        raise source.fault(Word(text[:1], 0), "a configuration name begins with a machine", hint)
    if len(text) > _LONGEST:
        raise source.fault(
            Word(text, 0).after(_LONGEST), f"a configuration name has at most {_LONGEST} letters"
        )
    if text.count("-") >= _MOST_PARTS:
        start = len("-".join(text.split("-")[:_MOST_PARTS]))
        raise source.fault(Word(text[start:], start), "more than four components")


# -- the parts ----------------------------------------------------------------------------------------


def _split(source: Source) -> tuple[str, str]:
    """Return the machine, which may have its maker with it, and the system, "" where none is stated."""
    first, *rest = source.text.split("-")
    if not rest:
        return _of_one_word(source.text)
    if len(rest) == 1:
        return _of_two(source.text, first, rest[0])
    if len(rest) == _MOST_PARTS - 1:
        return f"{first}-{rest[0]}", f"{rest[1]}-{rest[2]}"
    behind = f"{rest[0]}-{rest[1]}"
    if behind == "android-linux":
        return f"{first}-unknown", "linux-android"
    return (first, behind) if _TOGETHER.fullmatch(behind) else (f"{first}-{rest[0]}", rest[1])


def _of_one_word(text: str) -> tuple[str, str]:
    machine = machine_words().get(text)
    return (text, "") if machine is None else (f"{machine.cpu}-{machine.vendor}", machine.system)


def _of_two(text: str, first: str, second: str) -> tuple[str, str]:
    if text == "decstation-3100":
        return "mips-dec", ""
    if _SYSTEMS.fullmatch(second):
        return first, second
    if second.startswith("zephyr"):
        return f"{first}-unknown", second
    return (text, "") if _MAKERS.fullmatch(second) else (first, second)


def _machine(source: Source, basic: str, system: str) -> tuple[str, str, str]:
    """Return the CPU, the maker and the system, "" where the machine decides."""
    cpu, vendor, system = _as_model(source.text, basic, system)
    rule = pair(cpu, vendor)
    if rule is None and not is_cpu(cpu):
        word = Word(source.text[: max(1, len(basic))], 0)
        raise source.fault(word, f"machine '{cpu}-{vendor}' not recognized by GNU config")
    if rule is not None:
        cpu, vendor, system = rule.cpu or cpu, rule.vendor or vendor, rule.system_after(system)
    vendor = next((name for start, name in _SAME_MAKER.items() if vendor.startswith(start)), vendor)
    return cpu, vendor, system


def _as_model(text: str, basic: str, system: str) -> tuple[str, str, str]:
    machine = model(basic)
    if machine is None:
        cpu, dash, vendor = basic.partition("-")
        return cpu, vendor if dash else "unknown", system
    cpu = text[: text.index("86") + 2] if machine.cpu == "86" else machine.cpu or basic
    return cpu, machine.vendor or basic.partition("-")[0], machine.system_after(system)


# -- the system ---------------------------------------------------------------------------------------


def _system(cpu: str, vendor: str, stated: str) -> tuple[str, str]:
    if not stated:
        return default_system(cpu, vendor)
    kernel, os = _on_kernel(stated)
    return kernel, spelled(cpu, os)


def _on_kernel(stated: str) -> tuple[str, str]:
    if stated.startswith("gnu/linux"):
        return "linux", stated.replace("gnu/linux", "gnu", 1)
    kernel, dash, os = stated.partition("-")
    if dash:
        return kernel, os
    for kernel, usual in (("nto", "qnx"), ("linux", "gnu"), ("managarm", "mlibc")):
        if stated.startswith(kernel):
            return kernel, usual + stated[len(kernel) :]
    return "", stated


def _check_system(source: Source, kernel: str, os: str) -> None:
    message = _fault_of(kernel, os)
    if message:
        start = source.text.find("-") + 1
        raise source.fault(Word(source.text[start:], start), message)


def _fault_of(kernel: str, os: str) -> str:
    """Return what is wrong with a system on a kernel, "" where nothing is."""
    if not is_system(os):
        return f"OS '{os}' not recognized by GNU config"
    if runs_on(kernel, os):
        return ""
    if not kernel and os.startswith(LIBRARIES):
        return f"libc '{os}' needs explicit kernel, as in linux-{os}"
    if os.startswith("kernel"):
        return f"kernel '{kernel}' does not support '{os}'" if kernel else f"'{os}' needs explicit kernel"
    if os.startswith("msvc"):
        return f"'{os}' needs 'windows' before it"
    return f"kernel '{kernel}' not known to work with OS '{os}'" if kernel else ""
