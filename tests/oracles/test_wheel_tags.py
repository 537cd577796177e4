"""The library `packaging`, which installers use: the platform tags of random machines, in its order."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from targetspec import CpuTarget
from targetspec.dialects.wheel_accepted import accepted_tags

tags = pytest.importorskip("packaging.tags", reason="packaging is not installed")
manylinux = pytest.importorskip("packaging._manylinux", reason="packaging is not installed")
musllinux = pytest.importorskip("packaging._musllinux", reason="packaging is not installed")
pytestmark = pytest.mark.oracle
MACHINES = 300
_MAC = {"x86_64": "x86_64", "arm64": "arm64", "i386": "i386", "ppc": "powerpc", "ppc64": "powerpc64"}
_ANDROID = {"arm64_v8a": "aarch64", "armeabi_v7a": "armv7a", "x86": "i686", "x86_64": "x86_64"}
_LINUX = ("x86_64", "i686", "aarch64", "ppc64le", "s390x", "riscv64", "loongarch64")
_TRIPLE_ARCH = {"ppc64le": "powerpc64le"}


def _mac(draw: random.Random) -> tuple[tuple[str, ...], CpuTarget]:
    arch, old = draw.choice(sorted(_MAC)), draw.random() < 0.4
    version = (
        (10, draw.randint(0, 16))
        if old or arch in {"i386", "ppc", "ppc64"}
        else (draw.randint(11, 27), draw.randint(0, 6))
    )
    if arch == "arm64":
        version = (max(version[0], 11), version[1])
    triple = f"{_MAC[arch]}-apple-macosx{version[0]}.{version[1]}"
    return tuple(tags.mac_platforms(version, arch)), CpuTarget(triple=triple)


def _ios(draw: random.Random) -> tuple[tuple[str, ...], CpuTarget]:
    version = (draw.randint(12, 27), draw.randint(0, 9))
    multiarch, triple = draw.choice(
        (
            ("arm64-iphoneos", "arm64-apple-ios{}.{}"),
            ("arm64-iphonesimulator", "arm64-apple-ios{}.{}-simulator"),
            ("x86_64-iphonesimulator", "x86_64-apple-ios{}.{}-simulator"),
        )
    )
    return tuple(tags.ios_platforms(version, multiarch)), CpuTarget(triple=triple.format(*version))


def _android(draw: random.Random) -> tuple[tuple[str, ...], CpuTarget]:
    level, abi = draw.randint(14, 38), draw.choice(sorted(_ANDROID))
    environment = "androideabi" if abi == "armeabi_v7a" else "android"
    triple = f"{_ANDROID[abi]}-unknown-linux-{environment}{level}"
    return tuple(tags.android_platforms(level, abi)), CpuTarget(triple=triple)


def _linux(draw: random.Random, patch: pytest.MonkeyPatch) -> tuple[tuple[str, ...], CpuTarget]:
    arch, libc = draw.choice(_LINUX), draw.choice(("gnu", "musl"))
    version = (2, draw.randint(3, 45)) if libc == "gnu" else (1, draw.randint(0, 3))
    patch.setattr(manylinux, "_get_glibc_version", lambda: version if libc == "gnu" else (-1, -1))
    patch.setattr(manylinux, "_have_compatible_abi", lambda executable, archs: True)
    found = musllinux._MuslVersion(*version) if libc == "musl" else None
    patch.setattr(musllinux, "_get_musl_version", lambda executable: found)
    triple = f"{_TRIPLE_ARCH.get(arch, arch)}-unknown-linux-{libc}"
    target = CpuTarget(triple=triple, libc_version=".".join(map(str, version)))
    return (*manylinux.platform_tags([arch]), *musllinux.platform_tags([arch]), f"linux_{arch}"), target


@pytest.mark.parametrize("machine", [_mac, _ios, _android], ids=["macos", "ios", "android"])
def test_tags_of_random_machines(machine: Callable[[random.Random], tuple[tuple[str, ...], CpuTarget]]):
    """The same tags in the same order."""
    draw = random.Random(9)
    for _ in range(MACHINES):
        expected, target = machine(draw)
        assert expected == accepted_tags(target), target


def test_tags_of_random_linux_machines(monkeypatch):
    """The same tags in the same order, but for the one of no C library, which comes first here and last there."""
    draw = random.Random(9)
    for _ in range(MACHINES):
        expected, target = _linux(draw, monkeypatch)
        assert set(expected) == set(accepted_tags(target)), target
        assert [tag for tag in expected if not tag.startswith("linux_")] == [
            tag for tag in accepted_tags(target) if not tag.startswith("linux_")
        ]
