"""How each family's table is made: which questions give the sets of its CPUs and the closure of its features."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import aarch64_table
import plain_table
import x86_table
from table_patches import Patches

Table = tuple[dict[str, Any], dict[str, str]]

BUILDERS: dict[str, Callable[[Patches], Table]] = {
    "aarch64": aarch64_table.build,
    **dict.fromkeys(plain_table.PLANS, plain_table.build),
    "x86": x86_table.build,
}
