"""Systems as GNU configuration names know them: other spellings, what a machine runs by default, and which are known.

Rows are as in `gnu_machines`: what is meant, a colon, and patterns that are matched in full and apply in order.
Facts of GNU config, as of July 2023.
"""

from __future__ import annotations

import functools
import re

# A replacement that begins with `^` takes the place of the pattern's group alone, and what follows it stays.
# `=` keeps a name from the rows below.
_SPELLINGS = r"""
    auroraux: auroraux
    cnk: bluegene.*
    ^sunos4: (solaris1)(?:\..*)?
    solaris2: solaris
    sysv4.2uw: unixware.*
    ose: es1800.* ose.*
    chorusos: chorusos.*
    isc2.2: isc
    sco5v6: sco6
    sco3.2v5: sco5
    sco3.2v4: sco4
    ^sco3.2v: (sco3\.2\.)[4-9].*
    =: sco.*v.* scout
    sco3.2v2: sco.*
    psos: psos.*
    qnx: qnx.*
    hiuxwe2: hiux.*
    lynxos178: lynx.*178
    lynxos5: lynx.*5
    =: lynxos.*
    lynxos: lynx.*
    ^macos: (mac)[0-9].*
    openedition: opened.*
    os400: os400.*
    ^solaris2: (sunos5).*
    ^solaris3: (sunos6).*
    wince: wince.*
    bsd: utek.* dynix.* 386bsd
    aos: acis.*
    atheos: atheos.*
    syllable: syllable.*
    sysv: ctix.* uts.*
    rtmk-nova: nova.*
    nextstep2: ns2
    ^sysv: (sinix)5\..*
    sysv4: sinix.* svr4.* sysvr4
    tpf: tpf.*
    sysv3: triton.* oss.* svr3
    mint: .*mint mint[0-9].* .*MiNT MiNT[0-9].*
    dicos: dicos.*
"""

# By the CPU and its maker: what the machine runs where nothing is stated.
_DEFAULTS = r"""
    elf: score-.* spu-.*
    riscix1.2: .*-acorn
    linux-gnu: arm.*-rebel
    aout: arm.*-semi
    coff: c4x-.* tic4x-.*
    elf: c8051-.*
    clix: clipper-intergraph
    elf: hexagon-.*
    coff: tic54x-.* tic55x-.* tic6x-.*
    tops20: pdp10-.*
    none: pdp11-.*
    ultrix4.2: .*-dec vax-.*
    domain: m68.*-apollo
    sunos4.0.2: i386-sun
    sunos3: m68000-sun
    aout: m68.*-cisco
    elf: mep-.* mips.*-.*
    coff: or32-.*
    sysv3: .*-tti
    sunos4.1.1: sparc-.* .*-sun
    elf: pru-.*
    beos: .*-be
    aix: .*-ibm
    mmixware: .*-knuth
    proelf: .*-wec .*-winbond .*-oki
    hpux: .*-hp
    hiux: .*-hitachi
    sysv: i860-.* .*-att .*-ncr .*-altos .*-motorola .*-convergent
    amigaos: .*-cbm
    dgux: .*-dg
    sysv3: .*-dolphin
    rtu: m68k-ccur
    luna: m88k-omron.*
    nextstep: .*-next
    ptx: .*-sequent
    unos: .*-crds
    genix: .*-ns
    mvs: i370-.*
    sysv: .*-gould
    bsd: .*-highlevel .*-encore
    irix: .*-sgi
    sysv4: .*-siemens
    rtu: .*-masscomp
    uxpv: f30[01]-fujitsu f700-fujitsu
    coff: .*-rom68k .*-.*bug
    macos: .*-apple
    mint: .*-atari.*
    vxworks: .*-wrs
"""

# By the CPU and the system: who makes the machine, where nobody is named.
_MAKERS = r"""
    acorn: .*-riscix.*
    sun: .*-sunos.*
    ibm: .*-cnk.* .*-aix.*
    be: .*-beos.*
    hp: .*-hpux.* .*-mpeix.*
    hitachi: .*-hiux.*
    crds: .*-unos.*
    dg: .*-dgux.*
    omron: .*-luna.*
    ns: .*-genix.*
    intergraph: .*-clix.*
    ibm: .*-mvs.* .*-opened.* .*-os400.* s390x?-.*
    sequent: .*-ptx.*
    ibm: .*-tpf.*
    wrs: .*-vxsim.* .*-vxworks.* .*-windiss.*
    apple: .*-aux.*
    hitachi: .*-hms.*
    apple: .*-mpw.* .*-macos.*
    atari: .*-.*mint .*-mint[0-9].* .*-.*MiNT .*-MiNT[0-9].*
    stratus: .*-vos.*
"""

