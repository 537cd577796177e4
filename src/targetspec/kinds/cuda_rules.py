"""The rule of the relation for CUDA: architecture, form of the code and PTX ISA, which decide together."""

from __future__ import annotations

from typing import Any, NamedTuple

from targetspec.gpu_cuda import CudaArch, cubin_runs, isa_key, promised_isa, ptx_runs, replaces
from targetspec.rules import Answer, Rule, lifting, worst

_ANSWER: dict[bool | None, Answer] = {True: "yes", False: "no", None: "unknown"}


class CudaView(NamedTuple):
    """What the rule sees of a target."""

    arch: CudaArch | None
    code_form: str | None
    ptx_isa: tuple[int, ...] | None


def _view(target: Any) -> CudaView:
    isa = isa_key(target.ptx_isa) if target.ptx_isa is not None else None
    return CudaView(target.arch, target.code_form, isa)


def decide(need: CudaView, have: CudaView) -> Answer:
    """Judge code on a device (which states no form), or code beside other code of its form."""
    if have.code_form is not None:
        return _beside(need, have)
    ptx, cubin = _ptx(need, have), _on(cubin_runs, need, have)
    if need.code_form == "lto":
        return "unknown"
    if need.code_form == "fat":
        return "yes" if "yes" in (ptx, cubin) else ptx if ptx == cubin else "unknown"
    if need.code_form is None:
        return ptx if ptx == cubin else "unknown"
    return ptx if need.code_form == "ptx" else cubin


def _on(runs: Any, need: CudaView, have: CudaView) -> Answer:
    if need.arch is None or have.arch is None:
        return "yes" if need.arch is have.arch else "unknown"
    return _ANSWER[runs(need.arch, have.arch)]


def _ptx(need: CudaView, have: CudaView) -> Answer:
    return worst((_on(ptx_runs, need, have), _isa(need.ptx_isa, have)))


def _isa(need: tuple[int, ...] | None, have: CudaView) -> Answer:
    """Judge the PTX ISA: a driver promises at least the one with which its device appeared."""
    implied = promised_isa(have.arch) if have.arch is not None and have.code_form is None else None
    if need is None or need <= max(have.ptx_isa or (), implied or ()):
        return "yes"
    return "unknown" if have.ptx_isa is None else "no"


def _beside(need: CudaView, have: CudaView) -> Answer:
    if need.code_form != have.code_form:
        return "unknown" if need.code_form is None else "no"
    if need.arch is None or have.arch is None:
        parts: list[Answer] = ["yes" if need.arch is have.arch else "unknown"]
    elif need.code_form == "lto":
        parts = ["yes" if need.arch == have.arch else "unknown"]
    else:
        forms = ("ptx", "cubin") if need.code_form == "fat" else (need.code_form,)
        parts = [_ANSWER[replaces(need.arch, have.arch, form)] for form in forms]
    return worst(parts if need.code_form == "cubin" else [*parts, _isa(need.ptx_isa, have)])


def _say(need: CudaView, have: CudaView) -> tuple[str, str]:
    return _written(need, "code"), _written(have, "a device")


def _written(view: CudaView, otherwise: str) -> str:
    isa = f" with PTX ISA {'.'.join(map(str, view.ptx_isa))}" if view.ptx_isa else ""
    return f"{view.code_form or otherwise} for {view.arch or 'no stated architecture'}{isa}"


def _advice(need: CudaView, have: CudaView) -> str:
    """Name the facts that are missing, of the code or of what runs it."""
    if need.arch is None or have.arch is None:
        return "state arch on both sides"
    if need.code_form == "lto":
        return "state the code that the linker makes of it"
    if need.code_form is None and (have.code_form or _ptx(need, have) != _on(cubin_runs, need, have)):
        return "state code_form of the code, ptx or cubin"
    facts = []
    if _on(ptx_runs, need, have) == "unknown":
        facts.append(f"the most specific arch of the device, sm_{have.arch.number}a")
    if _isa(need.ptx_isa, have) != "yes":
        facts.append("ptx_isa of the device, the newest that its driver takes")
    return f"state {', and '.join(facts)}"


def _repair(built_for: Any, run_on: Any) -> tuple[str, Any] | None:
    need = _view(built_for)
    taken = ((name, getattr(built_for, name)) for name in ("code_form", "ptx_isa"))
    return lifting(run_on, taken, lambda mended: decide(need, _view(mended)))


ARCH = Rule(
    label="arch",
    statement="later devices run PTX, those of its generation machine code; `f` is for a family, `a` for one device",
    source="ptxas 13.5; CUDA C++ Programming Guide, binary and PTX compatibility",
    decide=decide,
    demand=_view,
    promise=_view,
    say=_say,
    repair=_repair,
    advice=_advice,
)
