"""AMD GPUs: processors, target ids, and which code serves which of them (LLVM's AMDGPUUsage, "Target ID")."""

from __future__ import annotations

import re
from typing import Self

import attrs

from targetspec.errors import FieldError, FieldTypeError, UnknownNameError, nearest

# What each generic processor's code runs on.
GENERIC: dict[str, tuple[str, ...]] = {
    "gfx9-generic": ("gfx900", "gfx902", "gfx904", "gfx906", "gfx909", "gfx90c"),
    "gfx9-4-generic": ("gfx940", "gfx941", "gfx942", "gfx950"),
    "gfx10-1-generic": ("gfx1010", "gfx1011", "gfx1012", "gfx1013"),
    "gfx10-3-generic": ("gfx1030", "gfx1031", "gfx1032", "gfx1033", "gfx1034", "gfx1035", "gfx1036"),
    "gfx11-generic": (
        "gfx1100",
        "gfx1101",
        "gfx1102",
        "gfx1103",
        "gfx1150",
        "gfx1151",
        "gfx1152",
        "gfx1153",
    ),
    "gfx12-generic": ("gfx1200", "gfx1201"),
}
_OTHERS = (
    *("gfx600", "gfx601", "gfx602", "gfx700", "gfx701", "gfx702", "gfx703", "gfx704", "gfx705"),
    *("gfx801", "gfx802", "gfx803", "gfx805", "gfx810", "gfx908", "gfx90a", "gfx1250", "gfx1251"),
)
PROCESSORS = (*GENERIC, *(name for names in GENERIC.values() for name in names), *_OTHERS)
ALIASES = {
    "bonaire": "gfx704",
    "carrizo": "gfx801",
    "fiji": "gfx803",
    "hainan": "gfx602",
    "hawaii": "gfx701",
    "iceland": "gfx802",
    "kabini": "gfx703",
    "kaveri": "gfx700",
    "mullins": "gfx703",
    "oland": "gfx602",
    "pitcairn": "gfx601",
    "polaris10": "gfx803",
    "polaris11": "gfx803",
    "stoney": "gfx810",
    "tahiti": "gfx600",
    "tonga": "gfx802",
    "tongapro": "gfx805",
    "verde": "gfx601",
}
_SRAMECC = frozenset({"gfx906", "gfx908", "gfx90a", "gfx9-4-generic", *GENERIC["gfx9-4-generic"]})
# gfx1250 has xnack as well, always on: there is nothing to state.
_XNACK = frozenset(
    {"gfx801", "gfx810", "gfx908", "gfx90a"}
    | {generic for generic in GENERIC if generic.startswith(("gfx9-", "gfx10-1-"))}
    | {name for generic in ("gfx9-generic", "gfx9-4-generic", "gfx10-1-generic") for name in GENERIC[generic]}
)
_SETTINGS = {"sramecc": _SRAMECC, "xnack": _XNACK}
_TEXT = re.compile(r"(?P<processor>[a-z0-9-]+)(?P<settings>(?::[a-z]+[+-])*)")
_GCN = ("gfx6", "gfx7", "gfx8", "gfx9")


@attrs.frozen
class TargetId:
    """A processor of AMD with the settings that its code is built for; a setting that is None is any.

    Raises UnknownNameError for a processor that LLVM does not have, FieldError for a setting that it lacks.

    >>> str(TargetId.parse("gfx90a:xnack-:sramecc+"))
    'gfx90a:sramecc+:xnack-'
    """

    processor: str
    sramecc: bool | None = None
    xnack: bool | None = None

    def __attrs_post_init__(self) -> None:
        if type(self.processor) is not str:
            raise FieldTypeError("rocm", "target_id", self.processor, "must name a processor, a str")
        if self.processor not in PROCESSORS:
            raise UnknownNameError("AMD processor", self.processor, _near(self.processor))
        for name, having in _SETTINGS.items():
            setting = getattr(self, name)
            if setting is not None and type(setting) is not bool:
                raise FieldError(
                    "rocm", "target_id", repr(setting)[:80], f"{name} must be True, False or None"
                )
            if setting is not None and self.processor not in having:
                hint = f"leave {name} out" if self.settings else "it takes no settings"
                raise FieldError("rocm", "target_id", name, f"{self.processor} has no setting {name}", hint)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the target id of a text: a processor or its alias, and settings in any order, each once."""
        found = _TEXT.fullmatch(text)
        if found is None:
            if not text.startswith("gfx") or ":" not in text:
                raise UnknownNameError("AMD processor", text[:80], _near(text))
            raise _bad(text, "must be a processor and settings, such as gfx90a:sramecc+:xnack-")
        settings: dict[str, bool] = {}
        for part in found["settings"].split(":")[1:]:
            if part[:-1] not in _SETTINGS:
                raise _bad(text, f"there is no setting {part[:-1]!r}", "the settings are sramecc and xnack")
            if part[:-1] in settings:
                raise _bad(text, f"{part[:-1]} is stated twice", "state it once")
            settings[part[:-1]] = part[-1] == "+"
        processor = ALIASES.get(found["processor"], found["processor"])
        return cls(processor, **settings)

    @property
    def settings(self) -> tuple[str, ...]:
        """The settings that the processor has a choice of."""
        return tuple(name for name, having in _SETTINGS.items() if self.processor in having)

    @property
    def is_gcn(self) -> bool:
        """Whether it is of the line before gfx10: wavefronts of 64, and no choice of the work-group mode."""
        return self.processor.startswith(_GCN)

    def __str__(self) -> str:
        stated = [(name, getattr(self, name)) for name in _SETTINGS]
        return self.processor + "".join(
            f":{name}{'+' if on else '-'}" for name, on in stated if on is not None
        )


def _bad(text: str, message: str, hint: str = "") -> FieldError:
    return FieldError("rocm", "target_id", text[:80], message, hint)


def _near(name: str) -> tuple[str, ...]:
    return nearest(name.lower(), [*PROCESSORS, *ALIASES]) or tuple(sorted(GENERIC))


def covers(code: str, device: str) -> bool:
    """Say whether code for one processor is for another: the same one, or one of its generic processor's."""
    return code == device or device in GENERIC.get(code, ())
