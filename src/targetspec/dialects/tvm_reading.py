"""From what is stated of a TVM target to a target of ours, and to what is left over.

A leftover is a word of the string form: the backend where it is not the usual one of our kind (`c`), every option, as
it came, and of an attribute that says more than a field holds, the rest (`-mattr=-hvx-ieee-fp`). Those of a host are
in one word, `-host='-opt-level=0'`, and those of a composite's devices in another.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from typing import Any

import attrs

from targetspec import registry
from targetspec.cpu import canonical_feature
from targetspec.dialects.tvm_config import Config, Stated, attribute_of, shown
from targetspec.dialects.tvm_cpu import read_cpu
from targetspec.dialects.tvm_names import KINDS, Attribute
from targetspec.dialects.tvm_options import check_options
from targetspec.dialects.tvm_text import attribute_word, quoted
from targetspec.dialects.words import Source, Word
from targetspec.target import Target

Read = tuple[Target, tuple[str, ...]]
USUAL = {"cpu": "llvm", "cuda": "cuda"}
"""TVM's usual backend of those of our kinds that have several."""

_CUDA_ARCH = re.compile(r"sm_[0-9]{2,3}[a-z]?")
_ROCM_TRIPLE = re.compile(r"amdgcn-(?:amd|unknown)?-(amdhsa|amdpal|mesa3d)(?:-[a-z]*)?")
_SIGNED = re.compile(r"[+-][A-Za-z0-9_.-]+")
_HVX = re.compile(r"\+hvxv([0-9]+t?)")
_HVX_BYTES = {"+hvx-length64b": 64, "+hvx-length128b": 128}
_AMD_SETTINGS = ("xnack", "sramecc")
# What TVM's schedules of AMD's GPUs look for, and LLVM has no feature of: that the device can `dp4a`.
_OWN_MARKS = {"amdgpu": ("dotprod",)}
_WAVEFRONTS = {"+wavefrontsize32": 32, "+wavefrontsize64": 64}


@attrs.define
class Taking:
    """What has been taken of a config: fields, where each was stated, and the leftovers."""

    source: Source
    kind: str
    fields: dict[str, Any] = attrs.Factory(dict)
    places: dict[str, Word] = attrs.Factory(dict)
    leftovers: list[str] = attrs.Factory(list)

    def put(self, field: str, value: Any, word: Word) -> None:
        """Take a field's value; an error where another one is there already."""
        if self.fields.setdefault(field, value) != value:
            raise self.source.fault(word, f"{field} is stated twice, and the two differ", "state it once")
        self.places[field] = word

    def add(self, field: str, names: tuple[str, ...], word: Word) -> None:
        """Take names into a field that is a set."""
        self.fields[field] = self.fields.get(field, frozenset()) | frozenset(names)
        self.places.setdefault(field, word)

    def leave(self, name: str, stated: Stated) -> None:
        """Leave an attribute over, as it came."""
        self.leftovers.extend(stated.said or (attribute_word(name, stated.value),))


def read_config(config: Config) -> Read:
    """Return the target of a config, and the leftovers; raise TargetSyntaxError."""
    return _read(config, "")


def _read(config: Config, place: str) -> Read:
    ours = KINDS[config.kind.text]
    if place:
        _check_place(config, ours, place)
    taking = Taking(config.source, config.kind.text)
    if config.kind.text != USUAL.get(ours, ours) and ours != "composite":
        taking.leftovers.append(config.kind.text)
    if "cl-opt" in config.stated:
        check_options(config)
    for name, stated in config.stated.items():
        attribute = attribute_of(config.kind.text, name)
        _TAKERS[attribute.reads](taking, name, attribute, stated)
    changes = config.stated.get("mattr")
    if ours == "cpu":
        return read_cpu(config.source, taking.fields, taking.places, taking.leftovers), tuple(
            taking.leftovers
        )
    if changes is not None and ours in _CHANGES:
        _CHANGES[ours](taking, changes)
    cls = registry.kind(ours)
    target = config.source.reading(taking.places, lambda: cls(**taking.fields))
    return target, tuple(taking.leftovers)


