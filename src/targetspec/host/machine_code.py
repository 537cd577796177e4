"""Run CPUID and XGETBV: the one part of detection that is not plain reading.

The instructions sit in a page that is writable first and executable after, never both; where the system refuses
that, or faults CPUID, nothing is run and a note says why.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from targetspec.host.facts import Leaves

_CPUID = {
    # System V: edi leaf, esi subleaf, rdx where to put the four words
    "64": bytes.fromhex("53 89f8 89f1 4989d0 0fa2 418900 41895804 41894808 4189500c 5b c3"),
    # Windows: ecx leaf, edx subleaf, r8 where to put the four words
    "win64": bytes.fromhex("53 89c8 89d1 0fa2 418900 41895804 41894808 4189500c 5b c3"),
    # cdecl: the same three on the stack
    "32": bytes.fromhex("53 57 8b44240c 8b4c2410 8b7c2414 0fa2 8907 895f04 894f08 89570c 5f 5b c3"),
}
_XGETBV = {
    64: bytes.fromhex("31c9 0f01d0 48c1e220 4809d0 c3"),
    32: bytes.fromhex("31c9 0f01d0 c3"),
}
_XGETBV_OFFSET = 64
_PAGE = 4096
_PROT_READ, _PROT_WRITE, _PROT_EXEC = 1, 2, 4
_MEM_COMMIT, _MEM_RESERVE, _MEM_RELEASE = 0x1000, 0x2000, 0x8000
_PAGE_READWRITE, _PAGE_EXECUTE_READ = 0x04, 0x20
_WIDE = 64
_MAP_PRIVATE, _MAP_ANONYMOUS = 2, 0x20
_OSXSAVE = 1 << 27
_EXTENDED = 0x8000_0000
_LEAVES = (
    *((1, 0), (0xD, 1)),
    *((_EXTENDED + leaf, 0) for leaf in (1, 2, 3, 4, 8)),
)
_TRACE, _TILES, _AVX10 = 1 << 25, 1 << 24, 1 << 19
_CACHE_LISTS, _CACHES, _CACHE_KIND = (4, _EXTENDED + 0x1D), 8, 0x1F
_OLD_CACHES = (2, _EXTENDED + 5, _EXTENDED + 6)
_ARCH_GET_CPUID = 0x1011
_ARCH_PRCTL = {64: 158, 32: 384}

_Words = ctypes.c_uint32 * 4


class CpuidRefusedError(OSError):
    """The system does not let this process run CPUID from a page of its own."""


def run_cpuid(*, with_caches: bool = True) -> tuple[Leaves, int | None, tuple[str, ...]]:
    """Return the leaves that the readers use, XCR0 where the system has turned XSAVE on, and notes; x86 only."""
    try:
        return *_run(with_caches=with_caches), ()
    except (OSError, AttributeError, ValueError) as refusal:
        return {}, None, (f"CPUID could not be run: {refusal}",)


def _run(*, with_caches: bool) -> tuple[Leaves, int | None]:
    bits = 64 if sys.maxsize > 1 << 32 else 32
    pages: _Pages = _WindowsPages() if sys.platform == "win32" else _PosixPages(bits)
    code = _CPUID["win64" if sys.platform == "win32" and bits == _WIDE else str(bits)]
    page = pages.make(code.ljust(_XGETBV_OFFSET, b"\xcc") + _XGETBV[bits])
    try:
        call = ctypes.CFUNCTYPE(None, ctypes.c_uint32, ctypes.c_uint32, ctypes.POINTER(_Words))(page)
        leaves = dict(_walk(call, with_caches=with_caches))
        enabled = leaves.get((1, 0), (0, 0, 0, 0))[2] & _OSXSAVE
        return leaves, ctypes.CFUNCTYPE(ctypes.c_uint64)(page + _XGETBV_OFFSET)() if enabled else 0
    finally:
        pages.drop(page)


class _Pages(Protocol):
    def make(self, code: bytes) -> int: ...
    def drop(self, page: int) -> None: ...


class _PosixPages:
    """Pages of Linux; refuses where this process has asked for a fault on CPUID."""

    def __init__(self, bits: int) -> None:
        self._library = ctypes.CDLL(None, use_errno=True)
        asked = (ctypes.c_long(_ARCH_PRCTL[bits]), ctypes.c_long(_ARCH_GET_CPUID), ctypes.c_long(0))
        if self._library.syscall(*asked) == 0:
            raise CpuidRefusedError("this process has asked for a fault on CPUID")

    def make(self, code: bytes) -> int:
        library, size, nowhere = self._library, ctypes.c_size_t(_PAGE), ctypes.c_void_p(None)
        library.mmap.restype = ctypes.c_void_p
        flags = _MAP_PRIVATE | _MAP_ANONYMOUS
        page = library.mmap(nowhere, size, _PROT_READ | _PROT_WRITE, flags, -1, ctypes.c_long(0))
        if page is None or page == ctypes.c_void_p(-1).value:
            raise CpuidRefusedError(ctypes.get_errno(), "no page for its code")
        ctypes.memmove(page, code, len(code))
        if library.mprotect(ctypes.c_void_p(page), size, _PROT_READ | _PROT_EXEC) != 0:
            refusal = ctypes.get_errno()
            self.drop(page)
            raise CpuidRefusedError(refusal, "the system allows no executable page")
        return int(page)

    def drop(self, page: int) -> None:
        self._library.munmap(ctypes.c_void_p(page), ctypes.c_size_t(_PAGE))


class _WindowsPages:
    """Pages of Windows."""

    def __init__(self) -> None:
        self._kernel: Any = getattr(ctypes, "windll").kernel32  # noqa: B009 - other systems' ctypes has none
        self._kernel.VirtualAlloc.restype = ctypes.c_void_p

    def make(self, code: bytes) -> int:
        kernel, size, old = self._kernel, ctypes.c_size_t(_PAGE), ctypes.c_uint32(0)
        page = kernel.VirtualAlloc(ctypes.c_void_p(None), size, _MEM_COMMIT | _MEM_RESERVE, _PAGE_READWRITE)
        if not page:
            raise CpuidRefusedError("no page for its code")
        ctypes.memmove(page, code, len(code))
        if not kernel.VirtualProtect(ctypes.c_void_p(page), size, _PAGE_EXECUTE_READ, ctypes.byref(old)):
            self.drop(page)
            raise CpuidRefusedError("the system allows no executable page")
        return int(page)

    def drop(self, page: int) -> None:
        self._kernel.VirtualFree(ctypes.c_void_p(page), ctypes.c_size_t(0), _MEM_RELEASE)


def _walk(
    call: Callable[..., None], *, with_caches: bool
) -> Iterator[tuple[tuple[int, int], tuple[int, int, int, int]]]:
    """Yield the leaves that the readers use; a hypervisor traps each call, so none is made for nothing."""
    words = _Words()
    last = {0: 0, _EXTENDED: _EXTENDED}

    def ask(leaf: int, subleaf: int = 0) -> tuple[int, int, int, int]:
        if leaf > last[leaf & _EXTENDED]:
            return (0, 0, 0, 0)
        call(leaf, subleaf, words)
        return (words[0], words[1], words[2], words[3])

    for base in last:
        first = ask(base)
        last[base] = first[0]
        yield (base, 0), first
    for leaf, subleaf in _LEAVES:
        yield (leaf, subleaf), ask(leaf, subleaf)
    yield from _announced_leaves(ask)
    if with_caches:
        yield from _cache_leaves(ask)


def _announced_leaves(
    ask: Callable[..., tuple[int, int, int, int]],
) -> Iterator[tuple[tuple[int, int], tuple[int, int, int, int]]]:
    """Yield leaf 7, and the leaves that its bits announce: tracing, tiles, AVX10."""
    first, second = ask(7, 0), ask(7, 1)
    yield from (((7, 0), first), ((7, 1), second))
    for announced, name in (
        (first[1] & _TRACE, (0x14, 0)),
        (first[3] & _TILES, (0x1E, 1)),
        (second[3] & _AVX10, (0x24, 0)),
    ):
        if announced:
            yield name, ask(*name)


def _cache_leaves(
    ask: Callable[..., tuple[int, int, int, int]],
) -> Iterator[tuple[tuple[int, int], tuple[int, int, int, int]]]:
    """Yield the first of the two lists of caches that has any, else what older processors say."""
    for leaf in _CACHE_LISTS:
        for subleaf in range(_CACHES):
            answer = ask(leaf, subleaf)
            if not answer[0] & _CACHE_KIND:
                break
            yield (leaf, subleaf), answer
        if subleaf:
            return
    yield from (((leaf, 0), ask(leaf)) for leaf in _OLD_CACHES)
