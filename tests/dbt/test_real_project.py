"""A real project, built by a real dbt on DuckDB: what provenn says about it is true of the rows of DuckDB."""

import csv
import json
import random
import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

import provenn
from provenn.dbt.differing import compare_manifests
from provenn.dbt.importing import import_project
from provenn.dbt.manifest import read_manifest
from provenn.dbt.project_knowledge import gather_knowledge
from provenn.dbt.projects import check_manifest, read_project
from provenn.logic import disjoint, equal, subset
from tests.dbt.real_dbt import copy_project, run_dbt

VARIANTS = 60
"""How many times the data are broken."""


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    """Return the folder of the project, built and documented by dbt."""
    folder = copy_project(tmp_path_factory.mktemp("dbt") / "shop")
    for command in (("build",), ("docs", "generate")):
        done = run_dbt(folder, *command)
        assert done.returncode == 0, done.stdout
    return folder


@pytest.fixture
def changed(project, tmp_path) -> Path:
    """Return a copy of the project, to be changed."""
    return Path(shutil.copytree(project, tmp_path / "changed"))


class Warehouse:
    """The project in DuckDB, built from the SQL that dbt has compiled, on any rows of the seeds."""

    def __init__(self, project: Path, folder: Path) -> None:
        import duckdb  # noqa: PLC0415 - every process imports all test files

        self.manifest = read_manifest(project)
        self.connection = duckdb.connect(folder / "shop.duckdb")
        self.connection.execute(
            "CREATE TABLE events (event_id BIGINT, customer_id INTEGER, kind VARCHAR, seconds DOUBLE)"
        )

    def build(self, seeds: dict[str, list[dict[str, str]]]) -> None:
        """Make all tables."""
        for resource in self.manifest.resources.values():
            name = resource.relation_name
            if resource.kind == "seed":
                columns = dict(resource.column_types)
                described = ", ".join(f"{column} {kind}" for column, kind in columns.items())
                self.connection.execute(f"CREATE OR REPLACE TABLE {name} ({described})")
                marks = ", ".join("?" * len(columns))
                for row in seeds[resource.name]:
                    values = [row[column] or None for column in columns]
                    self.connection.execute(f"INSERT INTO {name} VALUES ({marks})", values)  # noqa: S608
            elif resource.kind == "model":
                self.connection.execute(f"CREATE OR REPLACE TABLE {name} AS {resource.code}")

    def read(self, name: str, column: str) -> list[object]:
        """Return the values of a column of a table."""
        return [row[0] for row in self.connection.execute(f"SELECT {column} FROM {name}").fetchall()]  # noqa: S608

    def run_tests(self) -> dict[str, bool]:
        """Return whether each test passes, by its identity."""
        tests = json.loads((self.manifest_file).read_text(encoding="utf-8"))["nodes"]
        return {
            test.unique_id: not self.connection.execute(tests[test.unique_id]["compiled_code"]).fetchall()
            for test in self.manifest.tests
        }

    manifest_file: Path


@pytest.fixture
def warehouse(project, tmp_path) -> Iterator[Warehouse]:
    """Return the project in an empty database."""
    made = Warehouse(project, tmp_path)
    made.manifest_file = project / "target" / "manifest.json"
    yield made
    made.connection.close()


def read_seeds(project: Path) -> dict[str, list[dict[str, str]]]:
    """Return the rows of the seeds."""
    return {
        file.stem: list(csv.DictReader(file.read_text(encoding="utf-8").splitlines()))
        for file in sorted((project / "seeds").glob("*.csv"))
    }


def break_seeds(seeds: dict[str, list[dict[str, str]]], choice: random.Random) -> dict[str, list[dict[str, str]]]:
    """Return the rows of seeds with a few values that are missing, repeated, or unheard of."""
    broken = {name: [dict(row) for row in rows] for name, rows in seeds.items()}
    for _ in range(choice.randint(1, 4)):
        rows = broken[choice.choice(list(broken))]
        row = choice.choice(rows)
        column = choice.choice(list(row))
        other = choice.choice(rows)[column]
        unheard = {"id": "999", "customer_id": "77", "order_id": "4242", "amount": "-5", "ordered_on": "2020-01-01"}
        row[column] = choice.choice(["", other, unheard.get(column, "unheard of"), "0" if "id" in column else other])
        if choice.random() < 0.3:
            rows.append(dict(choice.choice(rows)))
        if choice.random() < 0.1:
            rows.clear()
            rows.append(dict.fromkeys(row, ""))
    return broken


def test_a_test_that_need_not_run_never_fails_alone(project, warehouse):
    findings = check_manifest(project)
    implied = {test.test.unique_id: {premise.unique_id for premise in test.premises} for test in findings.implied}
    assert len(implied) >= 15
    seeds, choice, failures = read_seeds(project), random.Random(7), 0
    for _ in range(VARIANTS):
        warehouse.build(break_seeds(seeds, choice))
        passes = warehouse.run_tests()
        kept = [passes[test] for test in passes if test not in implied]
        for test in implied:
            if not passes[test]:
                failures += 1
                assert not all(kept), f"{test} fails alone"
    assert failures > 20, "the data were hardly broken"


