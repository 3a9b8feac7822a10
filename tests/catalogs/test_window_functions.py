"""Attributes by window functions: the same sources, and values that belong to exactly these sources."""

import pytest

from provenn.catalogs import DeriveAttributes, KeepAttributes, SelectSources
from provenn.catalogs.calculators import WindowCalculator
from provenn.errors import CalculatorError, DefinitionError
from provenn.logic import equal
from tests.catalogs.samples import base

STARS = base("stars", {"hip": "bigint", "vmag": "double", "kind": "string"})
PLACE = WindowCalculator.of({"place": "rank() OVER (PARTITION BY kind ORDER BY vmag)"})
RANKED = DeriveAttributes.of(STARS, PLACE)


def test_the_sources_stay_the_same_and_the_value_depends_on_all_of_them():
    assert RANKED.extent == STARS.extent
    assert RANKED.facts() == (equal(RANKED.digest, STARS.digest),)
    assert RANKED.is_catalog_wide
    assert RANKED.schema["vmag"] == STARS.schema["vmag"]


def test_the_identity_has_the_extent_and_not_the_name():
    place = RANKED.schema["place"].identity
    other = WindowCalculator.of({"rank": "RANK() OVER (PARTITION BY `kind` ORDER BY vmag ASC NULLS FIRST)"})
    assert DeriveAttributes.of(STARS, other).schema["rank"].identity == place
    assert DeriveAttributes.of(KeepAttributes.of(STARS, ["vmag", "kind"]), PLACE).schema["place"].identity == place
    few = SelectSources.of(STARS, "vmag < 6")
    assert DeriveAttributes.of(few, PLACE).schema["place"].identity != place


def test_it_is_restored_and_exchanged():
    again = DeriveAttributes.restored(RANKED.parameters(), RANKED.notes(), [STARS])
    again.check_consistency()
    assert (again.digest, again.schema) == (RANKED.digest, RANKED.schema)
    verb, options = RANKED.exchange_form()
    assert verb == "window"
    assert DeriveAttributes.from_exchange(verb, options, [STARS]).digest == RANKED.digest
    assert WindowCalculator.from_definition(PLACE.definition()) == PLACE


@pytest.mark.parametrize(
    "forged",
    [
        ["place", "rank() OVER (ORDER BY `{vmag}` ASC NULLS FIRST)", "bigint", False],
        ["place", "rank() OVER (ORDER BY `{vmag}`)", "int", False],
        ["place", "row_number() OVER (ORDER BY `{vmag}` ASC NULLS FIRST)", "int", True],
    ],
)
def test_a_forged_definition_is_refused(forged):
    name, text, kind, nullable = forged
    written = text.format(vmag=STARS.schema["vmag"].identity)
    parameters = {"windows": [[name, written, kind, nullable]]}
    catalog = DeriveAttributes.restored(parameters, {"texts": {"place": ""}}, [STARS])
    with pytest.raises(DefinitionError):
        catalog.check_consistency()


def test_it_traces_what_it_reads_and_says_what_it_is():
    assert {origin.attribute for origin in RANKED.trace_attributes()["place"]} == {"kind", "vmag"}
    assert RANKED.find_inputs(RANKED.schema["place"].identity).keys() == {"kind", "vmag"}
    assert (
        RANKED.describe(RANKED.parameters(), RANKED.notes(), ["stars"])
        == f"stars, with place = {PLACE.expressions[0][1]}"
    )


@pytest.mark.parametrize("expressions", [{}, {"a": 5}])
def test_a_calculator_needs_texts(expressions):
    with pytest.raises(CalculatorError):
        WindowCalculator.of(expressions)
