"""Machines as GNU configuration names know them: one-word names, models, CPUs with their makers, and CPU names.

A row is what is meant, a colon, and the patterns (regular expressions, matched in full) of what is written; rows apply in
their order where patterns meet. A system after `=` replaces what is stated, one after `?` stands in where nothing is,
one after `+` is appended, and one after `!` stands in unless what is stated begins as one of the others in its list does. Facts of GNU config, as of July 2023.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import NamedTuple


class Machine(NamedTuple):
    """A CPU and its maker, "" for each that stays as it is written, and what happens to the system."""

    cpu: str
    vendor: str
    system: str = ""

    def system_after(self, stated: str) -> str:
        """Return the system that stands after this rule, where one was stated before."""
        how, name = self.system[:1], self.system[1:]
        if how == "+":
            return stated + name
        if how == "!":
            return _unless(stated, *name.split(","))
        return name if how == "=" or (how == "?" and not stated) else stated


def _unless(stated: str, usual: str, *starts: str) -> str:
    for start, _, instead in (start.partition("=") for start in starts):
        if stated.startswith(start):
            return instead or stated
    return usual


# Names of one word that stand for a whole machine: its CPU and maker, and the system, none where the maker's is meant.
_WORDS = """
    i386-pc bsd: 386bsd
    i386-pc aros: aros
    i386-pc go32: go32
    i386-pc msdos: msdos
    i386-pc netbsd: netbsd386
    i386-pc rdos: rdos32
    i386-pc vsta: vsta
    i386-mach mach: i386mach
    i386-sequent: sequent
    i386-sequent dynix: symmetry
    i386-sun: sun386 sun386i roadrunner
    i486-ncr sysv4: ncr3000
    i586-pc msdosdjgpp: djgpp
    i586-unknown pw32: pw32
    i686-pc dicos: dicos
    i686-pc mingw32: mingw32 xbox
    i686-pc msys: msys
    x86_64-pc mingw64: mingw64
    x86_64-pc rdos: rdos rdos64
    a29k-amd ebmon: ebmon29k
    a29k-amd udi: a29khif sa29200 udi29k
    a29k-none bsd: am29k
    a29k-nyu sym1: ultra3
    a29k-wrs vxworks: vxworks29k
    580-amdahl sysv: amdahl
    alphaev5-cray unicos: t3e
    arm-unknown cegcc: cegcc
    arm-unknown mingw32ce: mingw32ce
    armv4l-rebel linux: netwinder
    bfin-unknown linux: blackfin
    c1-convex bsd: convex-c1
    c2-convex bsd: convex-c2
    c32-convex bsd: convex-c32
    c34-convex bsd: convex-c34
    c38-convex bsd: convex-c38
    fx80-alliant: alliant
    h8300-hitachi hms: h8300hms
    h8300-hitachi xray: h8300xray
    h8500-hitachi hms: h8500hms
    hppa-unknown linux: parisc
    hppa1.1-hp osf: hppaosf
    hppa1.1-hp proelf: hppro
    i370-ibm mvs: mvs
    i860-intel osf: paragon
    i860-stratus sysv4: stratus
    i960-intel mon960: mon960
    i960-intel nindy: nindy960
    i960-wrs vxworks: vxworks960
    j90-cray unicos: cray
    le32-unknown nacl: nacl
    m68000-ericsson ose: OSE68000 ose68000
    m68000-sun: sun2
    m68000-sun sunos3: sun2os3
    m68000-sun sunos4: sun2os4
    m68010-adobe scout: adobe68k
    m68030-sony newsos: news1000
    m68k-altos: altos altos3068
    m68k-apollo bsd: apollo68bsd
    m68k-apollo sysv: apollo68
    m68k-apple aux: aux
    m68k-bull sysv2: sps7
    m68k-crds: crds unos
    m68k-da30: da30
    m68k-ericsson ose: es1800 OSE68k ose68k ose OSE
    m68k-harris cxux: nh3000
    m68k-hp bsd: hp300bsd
    m68k-hp hpux: hp300 hp300hpux
    m68k-isi sysv: isi68 isi
    m68k-none os68k: os68k
    m68k-rom68k coff: monitor rom68k
    m68k-sony newsos: news news700 news800 news900
    m68k-sun: sun3
    m68k-sun sunos3: sun3os3
    m68k-sun sunos4: sun3os4
    m68k-tandem: st2000
    m68k-unknown: amiga
    m68k-unknown amigaos: amigaos amigados
    m68k-unknown linux: m68knommu
    m68k-unknown sysv4: amigaunix amix
    m68k-wrs vxworks: vxworks68
    m88k-harris cxux: nh4000 nh5000
    m88k-harris sysv3: harris
    m88k-motorola sysv3: delta88
    mips-compaq nonstopux: nonstopux
    mips-dec: decstation pmax pmin dec3100 decstatn
    mips-mips sysv: magnum m3230
    mips-sei seiux: sei
    mipsallegrexel-sony psp: psp
    moxie-unknown moxiebox: moxiebox
    ns32k-sequent dynix: balance
    ns32k-utek sysv: merlin
    pdp10-xkl tops20: toad1
    powerpc-ibm os400: os400
    powerpc-unknown morphos: morphos
    s390x-ibm tpf: tpf
    sparc-sun: sun4
    sparc-sun solaris2: sun4sol2
    sparc-sun sunos3: sun4os3
    sparc-sun sunos4: sun4os4
    sv1-cray unicos: sv1
    t90-cray unicos: t90
    tron-gmicro sysv: gmicro
    v70-nec sysv: necv70
    v810-nec none: v810 necv810
    vax-dec sysv: vaxv
    vax-dec vms: vms
    ymp-cray unicos: ymp
