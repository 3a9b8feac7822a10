"""A random fraction of the sources of a catalog, the same one for everybody."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from provenn.catalogs.catalog import Catalog, Facts, Parameters
from provenn.catalogs.extent import Extent, leaf
from provenn.criteria import Atom
from provenn.errors import DefinitionError
from provenn.logic import Statement, equal, intersection, subset

__all__ = ["SampleSources", "sample_rule", "sample_seed_and_fraction"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SampleSources(Catalog):
    """The sources of `parent` whose key has a low hash.

    A source is in the sample if the lowest 63 bits of Spark's ``xxhash64(seed, key…)``, the seed as a bigint and the
    key in the types of the population, are less than `threshold`. So the samples of one population with one seed are
    nested, and a sample of a selection is the selection of the sample.

    Parameters
    ----------
    parent
        Where the sources come from.
    fraction
        How many of them, about: above 0, at most 1.
    seed
        Which sample; 64 bits.
    """

    parent: Catalog
    fraction: float
    seed: int

    @classmethod
    def of(cls, parent: Catalog, fraction: float, seed: int = 0) -> Self:
        """Take a sample.

        Raises
        ------
        DefinitionError
            If the fraction or the seed is out of range.
        """
        if isinstance(fraction, bool) or not isinstance(fraction, int | float) or not 2**-63 <= fraction <= 1:
            hint = "0.1 is one source in ten" if not _is_percentage(fraction) else f"did you mean {fraction / 100}?"
            raise DefinitionError(f"a fraction lies between 0 and 1, {fraction!r} does not", hint=hint)
        if isinstance(seed, bool) or not isinstance(seed, int) or not -(2**63) <= seed < 2**63:
            raise DefinitionError(f"a seed is an integer of 64 bits, {seed!r} is not")
        return cls(parent, float(fraction), seed)

    @property
    def dependencies(self) -> tuple[Catalog, ...]:
        """The parent."""
        return (self.parent,)

    @property
    def threshold(self) -> int:
        """What the lowest 63 bits of the hash are less than: at most 2**63."""
        return _threshold(self.fraction)

    def parameters(self) -> Parameters:
        """Fraction, seed, and the population whose keys are hashed."""
        return {"fraction": self.fraction, "seed": self.seed, "population": self.parent.population.name}

    @classmethod
    def restored(cls, parameters: Parameters, notes: Parameters, dependencies: Sequence[Catalog]) -> Self:  # noqa: ARG003
        """Return the catalog that has these parameters and dependencies."""
        (parent,) = dependencies
        return cls(parent, parameters["fraction"], parameters["seed"])

    @classmethod
    def facts_of(cls, digest: str, dependencies: Sequence[str], parameters: Parameters) -> Facts:
        """The parent, intersected with the set of all sources with a low hash."""
        (parent,) = dependencies
        if parameters["fraction"] == 1:
            return (equal(digest, parent),), ()
        atom = _atom(parameters)
        return (intersection(digest, parent, atom.label),), (atom,)

    @classmethod
    def local_statement(cls, digest: str, dependencies: Sequence[str]) -> Statement:
        """A subset."""
        (parent,) = dependencies
        return subset(digest, parent)

    def _own_extent(self) -> Extent:
        return self.parent.extent if self.fraction == 1 else self.parent.extent & leaf(_atom(self.parameters()).label)


def _atom(parameters: Parameters) -> Atom:
    # No criterion has such a term: sample() is not a function that criteria know.
    term = f"sample({parameters['seed']}, `{parameters['population'].replace('`', '``')}`)"
    return Atom(f"{term} < {parameters['fraction']!r}", term, _threshold(parameters["fraction"]), ())


def sample_rule(label: str) -> tuple[int, int] | None:
    """Return the seed and the threshold of the sample whose atom has a label, or None if it is of a criterion.

    >>> sample_rule("sample(7, `star`) < 0.5") == (7, 2**62)
    True
    """
    found = sample_seed_and_fraction(label)
    return None if found is None else (found[0], _threshold(found[1]))


def sample_seed_and_fraction(label: str) -> tuple[int, float] | None:
    """Return the seed and the fraction of the sample whose atom has a label, or None if it is of a criterion."""
    if not label.startswith("sample("):
        return None
    seed, fraction = label.removeprefix("sample(").partition(",")[0], label.rpartition("<")[2]
    return int(seed), float(fraction)


def _threshold(fraction: float) -> int:
    return math.floor(math.ldexp(fraction, 63))


def _is_percentage(fraction: object) -> bool:
    return isinstance(fraction, int | float) and 1 < fraction <= 100
