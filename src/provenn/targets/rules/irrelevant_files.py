"""Rule: do not read files that have none of the selected sources."""

from __future__ import annotations

from functools import reduce
from operator import and_

from provenn.criteria import AttributeIdentity
from provenn.knowledge.file_relevance import find_irrelevant_files
from provenn.targets.listed_files import can_choose_files
from provenn.targets.rules.rule import Rewrite
from provenn.targets.scene import Scene
from provenn.targets.steps import Derive, Nothing, PlanStep, Scan, Select

__all__ = ["irrelevant_files"]


def irrelevant_files(step: PlanStep, needed: frozenset[AttributeIdentity], scene: Scene) -> Rewrite | None:  # noqa: ARG001 - a rule
    """Leave out the files of a base catalog in which the condition of a selection is TRUE for no row.

    Sound: each file states bounds that hold for all its rows, and they refute the condition
    (`provenn.knowledge.file_relevance`). So the selection drops every row of the files that are left out. Between the
    selection and the files, attributes are only derived, row by row. The step for the chosen files has a set of its
    own, so that nothing is concluded of it that holds for all files. If no file is left, the step without rows keeps
    the set of the selection: what all files state together may be too little to prove by sets that it is empty.

    Examples
    --------
    >>> from provenn.catalogs import verbs
    >>> from provenn.targets.rules.examples import NIGHTS, show_rewrite
    >>> show_rewrite(irrelevant_files, verbs.select(NIGHTS, "night = 2"))
    select(nights)
    -> select(1 of 3 files of nights)
    """
    path: list[PlanStep] = []
    inner = step
    while isinstance(inner, Select | Derive):
        path.append(inner)
        inner = inner.input
    if not isinstance(step, Select) or not isinstance(inner, Scan) or inner.chosen is not None:
        return None
    chosen = _choose_files(path, inner, scene)
    if chosen is None:
        return None
    if not chosen:
        return Rewrite(
            Nothing(step.attributes, step.sources), "by what the files say of themselves, none has such sources"
        )
    scan = Scan(inner.base, chosen)
    dropped = inner.file_count - scan.file_count
    smaller: PlanStep = scan
    for between in reversed(path):
        smaller = between.replace_inputs([smaller])
    rest = "the other file has" if dropped == 1 else f"the {dropped:,} other files have"
    return Rewrite(smaller, f"by what they say of themselves, {rest} no such sources")


def _choose_files(path: list[PlanStep], scan: Scan, scene: Scene) -> frozenset[str] | None:
    """Return the fingerprints of the files that may have selected sources; None if all may."""
    if not can_choose_files(scan.base):
        return None
    stated = scene.listed_files.describe(scan.base)
    if not stated:
        return None
    conditions = [between.condition for between in path if isinstance(between, Select)]
    labels = {label for condition in conditions for label in condition.labels}
    atoms = [atom for label, atom in scene.atoms.items() if label in labels]
    condition = reduce(and_, map(scene.build_term, conditions))
    prints = list(stated)
    irrelevant = find_irrelevant_files(condition, atoms, [stated[text] for text in prints], scene.find_attribute)
    if not irrelevant:
        return None
    refuted = {prints[place] for place in irrelevant}
    return frozenset(text for _, text in scan.base.files.fingerprints if text not in refuted)
