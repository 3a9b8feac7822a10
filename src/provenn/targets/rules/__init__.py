"""The rules for rewriting plans, each in a separate module, in order of application."""

from provenn.targets.rules.continue_groups import continue_groups
from provenn.targets.rules.continue_match import continue_match
from provenn.targets.rules.disjoint_members import disjoint_members
from provenn.targets.rules.empty_branches import empty_branches
from provenn.targets.rules.irrelevant_files import irrelevant_files
from provenn.targets.rules.irrelevant_members import irrelevant_members
from provenn.targets.rules.limit_calculators import limit_calculators
from provenn.targets.rules.limit_groups import limit_groups
from provenn.targets.rules.limit_partners import limit_partners
from provenn.targets.rules.look_up_last import look_up_last
from provenn.targets.rules.redundant_members import redundant_members
from provenn.targets.rules.redundant_partners import redundant_partners
from provenn.targets.rules.reuse_groups import reuse_groups
from provenn.targets.rules.reuse_part import reuse_part
from provenn.targets.rules.reuse_whole import reuse_whole
from provenn.targets.rules.rule import Rewrite, Rule
from provenn.targets.rules.same_rows import same_rows
from provenn.targets.rules.select_early import select_early
from provenn.targets.rules.shared_parts import shared_parts
from provenn.targets.rules.unneeded_attributes import unneeded_attributes

__all__ = ["READING_RULES", "RULES", "Rewrite", "Rule"]

RULES: tuple[Rule, ...] = (
    empty_branches,
    unneeded_attributes,
    redundant_members,
    redundant_partners,
    same_rows,
    reuse_whole,
    reuse_groups,
    continue_match,
    continue_groups,
    irrelevant_members,
    disjoint_members,
    limit_calculators,
    look_up_last,
    limit_partners,
    select_early,
    limit_groups,
    reuse_part,
)

READING_RULES: tuple[Rule, ...] = (irrelevant_files, shared_parts)
"""The rules that choose what is read. They come last: other rules recognise the same rows by their base catalog."""