def _check_place(config: Config, ours: str, place: str) -> None:
    """Refuse what cannot stand within another target, before anything of it is read."""
    if ours == "composite":
        raise config.source.fault(config.kind, "composites do not nest, and are no hosts")
    if place == "host" and "host" in config.stated:
        raise config.source.fault(config.stated["host"].word, "a host has no host itself")
    if place == "host" and not registry.kind(ours).host_capable:
        hint = "a host runs the program around the device: state its CPU"
        raise config.source.fault(config.kind, f"a {ours} target cannot be a host", hint)


# -- one attribute ------------------------------------------------------------------------------------


def _take_field(taking: Taking, name: str, attribute: Attribute, stated: Stated) -> None:
    settle = SETTLED.get(attribute.field)
    value = settle(taking.source, name, stated) if settle else stated.value
    taking.put(attribute.field, value, stated.word)


def _cuda_arch(source: Source, name: str, stated: Stated) -> str:
    if not _CUDA_ARCH.fullmatch(stated.value):
        raise source.fault(stated.word, f"{name} must be like sm_80, got {shown(stated.value)}")
    return str(stated.value)


def _rocm_system(source: Source, name: str, stated: Stated) -> str:
    found = _ROCM_TRIPLE.fullmatch(stated.value)
    if found is None:
        message = f"{name} {shown(stated.value)} is no triple of this kind"
        raise source.fault(stated.word, message, "TVM has amdgcn-amd-amdhsa-hcc")
    return found[1]


def _float_abi(source: Source, name: str, stated: Stated) -> str:
    if stated.value not in ("soft", "hard"):
        raise source.fault(stated.word, f"{name} must be soft or hard, got {shown(stated.value)}")
    return str(stated.value)


SETTLED: Mapping[str, Callable[[Source, str, Stated], str]] = {
    "arch": _cuda_arch,
    "os": _rocm_system,
    "float_abi": _float_abi,
}
"""The fields of which TVM's texts are fewer, or others, than ours."""


def _take_names(taking: Taking, name: str, attribute: Attribute, stated: Stated) -> None:
    if not stated.value:
        taking.leave(name, stated)
    taking.add(attribute.field, tuple(stated.value), stated.word)


def _take_flag(taking: Taking, name: str, attribute: Attribute, stated: Stated) -> None:
    """Take what a flag stands for; that a device lacks it is what not stating it means, and so a leftover."""
    if stated.value:
        taking.add(attribute.field, attribute.adds, stated.word)
    else:
        taking.leave(name, stated)


def _take_mask(taking: Taking, name: str, attribute: Attribute, stated: Stated) -> None:
    bits = stated.value
    names = tuple(one for at, one in enumerate(attribute.adds) if bits >> at & 1)
    known = sum(1 << at for at, one in enumerate(attribute.adds) if one)
    if bits < 0 or bits & ~known:
        raise taking.source.fault(stated.word, f"{name} has bits without a meaning, got {bits}")
    if names:
        taking.add(attribute.field, names, stated.word)
    else:
        taking.leave(name, stated)


def _take_version(taking: Taking, name: str, attribute: Attribute, stated: Stated) -> None:
    number = stated.value
    vulkan = attribute.reads == "vulkan-version"
    parts = (
        (number >> 22, number >> 12 & 0x3FF, number & 0xFFF) if vulkan else (number >> 16, number >> 8 & 0xFF)
    )
    if not 0 < number < 1 << (29 if vulkan else 24) or (not vulkan and number & 0xFF):
        raise taking.source.fault(stated.word, f"{name} is no version, got {number}")
    taking.put(attribute.field, ".".join(map(str, parts)), stated.word)


def _take_said(taking: Taking, name: str, attribute: Attribute, stated: Stated) -> None:
    if str(stated.value) not in attribute.adds:
        message = f"{name} can only be {attribute.adds[0]}, got {shown(stated.value)}"
        raise taking.source.fault(stated.word, message, attribute.reason)
    taking.leave(name, stated)


def _take_option(taking: Taking, name: str, attribute: Attribute, stated: Stated) -> None:  # noqa: ARG001 - a taker's
    taking.leave(name, stated)


