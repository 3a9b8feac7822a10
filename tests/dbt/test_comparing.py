"""Two versions of a project, of a folder of queries, or of an archive: what became of each table."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import provenn
from provenn.cli import app
from provenn.dbt.differing import compare_manifests
from provenn.dbt.importing import import_project
from provenn.dbt.other_versions import compare_archives, compare_folders
from provenn.errors import ManifestError
from tests.dbt.manifests import CUSTOMERS, ORDERS, MadeManifest, make_shop


@pytest.fixture
def compare(tmp_path):
    """Return a function that compares two manifests."""

    def compare_made(old: MadeManifest, new: MadeManifest) -> dict:
        changes = compare_manifests(old.write(tmp_path / "old"), new.write(tmp_path / "new"))
        return {change.name: change for change in changes.changes}

    return compare_made


def make_model(code: str, **changes: object) -> MadeManifest:
    """Return a manifest with a model on orders and customers."""
    return make_shop().model("model", code, "orders", "customers", **changes)


PLAIN = "select id, status, amount from {orders} where amount > 100"


@pytest.mark.parametrize(
    ("code", "rows"),
    [
        ("select id, status, amount from {orders} where not amount <= 100", "equal"),
        ("select id, status, amount from {orders} where amount > 100 or amount is null and amount = 3", "equal"),
        ("select id, status, amount from {orders} where amount > 200", "narrowed"),
        ("select id, status, amount from {orders} where amount > 100 and status = 'new'", "narrowed"),
        ("select id, status, amount from {orders} where amount > 50", "widened"),
        ("select id, status, amount from {orders} where amount > 100 or amount is null", "widened"),
        ("select id, status, amount from {orders} where amount < 100", "disjoint"),
        ("select id, status, amount from {orders} where status = 'new'", "unknown"),
    ],
)
def test_rows_are_compared_by_meaning(compare, code, rows):
    change = compare(make_model(PLAIN), make_model(code))["model"]
    assert (change.rows, change.has_changed_columns) == (rows, False)


def test_a_row_that_differs_is_shown(compare):
    narrowed = compare(make_model(PLAIN), make_model(PLAIN.replace("100", "200")))["model"]
    assert (narrowed.lost, narrowed.gained) == ("amount = 151", "")
    widened = compare(make_model(PLAIN), make_model(PLAIN.replace("100", "50")))["model"]
    assert (widened.lost, widened.gained) == ("", "amount = 76")


def test_columns_that_come_go_and_change_are_told_apart(compare):
    code = "select id, status as state, amount * 2 as amount, customer_id from {orders} where amount > 100"
    change = compare(make_model(PLAIN), make_model(code))["model"]
    assert change.rows == "equal"
    assert change.renamed == (("status", "state"),)
    assert change.redefined == ("amount",)
    assert change.added == ("customer_id",)
    assert change.removed == ()


def test_a_change_may_be_harmless_only_as_long_as_a_test_passes(compare):
    def make(code: str) -> MadeManifest:
        return make_model(code).test("not_null", "orders", "amount")

    change = compare(make("select id from {orders}"), make("select id from {orders} where amount is not null"))["model"]
    assert (change.rows, change.rests_on) == ("equal", ("not_null_orders_amount",))


def test_only_models_behind_a_change_are_compared(compare):
    def make(limit: int) -> MadeManifest:
        return (
            make_shop()
            .model("first", PLAIN.replace("100", str(limit)), "orders")
            .model("second", "select * from {first} where amount > 500", "first")
            .model("third", "select * from {first} where status = 'new'", "first")
            .model("other", "select * from {orders}", "orders")
        )

    changes = compare(make(100), make(200))
    assert {name: change.rows for name, change in changes.items()} == {
        "first": "narrowed",
        "second": "equal",
        "third": "narrowed",
    }


def test_a_project_in_another_schema_is_the_same(compare):
    old = (
        make_shop().model("first", "select * from {orders}", "orders").model("second", "select * from {first}", "first")
    )
    new = make_shop().model("first", "select * from {orders}", "orders", schema="ci_7")
    new.model("second", "select * from {first}", "first", schema="ci_7")
    assert compare(old, new) == {}


def test_a_seed_with_other_rows_is_another_set(compare):
    def make(checksum: str) -> MadeManifest:
        return MadeManifest().seed("orders", ORDERS, checksum).model("model", "select * from {orders}", "orders")

    assert compare(make("1"), make("2"))["model"].rows == "unknown"
    assert compare(make("1"), make("1")) == {}


def test_a_source_whose_column_has_another_type_is_another_set(compare):
    def make(kind: str) -> MadeManifest:
        made = MadeManifest().source("orders", {**ORDERS, "amount": kind})
        return made.model("model", "select id, amount from {orders} where amount > 1", "orders")

    assert compare(make("integer"), make("double"))["model"].rows == "unknown"


def test_a_source_with_a_further_column_is_the_same_set(compare):
    old = MadeManifest().source("orders", ORDERS).model("model", "select id from {orders}", "orders")
    new = MadeManifest().source("orders", {**ORDERS, "note": "varchar"})
    new.model("model", "select id, note from {orders}", "orders")
    change = compare(old, new)["model"]
    assert (change.rows, change.added) == ("equal", ("note",))


def test_new_and_removed_models_are_told(compare):
    old = make_shop().model("gone", "select * from {orders}", "orders")
    new = make_shop().model("came", "select * from {orders}", "orders")
    assert {name: change.rows for name, change in compare(old, new).items()} == {"gone": "removed", "came": "added"}


def test_rows_of_another_kind_are_not_compared(compare):
    change = compare(make_model("select id from {orders}"), make_model("select id from {customers}"))["model"]
    assert (change.rows, change.reason) == ("unknown", "its rows were orders, and are customers")


def test_a_model_that_cannot_be_read_is_unknown(compare):
    change = compare(make_model(PLAIN), make_model("select id from {orders} where where"))["model"]
    assert change.rows in ("unknown", "removed")


@pytest.mark.parametrize("config", ["incremental", "table"])
def test_a_model_that_is_known_by_name_alone_is_the_same_only_with_the_same_sql_and_inputs(compare, config):
    def make(limit: int, *, upstream: int = 0) -> MadeManifest:
        columns = {name: {"name": name, "data_type": kind} for name, kind in ORDERS.items()}
        function = "random()" if config == "table" else "0"
        return (
            make_shop()
            .model("first", f"select * from {{orders}} where amount > {upstream}", "orders")  # noqa: S608
            .model(
                "kept",
                f"select * from {{first}} where {function} < {limit}",  # noqa: S608
                "first",
                config={"materialized": config},
                columns=columns,
            )
            .model("after", "select * from {kept} where amount > 5", "kept")
        )

    assert compare(make(1), make(1)) == {}
    edited = compare(make(1), make(2))
    assert {name: change.rows for name, change in edited.items()} == {"kept": "unknown", "after": "unknown"}
    behind = compare(make(1), make(1, upstream=7))
    assert {name: change.rows for name, change in behind.items()} == {
        "first": "narrowed",
        "kept": "unknown",
        "after": "unknown",
    }


# --- folders and archives ---


def write_folder(folder: Path, **files: str) -> Path:
    """Write SQL files into a folder."""
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.sql").write_text(text, encoding="utf-8")
    return folder


SCHEMA = (
    "CREATE TABLE orders (id INT PRIMARY KEY, status STRING, amount INT); CREATE TABLE events (id INT, kind STRING)"
)


def test_folders_of_queries_are_compared(tmp_path):
    old = write_folder(
        tmp_path / "old",
        schema=SCHEMA,
        big="SELECT * FROM orders WHERE amount > 10",
        huge="SELECT id FROM big WHERE amount > 100",
        kinds="CREATE VIEW kinds AS SELECT id, kind FROM events",
    )
    new = write_folder(
        tmp_path / "new",
        schema=SCHEMA,
        big="WITH o AS (SELECT * FROM orders) SELECT * FROM o WHERE amount > 20",
        huge="SELECT id FROM big WHERE amount > 100",
        kinds="CREATE VIEW kinds AS SELECT id, upper(kind) AS kind FROM events",
    )
    changes = compare_folders(old, new, keys={"events": ["id"]})
    assert {change.name: (change.rows, change.redefined) for change in changes.changes} == {
        "big": ("narrowed", ()),
        "huge": ("equal", ()),
        "kinds": ("equal", ("kind",)),
    }


def test_tables_of_folders_may_be_catalogs_of_an_archive(tmp_path):
    (tmp_path / "orders.csv").write_text("id,amount\n1,5\n2,50\n", encoding="utf-8")
    old = write_folder(tmp_path / "old", big="SELECT * FROM orders WHERE amount > 10")
    new = write_folder(tmp_path / "new", big="SELECT * FROM orders WHERE amount >= 11")
    with provenn.open(tmp_path / "archive") as archive:
        archive.ingest("orders", tmp_path / "orders.csv", key="id", population="order")
        assert compare_folders(old, new, archive=archive).affected == ()
    with pytest.raises(ManifestError, match="reads the table orders, which is neither in"):
        compare_folders(old, new)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SELECT FROM WHERE", "cannot be read"),
        ("DROP TABLE orders", "holds a DROP statement"),
        ("INSERT INTO orders SELECT 1", "holds a INSERT statement"),
        ("SELECT 1; SELECT 2", "holds a SELECT statement"),
    ],
)
def test_a_file_that_is_no_query_is_refused(tmp_path, text, message):
    folder = write_folder(tmp_path / "old", bad=text)
    with pytest.raises(ManifestError, match=message):
        compare_folders(folder, folder)


def test_two_archives_are_compared_by_names(tmp_path):
    (tmp_path / "orders.csv").write_text("id,amount\n1,5\n2,50\n", encoding="utf-8")
    with provenn.open(tmp_path / "first") as first, provenn.open(tmp_path / "second") as second:
        for archive, limit in ((first, 10), (second, 20)):
            orders = archive.ingest("orders", tmp_path / "orders.csv", key="id", population="order")
            orders.select(f"amount > {limit}", name="big")
        second["big"].select("amount > 30", name="new")
        changes = compare_archives(first, second)
    assert {change.name: change.rows for change in changes.changes} == {"big": "narrowed", "new": "added"}
    assert changes.untouched == 1


# --- commands ---


def run(*arguments: object):
    """Run a command."""
    return CliRunner().invoke(app, [*map(str, arguments)])


def test_the_commands_end_with_a_status_that_programs_can_use(tmp_path):
    old = make_model(PLAIN).write(tmp_path / "old")
    new = make_model(PLAIN.replace("100", "200")).write(tmp_path / "new")
    same = make_model(PLAIN.replace("amount > 100", "100 < amount")).write(tmp_path / "same")
    assert run("dbt", "diff", old, new).exit_code == 1
    assert run("dbt", "diff", old, same).exit_code == 0
    assert run("dbt", "check", old).exit_code == 0
    contradictory = (
        make_shop()
        .test("accepted_values", "orders", "status", values=["new"])
        .test("accepted_values", "orders", "status", values=["old"])
        .test("not_null", "orders", "status")
    )
    assert run("dbt", "check", contradictory.write(tmp_path / "contradictory")).exit_code == 1


def test_answers_are_written_as_json_and_markdown(tmp_path):
    old = make_model(PLAIN).write(tmp_path / "old")
    new = make_model(PLAIN.replace("100", "200")).write(tmp_path / "new")
    (change,) = json.loads(run("dbt", "diff", old, new, "--json").stdout)["affected"]
    assert (change["name"], change["rows"], change["lost"]) == ("model", "narrowed", "amount = 151")
    assert "| `model` | **narrowed** |" in run("dbt", "diff", old, new, "--markdown").stdout
    assert json.loads(run("dbt", "check", old, "--json").stdout)["lost_rows"][0]["model"] == "model"
    assert "## Rows lost on the way (1)" in run("dbt", "check", old, "--markdown").stdout


def test_a_project_is_imported_into_an_archive(tmp_path):
    manifest = make_model(PLAIN).test("not_null", "model", "amount").write(tmp_path / "project")
    archive = tmp_path / "archive"
    assert run("init", archive).exit_code == 0
    imported = json.loads(run("dbt", "import", manifest, "--archive", archive, "--json").stdout)
    assert [model["name"] for model in imported["models"]] == ["orders", "customers", "model"]
    assert imported["facts"] == 3
    again = json.loads(run("dbt", "import", manifest, "--archive", archive, "--json").stdout)
    assert (again["new"], again["facts"]) == (0, 0)
    with provenn.open(archive) as opened:
        assert opened.relate("model", "orders").summary == "subset"
    changed = make_model(PLAIN.replace("100", "200")).write(tmp_path / "changed")
    assert run("dbt", "import", changed, "--archive", archive).exception is not None
    assert run("dbt", "import", changed, "--archive", archive, "--replace").exit_code == 0
    with provenn.open(archive) as opened:
        assert opened.relate("model@2", "model@1").summary == "subset"


def test_data_are_refused_for_what_is_no_source(tmp_path):
    manifest = make_shop().source("events", CUSTOMERS).write(tmp_path / "project")
    with provenn.open(tmp_path / "archive") as archive, pytest.raises(ManifestError, match="no source or seed event"):
        import_project(archive, manifest, data={"event": tmp_path})
