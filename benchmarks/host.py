"""Detection of this machine, nothing cached, beside archspec: the limit is 1 ms, modules and tables loaded.

python benchmarks/host.py
"""

from __future__ import annotations

from _side_by_side import medians, peer, show

import targetspec

LIMIT_US = 1000.0


def main() -> None:
    """Time both in turns."""
    calls = {"targetspec detect_host()": targetspec.detect_host}
    archspec = peer("archspec.cpu")
    if archspec is not None:
        calls["archspec host()"] = getattr(archspec.host, "__wrapped__", archspec.host)
    times = medians(calls)
    show("the machine", times, (1.0, "archspec host()"))
    within = times["targetspec detect_host()"] <= LIMIT_US
    print(f"  {'within' if within else 'NOT within'} {LIMIT_US:g} us")


if __name__ == "__main__":
    main()