def _take_later(taking: Taking, name: str, attribute: Attribute, stated: Stated) -> None:  # noqa: ARG001 - a taker's
    """Note where the changes stand that the other attributes give a meaning to."""
    if KINDS[taking.kind] == "cpu":
        taking.fields["mattr"] = stated
        taking.places["mattr"] = stated.word


def _take_host(taking: Taking, name: str, attribute: Attribute, stated: Stated) -> None:  # noqa: ARG001 - a taker's
    target, leftovers = _within(taking.source, stated.value, stated.word, "host")
    taking.put("host", target, stated.word)
    if leftovers:
        taking.leftovers.append(f"-{name}={quoted(' '.join(leftovers))}")


def _take_members(taking: Taking, name: str, attribute: Attribute, stated: Stated) -> None:
    read = [_within(taking.source, config, stated.word, "member") for config in stated.value]
    taking.put(attribute.field, tuple(target for target, _ in read), stated.word)
    if any(leftovers for _, leftovers in read):
        taking.leftovers.append(attribute_word(name, [" ".join(leftovers) for _, leftovers in read]))


def _within(source: Source, config: Config, word: Word, place: str) -> Read:
    """Read a target within a target; what is wrong with it is told at its place in the whole."""
    inner = config.source.text
    at = max(0, word.text.find(inner))
    found: Read = source.reading({place: Word(inner, word.start + at)}, lambda: _read(config, place))
    return found


_TAKERS: Mapping[str, Callable[[Taking, str, Attribute, Stated], None]] = {
    "number": _take_field,
    "text": _take_field,
    "names": _take_names,
    "changes": _take_later,
    "flag": _take_flag,
    "mask": _take_mask,
    "vulkan-version": _take_version,
    "spirv-version": _take_version,
    "target": _take_host,
    "targets": _take_members,
    "said": _take_said,
    "option": _take_option,
}


# -- mattr of devices ---------------------------------------------------------------------------------


def _change_hexagon(taking: Taking, stated: Stated) -> None:
    """Take what the vector unit has; what it lacks is what not stating it means, and so is left over."""
    items = _checked_items(taking.source, "hexagon", stated)
    has_length = any(item in _HVX_BYTES for item in items)
    rest = []
    for item in items:
        version = _HVX.fullmatch(item)
        if item in _HVX_BYTES:
            taking.put("hvx_bytes", _HVX_BYTES[item], stated.word)
        elif version and has_length:
            taking.put("hvx_version", f"v{version[1]}", stated.word)
        elif item[0] == "+" and not item.startswith("+hvxv") and item != "+hvx":
            taking.add("extensions", (item[1:],), stated.word)
        else:
            rest.append(item)
    _leave_items(taking, rest)


def _change_rocm(taking: Taking, stated: Stated) -> None:
    rest = []
    for item in _checked_items(taking.source, "amdgpu", stated):
        name, on = item[1:], item[0] == "+"
        if name in _AMD_SETTINGS and "target_id" in taking.fields:
            setting = f":{name}{item[0]}"
            if setting not in taking.fields["target_id"]:
                taking.fields["target_id"] += setting
        elif name == "cumode":
            taking.put("cumode", on, stated.word)
        elif item in _WAVEFRONTS:
            taking.put("warp_size", _WAVEFRONTS[item], stated.word)
        else:
            rest.append(item)
    _leave_items(taking, rest)


_CHANGES: Mapping[str, Callable[[Taking, Stated], None]] = {
    "hexagon": _change_hexagon,
    "rocm": _change_rocm,
}


def _checked_items(source: Source, family: str, stated: Stated) -> tuple[str, ...]:
    for item in stated.value:
        if not _SIGNED.fullmatch(item):
            raise source.fault(stated.word, f"a feature of mattr is +name or -name, got {shown(item)}")
        if not _HVX.fullmatch(item) and item[1:] not in _OWN_MARKS.get(family, ()):
            source.reading({"mattr": stated.word}, functools.partial(canonical_feature, family, item[1:]))
    return tuple(dict.fromkeys(stated.value))


def _leave_items(taking: Taking, items: list[str]) -> None:
    if items:
        taking.leftovers.append(attribute_word("mattr", items))
