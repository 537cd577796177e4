"""Questions to LLVM: clang by way of ziglang, its lists of CPUs and features, and llvmlite's subtarget help.

Every answer is one short process; `ask_all` runs a few at once.
"""

from __future__ import annotations

import functools
import re
import subprocess
import sys
from collections.abc import Callable, Hashable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple, TypeVar

Question = TypeVar("Question", bound=Hashable)
Reply = TypeVar("Reply")

_HELP = """
import sys
import llvmlite.binding as llvm
llvm.initialize_all_targets()
llvm.initialize_all_asmprinters()
llvm.Target.from_triple(sys.argv[1]).create_target_machine(cpu="help")
"""


class Answer(NamedTuple):
    """What clang said: the features it lists as on and as off, the CPU it compiles for, or the error."""

    on: frozenset[str]
    off: frozenset[str]
    cpu: str
    error: str


@functools.cache
def _zig() -> Path:
    import ziglang  # noqa: PLC0415 - the tests import this module to learn whether it is there

    return Path(ziglang.__file__).parent


def available() -> bool:
    """Say whether ziglang is installed."""
    try:
        return (_zig() / "zig").exists()
    except ImportError:
        return False


def clang(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run clang on an empty function."""
    command = [str(_zig() / "zig"), "clang", *arguments]
    return subprocess.run(command, input="void f(void){}", capture_output=True, text=True, check=False)


def version() -> str:
    """Return clang's version."""
    found = re.search(r"clang version (\S+)", clang("--version").stdout)
    return found[1] if found else ""


def driver(triple: str, *options: str) -> Answer:
    """Ask the driver, with its options as a user writes them."""
    return _read(
        clang(f"--target={triple}", *options, "-nogpulib", "-S", "-emit-llvm", "-o", "-", "-xc", "-")
    )


def cc1(triple: str, cpu: str, *features: str) -> Answer:
    """Ask the compiler proper, with signed features under LLVM's names."""
    signed = [word for feature in features for word in ("-target-feature", feature)]
    named = ["-target-cpu", cpu] if cpu else []
    return _read(clang("-cc1", "-triple", triple, *named, *signed, "-emit-llvm", "-o", "-", "-xc", "-"))


def _read(done: subprocess.CompletedProcess[str]) -> Answer:
    if done.returncode or "error:" in done.stderr:
        return Answer(frozenset(), frozenset(), "", done.stderr.strip() or f"exit {done.returncode}")
    found = re.search(r'"target-features"="([^"]*)"', done.stdout)
    signed = found[1].split(",") if found else []
    named = re.search(r'"target-cpu"="([^"]*)"', done.stdout)
    return Answer(
        frozenset(name[1:] for name in signed if name[0] == "+"),
        frozenset(name[1:] for name in signed if name[0] == "-"),
        named[1] if named else "",
        "",
    )


def ask_all(ask: Callable[[Question], Reply], questions: Iterable[Question]) -> dict[Question, Reply]:
    """Ask many questions, a few at once."""
    listed = list(dict.fromkeys(questions))
    with ThreadPoolExecutor(2) as pool:
        return dict(zip(listed, pool.map(ask, listed), strict=True))


def subtarget_help(triple: str) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the CPUs that LLVM knows, and its features with their descriptions."""
    # Some back ends print the lists and then abort on a CPU named "help".
    done = subprocess.run([sys.executable, "-c", _HELP, triple], capture_output=True, text=True, check=False)
    cpus, found, features = done.stderr.partition("Available features")
    if not found:
        raise LookupError(f"LLVM lists nothing for {triple}: {done.stderr[:200]}")
    row = re.compile(r"^  (\S+)\s+- (.*)$", re.MULTILINE)
    return (
        tuple(name for name, _ in row.findall(cpus)),
        {name: text.rstrip(".") + "." for name, text in row.findall(features)},
    )


class ZigTable(NamedTuple):
    """zig's generated tables of LLVM's subtargets: what a feature implies there, and the direct features of a CPU."""

    implies: dict[str, tuple[str, ...]]
    cpus: dict[str, tuple[str, ...]]


_NAME = r'(?:@"[^"]+"|\w+)'
_FEATURE = re.compile(
    rf"Feature\.({_NAME})\)\] = \.\{{\s*\.llvm_name = (null|\"[^\"]*\"),\s*\.description = .*,\s*"
    r"\.dependencies = featureSet\(&\[_\]Feature\{([^}]*)\}\)"
)
_CPU = re.compile(
    rf"pub const {_NAME}: CpuModel = \.\{{\s*\.name = \"[^\"]*\",\s*\.llvm_name = \"([^\"]*)\",\s*"
    r"\.features = featureSet\(&\[_\]Feature\{([^}]*)\}\)"
)


def zig_table(arch: str) -> ZigTable:
    """Read the tables that come with zig's standard library, under LLVM's names."""
    text = (_zig() / "lib" / "std" / "Target" / f"{arch}.zig").read_text(encoding="utf-8")
    found = _FEATURE.findall(text)
    name_of = {_plain(key): name.strip('"') for key, name, _ in found if name != "null"}

    def named(body: str) -> tuple[str, ...]:
        keys = (_plain(key.strip().removeprefix(".")) for key in body.split(",") if key.strip())
        return tuple(name_of[key] for key in keys if key in name_of)

    return ZigTable(
        {name.strip('"'): named(body) for _, name, body in found if name != "null"},
        {name: named(body) for name, body in _CPU.findall(text)},
    )


def _plain(key: str) -> str:
    return key[2:-1] if key.startswith('@"') else key
