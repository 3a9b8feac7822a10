"""The steps of a plan: each step reads or transforms rows."""

from provenn.targets.steps.reading_steps import FragmentScan, Nothing, Scan
from provenn.targets.steps.row_steps import Calculate, Derive, Fill, Select, find_condition_attributes
from provenn.targets.steps.set_steps import Combine, Concat, Exclude, Restrict
from provenn.targets.steps.step import Attributes, PlanStep, find_key, is_key, walk_steps

__all__ = [
    "Attributes",
    "Calculate",
    "Combine",
    "Concat",
    "Derive",
    "Exclude",
    "Fill",
    "FragmentScan",
    "Nothing",
    "PlanStep",
    "Restrict",
    "Scan",
    "Select",
    "find_condition_attributes",
    "find_key",
    "is_key",
    "walk_steps",
]
