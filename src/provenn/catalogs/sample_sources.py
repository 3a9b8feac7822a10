"""A random but reproducible fraction of the sources of a catalog."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from provenn.catalogs.catalog import Catalog, Facts, Parameters
from provenn.catalogs.column_origins import ColumnOrigin, build_key_origins
from provenn.catalogs.exchange_options import ExchangeForm, ExchangeOptions
from provenn.catalogs.extent import Extent, leaf
from provenn.catalogs.profile import ClassProfile
from provenn.catalogs.set_labels import parse_sample_label
from provenn.criteria import Atom
from provenn.digests import CatalogDigest
from provenn.errors import DefinitionError
from provenn.logic import Statement, equal, intersection, subset

__all__ = ["SampleSources", "parse_sample_rule"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SampleSources(Catalog):
    """The sources of `parent` with a low hash of the key.

    A source is in the sample if the lowest 63 bits of Spark's ``xxhash64(seed, key…)`` are less than `threshold`. The
    hash takes the seed as a bigint and the key in the types of the population. So samples of the same population and
    seed are nested, and a sample of a selection is the selection of the sample.

    Parameters
    ----------
    parent
        The catalog of the sources.
    fraction
        The approximate fraction of the sources: above 0, at most 1.
    seed
        The seed of the hash; 64 bits.
    """

    profile = ClassProfile(word="sample", shape="torn edge", narrows=True)
    parent: Catalog
    fraction: float
    seed: int

    @classmethod
    def of(cls, parent: Catalog, fraction: float, seed: int = 0) -> Self:
        """Sample a fraction of the sources.

        Raises
        ------
        DefinitionError
            If the fraction or the seed is out of range.
        """
        if isinstance(fraction, bool) or not isinstance(fraction, int | float) or not 2**-63 <= fraction <= 1:
            hint = "0.1 is one source in ten" if not _is_percentage(fraction) else f"did you mean {fraction / 100}?"
            raise DefinitionError(f"expected a fraction between 0 and 1, got {fraction!r}", hint=hint)
        if isinstance(seed, bool) or not isinstance(seed, int) or not -(2**63) <= seed < 2**63:
            raise DefinitionError(f"expected a 64-bit integer as seed, got {seed!r}")
        return cls(parent, float(fraction), seed)

    def _define_anew(self) -> Catalog:
        return type(self).of(self.parent, self.fraction, self.seed)

    @property
    def dependencies(self) -> tuple[Catalog, ...]:
        """The parent."""
        return (self.parent,)

    @property
    def threshold(self) -> int:
        """The exclusive upper bound of the lowest 63 bits of the hash: at most 2**63."""
        return _compute_threshold(self.fraction)

    def parameters(self) -> Parameters:
        """Return fraction, seed, and the population of the hashed keys."""
        return {"fraction": self.fraction, "seed": self.seed, "population": self.parent.population.name}

    @classmethod
    def restored(cls, parameters: Parameters, notes: Parameters, dependencies: Sequence[Catalog]) -> Self:  # noqa: ARG003
        """Return the catalog with these parameters and dependencies."""
        (parent,) = dependencies
        return cls(parent, parameters["fraction"], parameters["seed"])

    @classmethod
    def facts_of(cls, digest: CatalogDigest, dependencies: Sequence[CatalogDigest], parameters: Parameters) -> Facts:
        """Return the intersection of the parent and the set of all sources with a low hash."""
        (parent,) = dependencies
        if parameters["fraction"] == 1:
            return (equal(digest, parent),), ()
        atom = _make_atom(parameters)
        return (intersection(digest, parent, atom.label),), (atom,)

    @classmethod
    def local_statement(cls, digest: CatalogDigest, dependencies: Sequence[CatalogDigest]) -> Statement:
        """Return a subset of the parent."""
        (parent,) = dependencies
        return subset(digest, parent)

    @classmethod
    def describe(cls, parameters: Parameters, notes: Parameters, parts: Sequence[str]) -> str:  # noqa: ARG003
        """Return the parent, the fraction and the seed in words."""
        fraction, seed = parameters["fraction"], parameters["seed"]
        return f"a sample of the sources of {parts[0]}: a fraction of {fraction:g}, with seed {seed}"

    def describe_briefly(self, parts: Sequence[str]) -> str:
        """Return the fraction and the parent."""
        return f"a sample of {self.fraction:g} of {parts[0]}"

    def show_parameters(self) -> Sequence[tuple[str, str]]:
        """Return the fraction and the seed."""
        return ("fraction", f"{self.fraction:g}"), ("seed", str(self.seed))

    def exchange_form(self) -> ExchangeForm:
        """Return the verb, the fraction and the seed."""
        return self.profile.word, {"fraction": self.fraction, "seed": self.seed}

    @classmethod
    def from_exchange(cls, verb: str, options: ExchangeOptions, parts: Sequence[Catalog]) -> Catalog:  # noqa: ARG003
        """Return the sample with a fraction and a seed."""
        return cls.of(parts[0], options["fraction"], options["seed"])

    def trace_selection(self) -> tuple[ColumnOrigin, ...]:
        """Return the key, whose hash decides."""
        text = f"a fraction of {self.fraction:g}, with seed {self.seed}"
        return build_key_origins({self.parent.digest: self.parent.schema}, "FILTER", text)

    def _build_extent(self) -> Extent:
        return (
            self.parent.extent if self.fraction == 1 else self.parent.extent & leaf(_make_atom(self.parameters()).label)
        )


def _make_atom(parameters: Parameters) -> Atom:
    """Return the atom of the set of all sources with a low hash."""
    # No criterion has this term: criteria have no function sample().
    term = f"sample({parameters['seed']}, `{parameters['population'].replace('`', '``')}`)"
    return Atom(f"{term} < {parameters['fraction']!r}", term, _compute_threshold(parameters["fraction"]), ())


def parse_sample_rule(label: str) -> tuple[int, int] | None:
    """Return the seed and the threshold from the label of a sample's atom; None for a criterion's label.

    >>> parse_sample_rule("sample(7, `star`) < 0.5") == (7, 2**62)
    True
    """
    sample = parse_sample_label(label)
    return None if sample is None else (sample[0], _compute_threshold(sample[1]))


def _compute_threshold(fraction: float) -> int:
    """Return the threshold of 63 bits for a fraction."""
    return math.floor(math.ldexp(fraction, 63))


def _is_percentage(fraction: object) -> bool:
    return isinstance(fraction, int | float) and 1 < fraction <= 100
