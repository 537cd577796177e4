"""Mutants of the relation that no test can kill, each with the reason: the change makes no difference that shows."""

from __future__ import annotations

_SYMMETRIC = "the decision is the same with its sides exchanged"
_SPEED = "what is left out is asked all the same, with the same answer: it is only slower"
_SHORTER = "the other sequence ends at the third part, and so does the comparison"
_NO_SUCH_NO = "only a no is mended, and there is none without both sets; sets of two families have no union"
_DOUBT = "of the rule of a caution any answer but yes is a caution"

EXPLAINED: dict[str, str] = {
    "rules.py:equal: need: Any, have: Any => have: Any, need: Any": _SYMMETRIC,
    "rules.py:subset: lambda built_for, run_on: (name, view(run_on) | view(built_for)) => "
    "(lambda run_on, built_for: (name, view(run_on) | view(built_for)))": _SYMMETRIC,
    "rules.py:both_ways: need: Any, have: Any => have: Any, need: Any": _SYMMETRIC,
    "compatibility.py:judge_plainly: needs.most is not here.most and needs.most != here.most => "
    "(needs.most is not here.most or needs.most != here.most)": _SPEED,
    "compatibility.py:_judge_of: built_for: Any, run_on: Any => run_on: Any, built_for: Any": _SYMMETRIC,
    "kinds/cpu_arch.py:_same_arch: 3 => 4": _SHORTER,
    "kinds/cpu_arch.py:_same_arch: 3 => 4 #2": _SHORTER,
    "kinds/cpu_rules.py:_same_system: need: Any, have: Any => have: Any, need: Any": _SYMMETRIC,
    "kinds/cpu_rules.py:FEATURES: True => False": _SPEED,
    "kinds/cpu_rules.py:FEATURES: Rule(...) without apart": _SPEED,
    "kinds/cpu_bridges.py:_is_emulated_by_qemu: need: Triple, have: Triple => have: Triple, need: Triple": _SYMMETRIC,
    "kinds/cpu_optional.py:_decide: need: frozenset[str], have: frozenset[str] => "
    "have: frozenset[str], need: frozenset[str]": _SYMMETRIC,
    "kinds/cpu_optional.py:_decide: \"unknown\" => 'no'": _DOUBT,
    "kinds/composite.py:_MEMBER_DOUBT: \"unknown\" => 'no'": _DOUBT,
    "kinds/cpu_rules.py:_linkable: need: tuple[Triple | None, str | None], have: tuple[Triple | None, str | None] => "
    "have: tuple[Triple | None, str | None], need: tuple[Triple | None, str | None]": _SYMMETRIC,
    "compatibility.py:_rules: rule.caution is not None and need is not None => "
    "(rule.caution is not None or need is not None)": _SPEED,
    "compatibility.py:stance: rule.caution is not None and demand is not None => "
    "(rule.caution is not None or demand is not None)": _SPEED,
    "kinds/cpu_rules.py:_mended: need is None or have is None or need.family != have.family => "
    "(need is None and have is None and (need.family != have.family))": _NO_SUCH_NO,
}
