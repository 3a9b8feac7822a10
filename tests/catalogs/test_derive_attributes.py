"""Deriving attributes."""

import pytest

from provenn.catalogs import DeriveAttributes, PythonCalculator, RenameAttributes, SelectSources, SqlCalculator
from provenn.criteria import render
from provenn.errors import AttributeConflictError, AttributeNotFoundError, CalculatorError, CriterionError
from tests.catalogs.calculators import example
from tests.catalogs.samples import base, derived

A = base(units={"vmag": "mag"})
BRIGHT = SelectSources.of(A, "vmag < 6")


def test_an_expression_gives_an_attribute_of_its_type():
    near = derived(A, dist_pc="1000 / plx", whole="CAST(hip AS int)")
    assert near.schema.names == ("hip", "vmag", "plx", "dist_pc", "whole")
    assert str(near.schema["dist_pc"].type) == "double"
    assert str(near.schema["whole"].type) == "int"
    assert near.extent == A.extent


def test_the_identity_is_the_canonical_expression_wherever_it_is_derived():
    attribute = derived(A, d="1000 / plx").schema["d"]
    renamed = RenameAttributes.of(BRIGHT, {"plx": "parallax"})
    assert derived(renamed, distance="1000/Parallax").schema["distance"].identity == attribute.identity
    assert derived(A, d="1001 / plx").schema["d"].identity != attribute.identity
    assert derived(base("other"), d="1000 / plx").schema["d"].identity != attribute.identity


def test_a_bare_column_keeps_all_but_its_name():
    again = derived(A, v="vmag", **{"B-V": "vmag - plx"})
    assert again.schema["v"] == A.schema["vmag"].renamed("v")
    assert again.schema["v"].unit == "mag"
    odd = base("odd", {"hip": "bigint", "a`b": "double"})
    assert derived(odd, x="`a``b`").schema["x"].identity == odd.schema["a`b"].identity


def test_the_same_attribute_again_changes_nothing_and_another_one_is_refused():
    assert derived(A, vmag="vmag").schema == A.schema
    with pytest.raises(AttributeConflictError, match="two different attributes vmag"):
        derived(A, vmag="vmag + 1")


def test_expressions_can_be_written_for_spark():
    near = derived(A, d="1000 / plx")
    (first,) = near.calculation.parse_expressions(A.schema).values()
    assert render(first, {f"{A.digest}:plx": "p"}) == "try_divide(1000.0D, `p`)"
    assert near.notes() == {"texts": {"d": "1000 / plx"}}


@pytest.mark.parametrize("text", ["1000 / plxx", "1000 /", "rand()", "sum(plx)", "NULL"])
def test_what_is_no_expression_is_refused(text: str):
    with pytest.raises(CriterionError):
        derived(A, d=text)


def test_no_expressions_and_no_text_are_refused():
    with pytest.raises(CalculatorError, match="nothing to calculate"):
        derived(A)
    with pytest.raises(CalculatorError, match="expected an SQL expression for d, got 5"):
        SqlCalculator.of({"d": 5})  # type: ignore[dict-item]
    with pytest.raises(AttributeConflictError, match="cannot name an attribute"):
        SqlCalculator.of({"": "plx"})


# --- Python ---


def mean(**changes) -> PythonCalculator:
    values = {"inputs": ["vmag", "PLX"], "outputs": {"z": "double", "flag": "int"}, **changes}
    return PythonCalculator.of(example.photo_z, **values)


def test_a_python_calculator_gives_its_outputs_to_whoever_has_its_inputs():
    catalog = DeriveAttributes.of(A, mean())
    assert catalog.schema.names == ("hip", "vmag", "plx", "z", "flag")
    assert (str(catalog.schema["flag"].type), catalog.schema["flag"].nullable) == ("int", True)
    assert catalog.schema["z"].identity != catalog.schema["flag"].identity
    with pytest.raises(AttributeNotFoundError, match="no attribute 'gmag'"):
        DeriveAttributes.of(A, mean(inputs=["gmag"]))


def test_a_row_wise_result_is_the_same_attribute_in_every_catalog_and_others_are_not():
    """A mean, a rank depend on all sources there are, so their identity includes the extent."""
    rows, all_of_it = mean(), mean(scope="catalog")
    assert _z(A, rows) == _z(BRIGHT, rows)
    assert _z(A, all_of_it) != _z(BRIGHT, all_of_it)
    assert _z(BRIGHT, all_of_it) == _z(SelectSources.of(BRIGHT, "vmag < 6"), all_of_it)


def test_identity_follows_inputs_parameters_and_version():
    kinds = [mean(), mean(parameters={"a": 1}), mean(version="2"), mean(inputs=["plx", "vmag"]), mean(kind="arrow")]
    assert len({_z(A, kind) for kind in kinds}) == len(kinds)
    swapped = RenameAttributes.of(A, {"vmag": "plx", "plx": "vmag"})
    assert _z(A, mean()) != _z(swapped, mean())


def _z(catalog, calculator: PythonCalculator) -> str:
    return DeriveAttributes.of(catalog, calculator).schema["z"].identity


def test_a_python_derivation_is_stored_without_its_code():
    catalog = DeriveAttributes.of(A, mean(parameters={"template": "SWIRE"}))
    again = DeriveAttributes.restored(catalog.parameters(), catalog.notes(), [A])
    assert (again, again.schema, again.calculation) == (catalog, catalog.schema, catalog.calculation)
    assert again.on([BRIGHT]).calculation == catalog.calculation
