"""A column may be called `name`, `self` or `attributes`: a verb never takes it for something else, nor the reverse."""

import pyarrow as pa
import pytest

from provenn.errors import AttributeNotFoundError, CalculatorError, DefinitionError
from tests.cli.archive_session import Session


@pytest.fixture
def customers(archive):
    table = pa.table({"id": [1, 2], "name": ["a", "b"], "self": [1.0, 2.0], "near": [1.0, 2.0]})
    return archive.ingest("customers", table, key="id", population="customer")


def test_a_column_called_name_is_renamed_by_a_mapping(archive, customers):
    renamed = customers.rename({"name": "customer_name"})
    assert renamed.attributes == ("id", "customer_name", "self", "near")
    named = customers.rename({"name": "customer_name"}, name="renamed")
    assert named == renamed == archive["renamed"]


@pytest.mark.parametrize("keywords", [{"name": "customer_name"}, {"near": "far", "name": "customer_name"}])
def test_name_as_a_keyword_is_refused_where_a_column_is_called_so(archive, customers, keywords):
    with pytest.raises(DefinitionError) as error:
        customers.rename(**keywords)
    assert 'rename({"name": "customer_name"})' in error.value.hint
    assert '.rename({…}, name="customer_name")' in error.value.hint
    assert "customer_name" not in archive


def test_name_as_a_keyword_names_the_catalog_where_no_column_is_called_so(archive, stars):
    assert stars.rename(vmag="v", name="short") == archive["short"]
    assert archive["short"].attributes[1] == "v"


def test_name_alone_renames_nothing_and_says_how_to(archive, stars):
    with pytest.raises(DefinitionError, match="nothing to rename"):
        stars.rename(name="short")
    assert "short" not in archive


@pytest.mark.parametrize("column", ["self", "attributes", "what", "catalog", "archive", "more"])
def test_other_words_are_columns_as_any(archive, column):
    table = pa.table({"id": [1, 2], column: [1.0, 2.0]})
    catalog = archive.ingest("odd", table, key="id", population="odd")
    assert catalog.rename(**{column: "x"}).attributes == ("id", "x")
    assert catalog.rename({column: "x"}).derive(**{column: "x + 1"}).attributes == ("id", "x", column)


def test_an_attribute_called_name_is_derived_by_a_mapping(archive, stars):
    derived = stars.derive({"name": "concat('HIP ', spect)"}, name="labelled")
    assert derived == archive["labelled"]
    assert "name" in derived.attributes


@pytest.mark.parametrize("expression", ["concat('HIP ', spect)", "vmag", "'north'", "vmag + 1"])
def test_name_as_a_keyword_is_refused_where_it_is_an_expression(archive, stars, expression):
    """Both may be meant: a catalog may be called like this, and an attribute may be defined so."""
    with pytest.raises(DefinitionError) as error:
        stars.derive(dist_pc="1000 / plx", name=expression)
    assert "derive({" in error.value.hint
    assert expression not in archive


def test_name_as_a_keyword_names_the_catalog_where_it_is_no_expression(archive, stars, customers):
    assert stars.derive(dist_pc="1000 / plx", name="near") == archive["near"]
    taken = customers.derive(twice="self * 2", name="near_2")
    assert taken == archive["near_2"]
    assert stars.derive({"d": "plx"}, name="vmag") == archive["vmag"], "a mapping leaves nothing open"


def test_name_alone_derives_nothing_and_says_how_to(archive, stars):
    with pytest.raises(CalculatorError, match="nothing to calculate") as error:
        stars.derive(name="near")
    assert 'derive({"name": …})' in error.value.hint
    assert "near" not in archive


def test_expressions_beside_a_calculator_are_refused_instead_of_lost(archive, stars):
    archive.calculator("dist", sql={"dist_pc": "1000 / plx"})
    with pytest.raises(CalculatorError, match="twice"):
        stars.derive("dist", twice="vmag * 2")


def test_a_column_given_twice_is_refused_instead_of_lost(stars):
    with pytest.raises(DefinitionError, match="vmag occurs twice"):
        stars.rename({"vmag": "v"}, vmag="w")
    with pytest.raises(DefinitionError, match="d occurs twice"):
        stars.derive({"d": "plx"}, d="vmag")


def test_keep_takes_a_column_called_name(customers):
    assert customers.keep("name", name="few").attributes == ("id", "name")
    with pytest.raises(AttributeNotFoundError):
        customers.keep("names")


def test_the_commands_keep_columns_and_the_name_of_the_catalog_apart(archive, customers):
    session = Session(archive.place.removesuffix("/provenn.sqlite"))
    told = session.json("rename customers name=customer_name --name renamed")
    assert told["name"] == "renamed"
    assert [one["name"] for one in told["attributes"]] == ["id", "customer_name", "self", "near"]
    told = session.json("derive renamed name=upper(customer_name) --name labelled")
    assert [one["name"] for one in told["attributes"]][-1] == "name"
    assert customers.attributes[1] == "name"
