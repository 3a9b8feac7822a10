"""Populations."""

import pytest

from provenn.catalogs import Population
from provenn.criteria import parse_type
from provenn.errors import KeyColumnsError, PopulationError

BIGINT = parse_type("bigint")


def test_a_population_is_its_name_and_the_types_of_its_key():
    star = Population("star", (BIGINT,))
    assert star == Population("star", (parse_type("long"),))
    assert star != Population("star", (parse_type("string"),))
    assert (str(star), star.key_identity(0)) == ("star (bigint)", "key:star:0")


@pytest.mark.parametrize("name", ["", " ", "a\nb", None])
def test_a_population_has_a_name(name: object):
    with pytest.raises(PopulationError, match="cannot name a population"):
        Population(name, (BIGINT,))  # type: ignore[arg-type]


def test_a_population_has_a_key():
    with pytest.raises(KeyColumnsError, match="star has no key"):
        Population("star", ())
