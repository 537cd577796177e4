"""Which dialects a text may be in, by its looks alone; `parsing` asks their readers.

A text that begins with a kind is in our own form, one that begins with a brace is JSON. Some shapes belong to few
dialects, and these alone are asked. All other texts are LLVM's triples and options, and, where LLVM takes none of
it, the names that rustc, zig or the GNU tools have beside.
"""

from __future__ import annotations

import re

from targetspec import programs, registry
from targetspec.gpu_amd import ALIASES
from targetspec.triple_archs import known_arch

_HALIDE = (
    r"(?:host|(?:x86|arm|powerpc|hexagon|wasm|riscv)-(?:32|64)-"
    r"(?:linux|windows|osx|android|ios|qurt|noos|fuchsia|wasmrt))(?:-[a-z0-9_]+)*(?:\s+[a-z0-9_]+)*\s*$"
)
# zig writes the names of CPUs with underscores, and their features behind signs; on Arm so does clang.
_ZIG_CPU = (
    r"(?:x86-[a-z0-9]+(?:-[a-z0-9]+)?\s+-mcpu[= ]\S+"
    r"|[a-z0-9_]+-[a-z0-9]+(?:-[a-z0-9]+)?\s+-mcpu[= ](?!sm_)(?:\S*[_+]\S*|baseline))\s*$"
)
# Each shape with the dialects that write it, the more common one first; the first shape that matches counts.
_SHAPES: tuple[tuple[str, tuple[str, ...]], ...] = (
    (_HALIDE, ("halide",)),
    (programs.CLANG_COMMAND, ("llvm",)),
    (programs.command(programs.ZIG), ("zig",)),
    (programs.command(programs.RUST), ("rust",)),
    (
        rf"{programs.command(programs.NVCC)}|--?(?:gencode|generate-code|gpu-architecture|arch[= ]\s*(?:sm|compute|lto)_)|arch=compute_",
        ("cuda",),
    ),
    (r"\S+\.whl\s*$", ("wheel",)),
    (r"\S[^\n]*?\s(?:-C\s*|-Z\s*|--codegen[= ])(?:target[-_](?:cpu|feature)|tune[-_]cpu)=", ("rust",)),
    (
        r"[a-z0-9]+/[a-z0-9]+(?:\s+[A-Z][A-Z0-9_]*=\S*)+\s*$|js/wasm\s*$|(?:[A-Z][A-Z0-9_]*=\S*\s+)*GO[A-Z0-9]+=",
        ("go",),
    ),
    (
        r"[a-z0-9_]+-(?:\S*-gnu\.\d|(?:dragonfly|freebsd|linux|macos|netbsd|openbsd|windows)\.[0-9a-z])\S*(?:\s.*)?$",
        ("zig",),
    ),
    (_ZIG_CPU, ("llvm", "zig")),
    (r"(?:apple|aws|nvidia|qcom|raspberry-pi|riscv)/\S+\s*$", ("tvm",)),
    (r"[A-Za-z0-9_-]+(?:\([^()/]*\))?/\S+\s*$", ("oci", "tvm")),
    (
        r"(?:(?:sm|compute|lto)_\d\S*|\d+\.\d+[a-z]?(?:\+PTX)?|\d+[a-z]?(?:-real|-virtual)?|\(\s*\d+\s*,\s*\d+\s*,?\s*\))\s*$",
        ("cuda",),
    ),
    (rf"(?:gfx\d\S*|(?:(?:hipv4|hip|openmp)-)?amdgcn-\S*-gfx\S*|(?:{'|'.join(ALIASES)})\s*)$", ("amdgpu",)),
    (
        r"(?:manylinux[12_]|musllinux_|macosx_\d|ios_\d|android_\d|emscripten_\d|linux_|win_|win32)\S*\s*$",
        ("wheel",),
    ),
    (r"rv(?:(?:32|64)[ieg]|[abim]\d\d[us](?:32|64)(?=_|\s*$))[a-z0-9_]*\s*$", ("riscv",)),
    (
        r"(?:\S*/)?(?:[A-Za-z0-9_.+-]+-)?(?:gcc|g\+\+|cc|c\+\+|cpp|c99|c89|gfortran|gnat|gdc|xgcc)(?:-[0-9.]+)?(?:\s|$)",
        ("gcc",),
    ),
    (r"(?:llvm|c|cuda|rocm|opencl|metal|vulkan|webgpu|composite)(?:\s+-.*|\s*)$", ("tvm",)),
    (r"(?:hexagon\s+-|nvptx(?:\s+-|\s*$))", ("llvm", "tvm")),
    (r"-", ("llvm", "gcc")),
)
_ANY = re.compile("|".join(f"(?P<s{at}>{shape})" for at, (shape, _) in enumerate(_SHAPES)), re.DOTALL)
_BESIDE_LLVM = ("rust", "zig", "gnu", "oci")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OWN = re.compile(r"(\S+)(?:\s+[^\s=\[\]-][^\s=\[\]]*=|\s*$)")


def candidates(text: str) -> tuple[str, ...]:
    """Return the dialects whose readers are to be asked; where several can read the text, they must agree."""
    text = text.lstrip()
    own = _OWN.match(text)
    if own is not None and _is_kind(own[1]):
        return ("targetspec",)
    shape = _ANY.match(text)
    if shape is None:
        return ("llvm",)
    return _SHAPES[int(str(shape.lastgroup)[1:])][1]


def beside_llvm(text: str) -> tuple[str, ...]:
    """Return the dialects that have names for machines beside LLVM's triples, where a text is a name alone.

    Options are LLVM's here: other readers may take one with a fault in it for none of their business.
    """
    if len(text.split(None, 1)) > 1:
        return ()
    return _BESIDE_LLVM


def _is_kind(word: str) -> bool:
    if word in registry.KINDS:
        return True
    # Looking up installed kinds takes milliseconds, so only where a word may be one; an architecture comes first.
    if not _WORD.fullmatch(word) or known_arch(word.lower()) is not None or _ANY.match(word):
        return False
    return word in registry.kind_names()
