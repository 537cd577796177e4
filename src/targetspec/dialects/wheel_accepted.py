"""Which platform tags of wheels a machine accepts, in the order in which installers prefer them.

Source: the rules of the library `packaging`, 26; PEPs 600, 656, 730 and 738.
"""

from __future__ import annotations

from collections.abc import Iterator

from targetspec.dialects.wheel_names import LEGACY, arch_name, ios_device, numbers
from targetspec.errors import NotRepresentableError
from targetspec.kinds.cpu import CpuTarget
from targetspec.target import Target
from targetspec.triple import Triple

# The architectures that PEP 600 tags are accepted for; glibc before 2.17 was built for x86 only.
_MANYLINUX = frozenset(("aarch64", "i686", "loongarch64", "ppc64", "ppc64le", "riscv64", "s390x", "x86_64"))
_OLDEST = {"x86_64": 5, "i686": 5}
_OLDEST_OTHER = 17
_LEGACY_OF = {version: name for name, version in LEGACY.items()}
_RUNS_AS_WELL = {"armv8l": ("armv8l", "armv7l")}
# The last macOS before 11 has two numbers; tags reach back to 10.4.
_LAST_10, _FIRST_10 = 16, 4
_FIRST_IOS, _LAST_MINOR = 12, 9
_FIRST_ANDROID = 16
_INTEL_SINCE, _PPC_UNTIL, _PPC64_UNTIL = (10, 4), (10, 6), (10, 5)


def accepted_tags(target: Target) -> tuple[str, ...]:
    """Return the platform tags that a machine accepts, the most specific first.

    What the machine does not state (the version of its C library or system) accepts nothing. Raises
    NotRepresentableError for a target that is no machine with a system, or a version that no tag has.

    >>> from targetspec import CpuTarget
    >>> accepted_tags(CpuTarget(triple="x86_64-linux-musl", libc_version="1.1"))
    ('linux_x86_64', 'musllinux_1_1_x86_64', 'musllinux_1_0_x86_64')
    """
    if not isinstance(target, CpuTarget) or target.triple is None:
        raise NotRepresentableError("wheel", (("kind", "only a cpu target with a triple accepts tags"),))
    arch = arch_name(target)
    return () if arch is None else tuple(_accepted(target, target.triple, arch))


def _accepted(target: CpuTarget, triple: Triple, arch: str) -> Iterator[str]:
    if triple.os == "windows":
        yield arch
    elif triple.os == "macosx" and triple.os_version:
        yield from _macos(numbers(triple.os_version), arch)
    elif triple.os == "ios" and triple.os_version:
        yield from _ios(numbers(triple.os_version), ios_device(triple))
    elif triple.os == "emscripten" and triple.os_version:
        yield f"emscripten_{triple.os_version.replace('.', '_')}_{arch}"
    elif triple.environment == "android":
        newest = numbers(triple.environment_version or "0")[0]
        yield from (f"android_{level}_{arch}" for level in range(newest, _FIRST_ANDROID - 1, -1))
    elif triple.os == "linux":
        yield from _linux(target, _RUNS_AS_WELL.get(arch, (arch,)))


def _linux(target: CpuTarget, archs: tuple[str, ...]) -> Iterator[str]:
    yield from (f"linux_{arch}" for arch in archs)
    if target.libc_version is None:
        return
    major, minor = numbers(target.libc_version)
    if target.libc == "musl":
        yield from (f"musllinux_{major}_{n}_{arch}" for arch in archs for n in range(minor, -1, -1))
    elif target.libc == "glibc" and major == 2 and _has_manylinux(target, archs):  # noqa: PLR2004 - the only major there is
        for arch in archs:
            yield from _manylinux(minor, arch)


def _has_manylinux(target: CpuTarget, archs: tuple[str, ...]) -> bool:
    return target.float_abi == "hard" if "armv7l" in archs else archs[0] in _MANYLINUX


def _manylinux(newest: int, arch: str) -> Iterator[str]:
    for minor in range(newest, _OLDEST.get(arch, _OLDEST_OTHER) - 1, -1):
        yield f"manylinux_2_{minor}_{arch}"
        legacy = _LEGACY_OF.get(f"2.{minor}")
        if legacy:
            yield f"{legacy}_{arch}"


def _macos(version: tuple[int, int], arch: str) -> Iterator[str]:
    if version[0] == 10:  # noqa: PLR2004 - Mac OS X
        for minor in range(version[1], -1, -1):
            yield from _mac_tags((10, minor), arch)
        return
    for major in range(version[0], 10, -1):
        yield from _mac_tags((major, 0), arch)
    for minor in range(_LAST_10, _FIRST_10 - 1, -1):
        if arch == "x86_64":
            yield from _mac_tags((10, minor), arch)
        else:
            yield f"macosx_10_{minor}_universal2"


def _mac_tags(version: tuple[int, int], arch: str) -> Iterator[str]:
    yield from (f"macosx_{version[0]}_{version[1]}_{name}" for name in _mac_formats(version, arch))


def _mac_formats(version: tuple[int, int], arch: str) -> tuple[str, ...]:
    """Return the formats that hold code for an architecture on a version, the one of its own first."""
    if arch == "arm64":
        return "arm64", "universal2"
    if arch == "x86_64":
        late = version >= _INTEL_SINCE
        return ("x86_64", "intel", "fat64", "fat3", "universal2", "universal") if late else ()
    if arch == "i386":
        return ("i386", "intel", "fat3", "fat", "universal") if version >= _INTEL_SINCE else ()
    if arch == "ppc64":
        return ("ppc64", "fat64", "universal") if _INTEL_SINCE <= version <= _PPC64_UNTIL else ()
    return ("ppc", "fat3", "fat", "universal") if version <= _PPC_UNTIL else ()


def _ios(version: tuple[int, int], device: str | None) -> Iterator[str]:
    if device is None or version[0] < _FIRST_IOS:
        return
    for major in range(version[0], _FIRST_IOS - 1, -1):
        newest = version[1] if major == version[0] else _LAST_MINOR
        yield from (f"ios_{major}_{minor}_{device}" for minor in range(newest, -1, -1))
