"""Samples."""

import math

import pytest

from provenn.catalogs import ExcludeSources, SampleSources, SelectSources
from provenn.criteria import order_facts
from provenn.errors import DefinitionError
from provenn.logic import Knowledge, disjoint, equal, subset
from tests.catalogs.samples import base

A = base()


def known_of(*catalogs) -> Knowledge:
    atoms = [atom for catalog in catalogs for atom in catalog.atoms()]
    return Knowledge(
        [*(fact for catalog in catalogs for fact in catalog.facts()), *order_facts(atoms)], open_universe=False
    )


def test_samples_with_one_seed_are_nested():
    tenth, half = SampleSources.of(A, 0.1, seed=1), SampleSources.of(A, 0.5, seed=1)
    other = SampleSources.of(A, 0.5, seed=2)
    known = known_of(tenth, half, other)
    assert known.entails(subset(tenth.digest, half.digest))
    assert not known.entails(subset(tenth.digest, other.digest))
    rest = ExcludeSources(A, half)
    assert known_of(tenth, half, rest).entails(disjoint(tenth.digest, rest.digest))


def test_the_sample_of_a_population_is_the_same_in_every_catalog_of_it():
    """The same sources of two bases, but not those of another population."""
    other = base("tycho")
    first, two = SampleSources.of(A, 0.1), SampleSources.of(other, 0.1)
    both = known_of(first, two)
    assert both.entails(f'"{first.digest}" & "{other.digest}" == "{two.digest}" & "{A.digest}"')
    assert SampleSources.of(base("m", population="galaxy"), 0.1).atoms() != first.atoms()


def test_selecting_and_sampling_commute():
    catalog = SampleSources.of(SelectSources.of(A, "vmag < 6"), 0.1)
    assert catalog.extent == SelectSources.of(SampleSources.of(A, 0.1), "vmag < 6").extent


def test_a_sample_of_all_is_all():
    whole = SampleSources.of(A, 1)
    assert whole.extent == A.extent
    assert known_of(whole).entails(equal(whole.digest, A.digest))
    assert (whole.atoms(), whole.threshold) == ((), 2**63)


def test_the_fraction_is_exact():
    """A double of any size times 2**63, so that two fractions are two thresholds, in their order."""
    assert SampleSources.of(A, 0.5).threshold == 2**62
    assert SampleSources.of(A, 0.1).threshold == int(0.1 * 2**63)
    assert SampleSources.of(A, math.nextafter(0.1, 1)).threshold > SampleSources.of(A, 0.1).threshold
    assert SampleSources.of(A, 2**-63).threshold == 1
    assert SampleSources.of(A, 1) == SampleSources.of(A, 1.0)
    (atom,) = SampleSources.of(A, 0.1, seed=7).atoms()
    assert (atom.label, atom.term) == ("sample(7, `star`) < 0.1", "sample(7, `star`)")


@pytest.mark.parametrize("fraction", [0, -0.1, 1.0001, math.nan, math.inf, 1e-30, "0.1", None, True])
def test_what_is_no_fraction_is_refused(fraction: object):
    with pytest.raises(DefinitionError, match="expected a fraction between 0 and 1"):
        SampleSources.of(A, fraction)  # type: ignore[arg-type]


def test_a_percentage_is_told_as_a_fraction():
    with pytest.raises(DefinitionError, match=r"did you mean 0\.1\?"):
        SampleSources.of(A, 10)


@pytest.mark.parametrize("seed", [1.0, "1", None, True, 2**63, -(2**63) - 1])
def test_what_is_no_seed_is_refused(seed: object):
    with pytest.raises(DefinitionError, match="expected a 64-bit integer as seed"):
        SampleSources.of(A, 0.1, seed)  # type: ignore[arg-type]
