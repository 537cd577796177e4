"""The pool of tricky targets: documents whose every entry once broke somebody's handling of targets, or could."""

from __future__ import annotations

import functools
from typing import Any

from targetspec.codec import from_dict
from targetspec.target import Target

_MOST = 2**63 - 1
_LINUX = "x86_64-unknown-linux-gnu"
_ARM_LINUX = "aarch64-unknown-linux-gnu"
_WINDOWS: dict[str, Any] = {"kind": "cpu", "triple": "x86_64-pc-windows-msvc", "cpu": "x86-64-v2"}
_MACOS: dict[str, Any] = {"kind": "cpu", "triple": "arm64-apple-macosx14.0", "cpu": "apple-m1"}
_PLAIN: dict[str, Any] = {"kind": "cpu", "triple": _LINUX, "cpu": "znver3", "num_cores": 8}
_ODD_NAMES = (
    "[GPU] 100% a=b, c;d \"q\" 'r' \\u00e9 \\N{DEGREE SIGN}",
    "xn--nvda-9za",
    "%5B%20%25",
    "null",
    "-",
    "a" * 200,
)

_CPUS: tuple[dict[str, Any], ...] = (
    {"kind": "cpu"},
    {"kind": "cpu", "triple": _LINUX},
    {"kind": "cpu", "cpu": "cortex-a53"},
    # A CPU of several tables, and no triple that says which.
    {"kind": "cpu", "cpu": "generic"},
    {"kind": "cpu", "triple": _LINUX, "cpu": "x86-64", "features": []},
    {"kind": "cpu", "triple": _LINUX, "features": ["avx2"]},
    # What another version of the tables held, names included that no version has.
    {**_PLAIN, "features": ["avx2", "from-the-future"], "tables": "99.0.0"},
    {**_PLAIN, "features": ["sse2"], "tables": "19.1.0"},
    {
        **_PLAIN,
        "cpu": "znver99",
        "tune": "znver98",
        "features": ["avx2"],
        "tuning": ["+odd"],
        "tables": "99.0.0",
    },
    {"kind": "cpu", "triple": _LINUX, "cpu": "haswell", "tune": "znver4", "tuning": ["-fast-bextr"]},
    {**_PLAIN, "num_cores": 1, "l1d_cache_bytes": 1, "l2_cache_bytes": 1, "cache_line_bytes": 1},
    {**_PLAIN, "num_cores": _MOST, "l3_cache_bytes": _MOST, "vector_bits": 1 << 16},
    {**_PLAIN, "libc_version": "2.17", "static": True, "libs": ["cudnn", "libstdc++.so.6", "A+b_c-d"]},
    {**_PLAIN, "libc_version": "999999999.0.0.999999999"},
    {"kind": "cpu", "triple": "armv7-unknown-linux-gnueabi", "float_abi": "softfp"},
    {"kind": "cpu", "triple": "armv7-unknown-linux-gnueabihf", "cpu": "cortex-a9"},
    {"kind": "cpu", "triple": "thumbv7em-none-eabi", "cpu": "cortex-m4"},
    {"kind": "cpu", "triple": "x86_64-unknown-linux-gnux32"},
    {"kind": "cpu", "triple": "i686-pc-windows-gnu", "cpu": "pentium4"},
    {"kind": "cpu", "triple": "aarch64_be-unknown-linux-gnu", "cpu": "neoverse-n1"},
    {"kind": "cpu", "triple": _ARM_LINUX, "cpu": "neoverse-v1", "vector_bits": 256},
    {"kind": "cpu", "triple": _ARM_LINUX, "restrictions": ["strict-align"]},
    {"kind": "cpu", "triple": "aarch64-unknown-linux-android24"},
    {"kind": "cpu", "triple": "riscv64-unknown-linux-gnu", "cpu": "sifive-u74", "abi": "lp64d"},
    {"kind": "cpu", "triple": "powerpc64le-unknown-linux-gnu", "cpu": "pwr9", "abi": "elfv2"},
    {"kind": "cpu", "triple": "wasm32-unknown-wasi"},
    # An architecture that no table is about.
    {"kind": "cpu", "triple": "sparc64-unknown-linux-gnu"},
    {"kind": "cpu", "triple": "sparc64-unknown-linux-gnu", "cpu": "niagara4"},
    {**_MACOS, "host": _WINDOWS},
    {**_PLAIN, "host": _PLAIN},
    {**_PLAIN, "host": {"kind": "cpu"}},
    {**_PLAIN, "host": {**_PLAIN, "features": ["from-the-future"], "tables": "99.0.0"}},
)
_DEVICES: tuple[dict[str, Any], ...] = (
    *({"kind": "cuda", "arch": "sm_90a", "code_form": form} for form in ("cubin", "ptx", "fat", "lto")),
    *({"kind": "cuda", "arch": arch} for arch in ("sm_100f", "sm_100a", "sm_30", "sm_121")),
    {"kind": "cuda", "arch": "sm_80", "code_form": "ptx", "ptx_isa": "7.8", "libs": ["cudnn"]},
    {"kind": "cuda", "max_threads_per_block": _MOST, "num_cores": 1, "host": _WINDOWS},
    *({"kind": "cuda", "model": name} for name in _ODD_NAMES),
    {"kind": "rocm", "target_id": "gfx90a:sramecc+:xnack-", "host": _PLAIN},
    {"kind": "rocm", "target_id": "gfx1100", "warp_size": 64, "cumode": True},
    {"kind": "rocm", "target_id": "gfx9-4-generic", "generic_version": 1, "code_object_version": 6},
    {"kind": "metal", "os": "ios-simulator", "deployment_target": "17", "host": _MACOS},
    {"kind": "metal", "language_version": "3.1", "gpu_family": "apple9", "host": _MACOS},
    {"kind": "vulkan", "api_version": "1.3", "capabilities": ["Int8", "Float16"], "device_type": "cpu"},
    {"kind": "vulkan", "max_push_constants_bytes": _MOST, "device": "adreno", "model": "Adreno (TM) 740"},
    {"kind": "opencl", "opencl_version": "3", "extensions": ["__opencl_c_subgroups", "cl_khr_fp16"]},
    {"kind": "opencl", "device": _ODD_NAMES[0], "model": _ODD_NAMES[2]},
    {"kind": "webgpu", "extensions": ["shader-f16"], "max_storage_buffers": 8},
    {"kind": "hexagon", "version": "v67t"},
    {"kind": "hexagon", "version": "v73", "hvx_bytes": 128, "hvx_version": "v68", "vtcm_bytes": _MOST},
    # A host that is no cpu.
    {"kind": "hexagon", "version": "v68", "host": {"kind": "hexagon", "version": "v68"}},
    *({"kind": kind} for kind in ("cuda", "rocm", "metal", "vulkan", "opencl", "webgpu", "hexagon")),
)
_H100: dict[str, Any] = {"kind": "cuda", "arch": "sm_90a"}
_COMPOSITES: tuple[dict[str, Any], ...] = (
    {"kind": "composite", "members": [_H100]},
    {"kind": "composite", "members": [_H100, _H100]},
    {"kind": "composite", "members": [_H100, _PLAIN]},
    {"kind": "composite", "members": [_PLAIN, _H100]},
    # Equal hosts of members are the composite's.
    {"kind": "composite", "members": [{**_H100, "host": _PLAIN}, {"kind": "rocm", "host": _PLAIN}]},
    {"kind": "composite", "members": [_H100, {"kind": "opencl", "host": _PLAIN}], "host": _PLAIN},
    {"kind": "composite", "members": [{**_H100, "libs": ["cudnn"]}, _CPUS[6]], "host": _CPUS[6]},
    {"kind": "composite", "members": [{"kind": "cuda", "model": name} for name in _ODD_NAMES]},
)


@functools.cache
def tricky_targets(kind: str = "", *, other_tables: bool = False) -> tuple[Any, ...]:
    """Return the pool in a fixed order; of one kind where given, which the pool may lack.

    With `other_tables` those are there whose features were closed with another version of the tables.
    """
    documents = (*_CPUS, *_DEVICES, *_COMPOSITES)
    return tuple(
        from_dict(document)
        for document in documents
        if kind in ("", document["kind"]) and (other_tables or "tables" not in repr(document))
    )


@functools.cache
def tricky_hosts(*, other_tables: bool = False) -> tuple[Target, ...]:
    """Return those of the pool that can be a host, without the hosts that they have."""
    pool = tricky_targets(other_tables=other_tables)
    return tuple(target.without_host() for target in pool if target.host_capable)
