"""The profile of a catalog class: properties of all its catalogs, whatever their parameters."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ClassProfile"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassProfile:
    """What a catalog class says of itself, to pictures, to exchanged files, and to the layers above.

    Parameters
    ----------
    word
        A short word for pictures: the verb of the handle that defines the class.
    shape
        The name of the outline in pictures: a key of `provenn.display.outlines.SHAPES`.
    verbs
        The verbs of the class in exchanged definitions; empty if `word` is the only verb.
    part_counts
        The numbers of catalogs from which a verb can define a catalog of the class.
    narrows
        Whether the sources are always some of the sources of the first dependency.
    makes_base_set
        Whether the sources are a new base set: not made from the sets of the dependencies.
    crosses_populations
        Whether the population may differ from the population of a dependency.
    pairs_sources
        Whether a row is a pair of sources of two catalogs.
    follows_reference
        Whether a definition says where a reference leads.
    describes_groups
        Whether its new attributes describe the sources of a population by what refers to them, whatever catalog has
        these sources.
    compares_groups
        Whether the sources depend on groups: which partners a set has, or which sources of a group are first.
    needs_proof
        Whether the archive may have to prove something about the dependencies before a catalog can be defined.
    joins_attributes
        Whether an attribute can be joined from attributes with different identities.
    """

    word: str
    shape: str
    verbs: tuple[str, ...] = ()
    part_counts: range = range(1, 2)
    narrows: bool = False
    makes_base_set: bool = False
    crosses_populations: bool = False
    pairs_sources: bool = False
    follows_reference: bool = False
    describes_groups: bool = False
    compares_groups: bool = False
    needs_proof: bool = False
    joins_attributes: bool = False

    @property
    def exchange_verbs(self) -> tuple[str, ...]:
        """The verbs of the class in exchanged definitions."""
        return self.verbs or (self.word,)