"""

# Models of machines, with or without a system behind them. The CPU "86" is the text up to these digits.
_MODELS = r"""
    m68000-att: 3b1 7300 7300-att att-7300 pc7300 safari unixpc
    i370-ibm: ibm.*
    we32k-att: 3b.*
    powerpc-ibm =cnk: bluegene.*
    pdp10-dec =tops10: decsystem10.* dec10.*
    pdp10-dec =tops20: decsystem20.* dec20.*
    m68k-bull =sysv3: dpx2.*
    m68k-motorola: delta 3300 motorola-3300 motorola-delta 3300-motorola delta-motorola
    m68k-apple: mac mpw mac-mpw
    m68k-ncr: tower tower-32
    m68k-tti: pbb
    m68000-convergent: miniframe
    m68000-hp: hp9k2[0-9][0-9] hp9k31[0-9]
    m68k-hp: hp9k3[2-9][0-9]
    hppa1.1-hp: hp(9k)?7[0-9][0-9] hp(9k)?8[0-9][13679] hp(9k)?80[24]
    hppa1.0-hp: hp(9k)?[68][0-9][0-9] hp(3k)?9[0-9][0-9]
    hppa1.1-hitachi =hiuxwe2: h3050r.* hiux.* pa-hitachi
    hppa1.1-oki: op50n op60c
    hppa1.1-winbond: w89k
    ns32k-encore: encore umax mmax
    ns32k-ns: genix
    ns32k-pc532: pc532
    clipper-highlevel: orion105
    elxsi-elxsi ?bsd: elxsi
    i386-ibm: ps2
    i860-alliant: fx2800
    j90-cray ?unicos: j90 j90-cray
    np1-gould: np1
    pn-gould: pn
    none-none: none
    power-ibm: power
    powerpc-apple: pmac pmac-mpw
    mips-siemens: rm[46]00
    mipsisa32-sde ?elf: sde
    sparc-tti: pbd
    sparclite-wrs =vxworks: simso-wrs
    w65-wdc: w65
    86-pc =sysv32: i.*86v32
    86-pc =sysv4: i.*86v4.*
    86-pc =sysv: i.*86v
    86-pc =solaris2: i.*86sol2
    mips-sgi !irix4,irix: iris iris4d
    m68k-atari =mint: .*mint mint[0-9].* .*MiNT .*MiNT[0-9].*
    mips-sony =newsos: news-3600 risc-news
    m68k-next !nextstep3,openstep,nextstep,ns2=nextstep2: next m.*-next
    hppa1.1-oki =proelf: op50n-.* op60c-.*
    romp-ibm: rtpc rtpc-.*
    f301-fujitsu: vpp.* vx vx-.*
    hppa1.1-winbond =proelf: w89k-.*
    sparc-: leon leon[3-9] leon-.* leon[3-9]-.*
    i386-pc: pc98
    x86_64-pc: x64 amd64
    -pc: i[^-]*86 x86_64
"""

# A CPU with its maker: what both are called, and what they run.
_PAIRS = """
    -cray ?unicosmp: craynv-unknown
    -cray =unicos: c90-unknown c90-cray
    -alliant: fx80-unknown
    -ibm: romp-unknown rs6000-unknown i370-ibm.*
    -knuth: mmix-unknown
    -xilinx: microblaze-unknown microblazeel-unknown
    -dec: vax-unknown pdp11-unknown
    -att: we32k-unknown
    -cydrome: cydra-unknown
    -highlevel: orion-unknown
    xps100-honeywell: xps-unknown xps100-unknown
    armv7l-alt ?linux-gnueabihf: armh-unknown armh-alt
    rs6000-bull ?bosx: dpx20-unknown dpx20-bull
    x86_64-: amd64-.* x64-.*
    bfin- =linux: blackfin-.*
    tic54x-: c54x-.*
    tic55x-: c55x-.*
    tic6x-: c6x-.*
    powerpc- +spe: e500v[12]-.*
    mips64-: mips3.*-.*
    mt-: ms1-.*
    m68k- =linux: m68knommu-.*
    s12z-: m9s12z-.* m68hcs12z-.* hcs12z-.* s12z-.*
    or32-: openrisc-.*
    hppa- =linux: parisc-.*
    i386-: pc98-.*
    i586-: pentium-.* p5-.* k5-.* k6-.* nexgen-.* viac3-.*
    i686-: pentiumpro-.* p6-.* 6x86-.* athlon-.* athlon_.*-.* pentiumii-.* pentium2-.* pentiumiii-.* pentium3-.*
    i786-: pentium4-.*
    powerpc-: ppc-.* ppcbe-.*
    powerpcle-: ppcle-.* powerpclittle-.*
    powerpc64-: ppc64-.*
    powerpc64le-: ppc64le-.* powerpc64little-.*
    mipsisa64sb1-: sb1-.*
    mipsisa64sb1el-: sb1el-.*
    mipstx39-: tx39-.*
    mipstx39el-: tx39el-.*
    sh5le-: sh5el-.*
    sh5be-: sh5eb-.*
    arm-: strongarm-.* thumb-.* xscale-.*
    armeb-: xscaleeb-.*
    armel-: xscaleel-.*
    aarch64-: arm64-.* aarch64le-.*
    - ?elf: cr16-.* crx-.*
    - ?linux-gnu: tile.*-.*
    crisv32-axis: crisv32-.* etraxfs.*-.*
    cris-axis: cris-.* etrax.*-.*
    -: spur-.* neo-tandem nse-tandem nsr-tandem nsv-tandem nsx-tandem
