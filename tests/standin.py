"""What records use of a target, until there are real ones."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import sys
import types
from typing import Any

import attrs

import targetspec


@attrs.frozen
class StandIn:
    """What records use of a target; `libc` cannot change timing, so it is no part of the tuning key."""

    cpu: str = "znver3"
    libc: int = 0
    host: StandIn | None = None

    def to_dict(self) -> dict[str, Any]:
        return {"cpu": self.cpu, "libc": self.libc, "host": self.host and self.host.to_dict()}

    @property
    def digest(self) -> str:
        return hashlib.sha256(json.dumps(self.to_dict()).encode()).hexdigest()

    @property
    def tuning_key(self) -> str:
        return hashlib.sha256(self.cpu.encode()).hexdigest()


def _from_dict(document: Any) -> StandIn:
    if "cpu" not in document:
        raise targetspec.errors.UnknownNameError("kind", str(document))
    host = document["host"]
    return StandIn(document["cpu"], document["libc"], host and _from_dict(host))


if importlib.util.find_spec("targetspec.interop") is None:
    sys.modules["targetspec.interop"] = types.SimpleNamespace(to_llvmlite=None)
if not hasattr(targetspec, "Target"):
    targetspec.Target = StandIn
    targetspec.from_dict = _from_dict
