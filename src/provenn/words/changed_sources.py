"""How the sources of a catalog change with its definition, proved and in words: wider, narrower, equal, unrelated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from provenn.criteria import Criterion, abridged, describe_difference, parse_criterion
from provenn.errors import CriterionError
from provenn.logic import Statement, equal, subset
from provenn.logic.terms import Term, nothing, term

if TYPE_CHECKING:
    from provenn.catalogs import Catalog

__all__ = ["ChangedFiles", "ChangedSources", "compare_sources"]

Direction = Literal["equal", "wider", "narrower", "shifted", "unrelated"]


@dataclass(frozen=True, slots=True)
class ChangedSources:
    """How the sources of a new definition of a catalog differ from those of the earlier one, as far as it is proved.

    Attributes
    ----------
    direction
        ``"equal"``; ``"wider"``, if all earlier sources are among the new ones; ``"narrower"``, the reverse;
        ``"shifted"``, if it is known which may come and which may go; ``"unrelated"``, if nothing of this is proved.
    gained, lost
        The sources that come and those that go, in words; empty if there are none, or if no words are known for them.
    """

    direction: Direction
    gained: str = ""
    lost: str = ""

    def __str__(self) -> str:
        if self.direction == "equal":
            return "the same sources"
        if self.direction == "unrelated":
            return "unrelated: no relation to the earlier sources is proved"
        parts = [f"+ {self.gained}"] * bool(self.gained) + [f"- {self.lost}"] * bool(self.lost)
        return f"{self.direction}: {', '.join(parts)}" if parts else self.direction


@dataclass(frozen=True, slots=True)
class ChangedFiles:
    """The sources of the files that came with a new version of a base catalog, and of those that went, as sets."""

    came: Term = nothing
    went: Term = nothing


def compare_sources(
    old: Catalog, new: Catalog, is_proved: Callable[[Statement], bool], files: ChangedFiles | None = None
) -> ChangedSources:
    """Return how the sources of a new definition differ from those of the earlier definition.

    Parameters
    ----------
    old, new
        The definitions.
    is_proved
        Returns whether a statement about the digests of catalogs is proved.
    files
        The files that came and went, if the catalogs differ in the version of a base catalog.
    """
    before, after = term(old.digest), term(new.digest)
    if old.extent.digest == new.extent.digest or is_proved(equal(before, after)):
        return ChangedSources("equal")
    is_wider, is_narrower = is_proved(subset(before, after)), is_proved(subset(after, before))
    gained, lost = _find_words(new, old), _find_words(old, new)
    if files is not None:
        gained = gained or _find_file_words(after - before, files.came, is_proved, "those of the new files")
        lost = lost or _find_file_words(before - after, files.went, is_proved, "those of the files that are gone")
    if is_wider or is_narrower:
        return ChangedSources("wider", gained) if is_wider else ChangedSources("narrower", lost=lost)
    return ChangedSources("shifted", gained, lost) if gained and lost else ChangedSources("unrelated")


def _find_words(more: Catalog, less: Catalog) -> str:
    """Return the sources that one definition selects and another does not, if both select from the same sources."""
    (root, criteria), (other_root, others) = _list_criteria(more), _list_criteria(less)
    if root.extent.digest != other_root.extent.digest:
        return ""
    if not criteria and not others:
        return ""
    return f"the sources with {abridged(describe_difference(criteria, others))}"


def _list_criteria(catalog: Catalog) -> tuple[Catalog, list[Criterion]]:
    """Return the criteria by which a catalog selects, and the catalog from which all of them select.

    Sound: a step is passed only if the catalog has the sources of its parent, or those of them for which a criterion is
    TRUE. So the catalog has exactly the sources of the returned one for which all criteria are TRUE.
    """
    criteria: list[Criterion] = []
    while len(catalog.dependencies) == 1:
        (parent,) = catalog.dependencies
        if parent.extent.digest != catalog.extent.digest:
            condition = catalog.find_condition()
            criterion = None if condition is None else _parse(condition.text, parent)
            if condition is None or criterion is None or criterion.canonical != condition.criterion:
                break
            criteria.append(criterion)
        catalog = parent
    return catalog, criteria


def _parse(text: str, parent: Catalog) -> Criterion | None:
    try:
        return parse_criterion(text, parent.schema)
    except CriterionError:  # an earlier version of the program accepted the criterion
        return None


def _find_file_words(difference: Term, files: Term, is_proved: Callable[[Statement], bool], words: str) -> str:
    """Return the words for the sources of some files, if it is proved that a difference has no others."""
    return words if files != nothing and is_proved(subset(difference, files)) else ""