"""

# The CPU names that any maker may have.
_CPUS = r"""
    1750a 580 a29k abacus am33_2\.0 amdgcn asmjs ba bfin bpf bs2000 clipper craynv csky cydra dlx dsp16xx e2k elxsi
    epiphany fido fr30 frv ft32 fx80 hexagon ia16 ia64 ip2k iq2000 k1om kvx lm32 maxq mb mcore mep metag mmix moxie mt
    msp430 nfp none np1 nvptx open8 orion picochip pn power pru pyramid rl78 romp rs6000 rx score spu sv1 tahoe tron
    ubicom32 v70 vax visium w65 we32k xc16x xgate xps100 xstormy16 ymp z80 z8k
    aarch64(_be)? alpha(64)?(ev([4-8]|56|6[78])|pca5[67])? arc(eb|32|64)? arm([lb]e|e[lb]|v.*)? avr(32)? be(32|64)
    c[123].* c4x [cjt]90 c8051 d[13]0v f30[01] f700 h8[35]00 hppa(1\.[01]|2\.0[nw]?|64)? i370 i.*86 i[89]60
    le(32|64) loongarch(32|64) m32(c|r|rle) m5200 m68000 m680[012346]0 m68360 m683.2 m68k m68(hc)?1[12] m68hcs12x
    m88(110|k) microblaze(el)? mips.* mn10[23]00 nds32([lb]e)? nios(2|2eb|2el)? ns(16|32)k or1k.* or32 pdp1[01] pjl?
    powerpc(64)?(le)? powerpcspe riscv((32|64)(be)?)? s390x? sh sh[l1234] sh[24]a(e[lb])? sh[23]e
    sh(e[lb]|[lb]e|[1234]e[lb]|[12345][lb]e|[23]ele) sh64(le)? sparc(64[bv]?|86x|lite|let|v8|v9[bv]?)? sx.*
    thumbv7.* tic(30|4x|54x|55x|6x|80) v850(e|e1|es|e2|e2v3)? wasm(32|64) x86(_64)? xtensa.*
"""


def _rows(table: str) -> Iterator[tuple[Machine, list[str]]]:
    for line in table.strip().splitlines():
        meant, _, patterns = line.strip().partition(": ")
        machine, _, system = meant.partition(" ")
        cpu, _, vendor = machine.partition("-")
        yield Machine(cpu, vendor, system), patterns.split()


@functools.cache
def machine_words() -> dict[str, Machine]:
    """Return the names of one word, each with the machine that it stands for."""
    return {word: machine for machine, words in _rows(_WORDS) for word in words}


@functools.cache
def _compiled(table: str) -> tuple[re.Pattern[str], tuple[Machine, ...]]:
    """Return one pattern for all rows, in their order, and the rows' machines: `r7` is the group of row 7."""
    rows = tuple(_rows(table))
    groups = (f"(?P<r{index}>{'|'.join(patterns)})" for index, (_, patterns) in enumerate(rows))
    return re.compile("|".join(groups), re.DOTALL), tuple(machine for machine, _ in rows)


def _first(table: str, text: str) -> Machine | None:
    pattern, machines = _compiled(table)
    found = pattern.fullmatch(text)
    return None if found is None else machines[int(str(found.lastgroup)[1:])]


def model(text: str) -> Machine | None:
    """Return the machine that a model's name, or a CPU's that implies its maker, stands for."""
    return _first(_MODELS, text)


def pair(cpu: str, vendor: str) -> Machine | None:
    """Return what a CPU and a maker change in each other; None where no rule is about them."""
    return _first(_PAIRS, f"{cpu}-{vendor}")


@functools.cache
def _cpu_pattern() -> re.Pattern[str]:
    return re.compile("|".join(_CPUS.split()), re.DOTALL)


def is_cpu(name: str) -> bool:
    """Whether any maker may have a CPU of this name."""
    return _cpu_pattern().fullmatch(name) is not None