def test_what_fails_for_a_real_dbt_fails_here(project, changed, warehouse):
    seeds = read_seeds(project)
    seeds["raw_orders"][0]["status"] = "unheard of"
    seeds["raw_orders"][1]["customer_id"] = "77"
    seeds["raw_customers"][0]["country"] = ""
    seeds["raw_customers"][1]["id"] = "3"
    for name, rows in seeds.items():
        with (changed / "seeds" / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    for command in (("seed", "--full-refresh"), ("run",)):
        assert run_dbt(changed, *command).returncode == 0
    assert run_dbt(changed, "test").returncode == 1
    results = json.loads((changed / "target" / "run_results.json").read_text(encoding="utf-8"))["results"]
    by_dbt = {result["unique_id"]: result["status"] == "pass" for result in results}
    warehouse.build(seeds)
    assert warehouse.run_tests() == by_dbt
    implied = {test.test.unique_id for test in check_manifest(project).implied}
    assert any(not passed for test, passed in by_dbt.items() if test not in implied)


def test_all_relations_between_models_hold_for_the_rows(project, warehouse):
    tables = [*read_project(project).tables.tables.values()]
    seeds, choice, proved = read_seeds(project), random.Random(11), 0
    with provenn.open(warehouse.manifest_file.parent.parent / "archive") as archive:
        import_project(archive, project)
        facts = [fact.id for fact in archive.facts()]
        for fact in facts:  # broken data violate the tests
            archive.retract(fact)
        orders = [table for table in tables if table.definition.population.name == "raw_orders"]
        relations = {
            (left.name, right.name): archive.relate(left.name, right.name).summary
            for left in orders
            for right in orders
            if left is not right
        }
    for _ in range(10):
        data = break_seeds(seeds, choice)
        unique = {row["id"]: row for row in data["raw_orders"] if row["id"]}
        data["raw_orders"] = list(unique.values())  # keys are unique, as every proof assumes
        customers = {row["id"]: row for row in data["raw_customers"] if row["id"]}
        data["raw_customers"] = list(customers.values())
        warehouse.build(data)
        rows = {
            table.name: set(warehouse.read(table.resource.relation_name, table.definition.schema.key[0].name))
            for table in orders
        }
        for (left, right), summary in relations.items():
            match summary:
                case "equal":
                    assert rows[left] == rows[right]
                case "subset":
                    assert rows[left] <= rows[right]
                case "superset":
                    assert rows[left] >= rows[right]
                case "disjoint":
                    assert not rows[left] & rows[right]
            proved += summary not in ("unknown", "overlapping")
    assert proved > 300


def test_the_findings_of_the_project(project):
    findings = check_manifest(project)
    assert findings.empty == ("lost_orders",)
    assert [(same.models, same.by_tests) for same in findings.same_rows] == [
        (("order_customers", "orders_all", "stg_orders"), True),
        (("orders_completed", "orders_done"), False),
    ]
    assert {union.relation for union in findings.unions} == {"disjoint"}
    assert findings.contradictions == ()
    assert findings.unread == ()


def test_knowledge_of_definitions_in_memory_answers_as_an_archive_does(project, tmp_path):
    with provenn.open(tmp_path / "archive") as archive:
        names = [model.name for model in import_project(archive, project).models if "order" in model.name]
        for fact in archive.facts():
            archive.retract(fact.id)
        orders = [archive[name] for name in names if archive[name].population == "raw_orders"]
        knowledge = gather_knowledge([catalog.definition for catalog in orders]).knowledge
        for left, right in pairwise(orders):
            for relation in (equal, subset, disjoint):
                statement = relation(left.digest, right.digest)
                assert knowledge.entails(statement) == bool(archive.prove(statement))


def test_an_import_keeps_rows_that_can_be_computed(project, tmp_path):
    events = tmp_path / "events.csv"
    events.write_text("event_id,customer_id,kind,seconds\n1,1,visit,3.5\n2,1,,0.5\n", encoding="utf-8")
    with provenn.open(tmp_path / "archive") as archive:
        imported = import_project(archive, project, data={"events": events})
        assert imported.left_out == ()
        assert archive["big_orders"].count() == 3
        assert sorted(archive["customer_totals"].to_pandas()["total"]) == [219, 500, 640]
        assert archive["stg_events"].count() == 1
        again = import_project(archive, project)
        assert (again.new, again.facts) == (0, 0)


def test_a_changed_condition_is_told_with_a_row_and_the_models_behind_it(project, changed):
    model = changed / "models" / "marts" / "big_orders.sql"
    model.write_text(model.read_text(encoding="utf-8").replace("amount >= 100", "amount >= 120"), encoding="utf-8")
    assert run_dbt(changed, "compile").returncode == 0
    changes = compare_manifests(project, changed)
    assert changes.edited == ("big_orders",)
    (change,) = changes.affected
    assert (change.name, change.rows, change.has_changed_columns) == ("big_orders", "narrowed", False)
    assert "amount = 1" in change.lost
    assert changes.unaffected == ("huge_orders", "lost_orders")
    assert changes.untouched == 12


def test_a_change_of_style_changes_nothing(project, changed):
    model = changed / "models" / "marts" / "orders_completed.sql"
    model.write_text(
        "with orders as (select * from {{ ref('stg_orders') }})\n"
        "select o.order_id, o.customer_id, o.status, o.amount from orders o where o.status in ('completed')",
        encoding="utf-8",
    )
    assert run_dbt(changed, "compile").returncode == 0
    changes = compare_manifests(project, changed)
    assert changes.edited == ("orders_completed",)
    assert changes.affected == ()
