"""Manifests of dbt are read, or refused with the reason; nothing in them is executed."""

import json

import pytest

from provenn.dbt.manifest import read_manifest
from provenn.dbt.projects import read_project
from provenn.errors import ManifestError
from tests.dbt.manifests import ORDERS, MadeManifest, make_shop

_METADATA = {"dbt_schema_version": "x/manifest/v12.json", "adapter_type": "duckdb"}


@pytest.mark.parametrize("version", [10, 11, 12])
def test_manifests_of_three_versions_are_read(version, tmp_path):
    file = make_shop(version=version).model("big", "select * from {orders} where amount > 1", "orders").write(tmp_path)
    manifest = read_manifest(file)
    assert set(manifest.resources) == {"source.made.raw.customers", "source.made.raw.orders", "model.made.big"}
    assert [*manifest.resources][-1] == "model.made.big"
    assert manifest.dialect == "duckdb"
    assert [test.kind for test in manifest.tests] == ["not_null", "not_null", "unique", "unique"]


@pytest.mark.parametrize("version", [9, 13])
def test_a_manifest_of_another_version_is_refused(version, tmp_path):
    with pytest.raises(ManifestError, match=f"has v{version}; provenn reads manifests v10 to v12"):
        read_manifest(make_shop(version=version).write(tmp_path))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "{}",
        '{"metadata": {}}',
        "[" * 100_000,
        json.dumps({"metadata": _METADATA, "nodes": [], "sources": {}}),
        json.dumps({"metadata": _METADATA, "sources": {}, "nodes": {"model.a.b": {"resource_type": "model"}}}),
    ],
)
def test_a_damaged_manifest_is_refused(text, tmp_path):
    (tmp_path / "manifest.json").write_text(text, encoding="utf-8")
    with pytest.raises(ManifestError, match=r"is not a manifest of dbt|has no version"):
        read_manifest(tmp_path)


def test_a_missing_manifest_is_an_error_that_says_what_to_run(tmp_path):
    with pytest.raises(ManifestError) as caught:
        read_manifest(tmp_path)
    assert "dbt compile" in str(caught.value.hint)


def test_models_that_are_not_compiled_are_an_error_that_says_what_to_run(tmp_path):
    made = make_shop().model("big", "select 1", "orders", compiled_code=None)
    with pytest.raises(ManifestError, match="no compiled SQL of 1 model, such as big") as caught:
        read_manifest(made.write(tmp_path))
    assert "dbt compile" in str(caught.value.hint)


def test_an_unknown_adapter_needs_a_dialect(tmp_path):
    file = make_shop(adapter="martian").write(tmp_path)
    with pytest.raises(ManifestError, match="martian"):
        read_manifest(file)
    assert read_manifest(file, dialect="postgres").dialect == "postgres"


def test_models_that_depend_on_each_other_are_refused(tmp_path):
    made = make_shop().model("a", "select * from {orders}", "orders").model("b", "select * from {a}", "a")
    made.content["nodes"]["model.made.a"]["depends_on"]["nodes"].append("model.made.b")
    with pytest.raises(ManifestError, match="depend on each other"):
        read_manifest(made.write(tmp_path))


def test_a_source_without_types_is_an_error_that_says_how_to_state_them(tmp_path):
    file = MadeManifest().source("orders", dict.fromkeys(ORDERS, "")).write(tmp_path)
    with pytest.raises(ManifestError, match="columns of orders are not known") as caught:
        read_project(file)
    assert "dbt docs generate" in str(caught.value.hint)


def test_the_types_in_catalog_json_come_first(tmp_path):
    file = MadeManifest().source("orders", dict.fromkeys(ORDERS, "")).write(tmp_path)
    columns = {
        name: {"name": name, "index": position, "type": kind.upper()}
        for position, (name, kind) in enumerate(ORDERS.items())
    }
    catalog = {"nodes": {}, "sources": {"source.made.raw.orders": {"columns": columns}}}
    (tmp_path / "catalog.json").write_text(json.dumps(catalog), encoding="utf-8")
    table = read_project(file).tables.tables["source.made.raw.orders"]
    assert [str(attribute.type) for attribute in table.definition.schema.attributes] == ["int", "int", "string", "int"]


def test_a_seed_outside_the_project_is_not_read(tmp_path):
    (tmp_path / "secret.csv").write_text("id\n1\n", encoding="utf-8")
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "dbt_project.yml").write_text("name: made\n", encoding="utf-8")
    made = MadeManifest().seed("orders", {"id": ""}, "0")
    made.content["nodes"]["seed.made.orders"]["original_file_path"] = "../secret.csv"
    with pytest.raises(ManifestError, match="columns of orders are not known"):
        read_project(made.write(tmp_path / "project" / "target"))


def test_a_test_that_the_project_redefines_is_known_by_its_query_alone(tmp_path):
    made = make_shop().test("not_null", "orders", "status")
    made.content["macros"]["macro.made.duckdb__test_not_null"] = {}
    kinds = {test.name: test.kind for test in read_manifest(made.write(tmp_path)).tests}
    assert kinds["not_null_orders_status"] == "query"
    assert kinds["unique_orders_id"] == "unique"


def test_names_clash_only_where_two_packages_or_a_source_share_them(tmp_path):
    made = make_shop().model("orders", "select * from {orders}", "orders")
    tables = read_project(made.write(tmp_path)).tables.tables
    assert {table.name for table in tables.values()} == {"raw.orders", "customers", "orders"}