# A version or more may follow these.
_OPEN = """
    aix amdhsa amigados amigaos android aof aos aout aros aux auroraux beos bitrig bme bosx bsd cegcc chorusrdb clix
    cloudabi cnk coff conix cos cxux cygwin darwin dgux dicos dnix domain dragonfly drops eabi ebmon ecoff ekkobsd elf
    emscripten emx es esix fiwix freebsd fuchsia genix genode glidix gnu go32 haiku hcos hiux hms hpux ieee interix ios
    iris irix isc its kernel libertybsd lites lnews luna lynxos mach macos magic mbr midipix midnightbsd mingw32
    mingw64 minix mint mirbsd mks mlibc mmixware mon960 morphos moss moxiebox mpeix mpw msdos msvc msys musl mvs nacl
    netbsd netware newlib newsos nextstep nindy nonstopux nsk nucleus oabi onefs openbsd openedition openstep os108 os2
    os400 os68k os9 ose osf oskit osx palmos pe phoenix plan9 powermax powerunix proelf psp ptx pw32 qnx rdos redox
    relibc rhapsody riscix riscos rtems rtmk rtu sco3.2v4 sco3.2v5 sco3.2v6 sco3.2v7 sco3.2v8 sco3.2v9 sco5v6 scout
    secbsd sei serenity sim skyos solaris solidbsd sortix storm-chaos sunos3 sunos4 superux sym sysv tenex tirtos
    toppers tops10 tops20 tpf tvos twizzler uclibc uclinux udi udk ultrix unicos uniplus unleashed unos uwin uxpv v88r
    vos vsta vxsim vxworks wasi watchos windiss windows winnt xenix xray zephyr zvmoe
"""
_CLOSED = frozenset(("abug", "none", "nx6", "nx7", "sco3.2v2", "simlinux", "simwindows", "spe", "sunos"))
_OPEN_NAMES = tuple(_OPEN.split())

LIBRARIES = ("dietlibc", "mlibc", "musl", "newlib", "relibc", "uclibc")
"""C libraries, which run on a kernel and are no systems."""

# Kernels with what runs on each: both may have something behind them.
_ON_KERNELS = (
    (re.compile("linux"), ("gnu", "android", *LIBRARIES)),
    (re.compile("uclinux"), ("uclibc",)),
    (re.compile("managarm"), ("mlibc", "kernel")),
    (re.compile("windows.*", re.DOTALL), ("gnu", "msvc")),
    (re.compile("(?:kfreebsd|kopensolaris).*", re.DOTALL), ("gnu",)),
    (re.compile("nto"), ("qnx",)),
    (re.compile("none"), ("coff", "elf")),
)
_EXACT = frozenset((("os2", "emx"), *(("vxworks", name) for name in ("simlinux", "simwindows", "spe"))))


@functools.cache
def _compiled(table: str) -> tuple[re.Pattern[str], tuple[str, ...]]:
    """Return one pattern for all rows, in their order, and what each means: `r7` is the group of row 7."""
    rows = [line.strip().partition(": ") for line in table.strip().splitlines()]
    groups = (f"(?P<r{index}>{'|'.join(row[2].split())})" for index, row in enumerate(rows))
    return re.compile("|".join(groups), re.DOTALL), tuple(row[0] for row in rows)


def _first(table: str, text: str) -> tuple[str, int] | None:
    """Return what the first row that a text matches means, and the end of what is replaced in it."""
    pattern, meant = _compiled(table)
    found = pattern.fullmatch(text)
    if found is None:
        return None
    group = int(pattern.groupindex[str(found.lastgroup)])
    inner = found.end(group + 1) if group < pattern.groups else 0
    return meant[int(str(found.lastgroup)[1:])], inner


def spelled(cpu: str, os: str) -> str:
    """Return a system under its own name: `svr4` is sysv4, `solaris` solaris2."""
    found = _first(_SPELLINGS, os)
    if found is not None:
        meant, end = found
        return meant[1:] + os[end:] if meant[0] == "^" else os if meant == "=" else meant
    if os.startswith("pikeos"):
        return "eabi" if cpu.startswith("arm") else "elf"
    return os


def default_system(cpu: str, vendor: str) -> tuple[str, str]:
    """Return the kernel, "" where none is named, and the system that a machine runs."""
    found = _first(_DEFAULTS, f"{cpu}-{vendor}")
    os = found[0] if found else "none"
    kernel, dash, system = os.partition("-")
    return (kernel, system) if dash else ("", os)


def maker(cpu: str, os: str) -> str:
    """Return who makes the machine, where nobody is named: "unknown" where the system does not tell."""
    found = _first(_MAKERS, f"{cpu}-{os}")
    return found[0] if found else "unknown"


def is_system(os: str) -> bool:
    """Whether a system, C library or ABI of this name is known."""
    return os in _CLOSED or os.startswith(_OPEN_NAMES) or "vms" in os


def runs_on(kernel: str, os: str) -> bool:
    """Whether a system, C library or ABI runs on a kernel."""
    if any(pattern.fullmatch(kernel) and os.startswith(names) for pattern, names in _ON_KERNELS):
        return True
    return (kernel, os) in _EXACT or os.startswith(("eabi", "gnueabi"))
