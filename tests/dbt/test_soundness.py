"""What is claimed of random projects is true of the rows that DuckDB computes from random data."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from benchmarks.dbt_manifests import generate_manifest
from provenn.dbt.differing import compare_manifests
from provenn.dbt.manifest import read_manifest
from provenn.dbt.projects import check_manifest
from provenn.dbt.resources import DataTest, DbtManifest

MODELS, DATABASES = 40, 4
STATUSES = ("placed", "shipped", "completed", "returned", "lost")


class Warehouse:
    """A project in DuckDB, on random rows."""

    def __init__(self, folder: Path, manifest: DbtManifest) -> None:
        import duckdb  # noqa: PLC0415 - every process imports all test files

        folder.mkdir()
        self.manifest, self.connection = manifest, duckdb.connect(folder / "db.duckdb")
        self.connection.execute("CREATE SCHEMA raw")

    def fill(self, choice: Random, *, is_broken: bool) -> None:
        """Make all tables anew; keys are unique, and other columns have NULLs where no test forbids them."""
        for resource in self.manifest.resources.values():
            name = resource.relation_name
            if resource.kind == "source":
                columns = {column.name: column.data_type for column in resource.columns}
                described = ", ".join(f"{column} {kind}" for column, kind in columns.items())
                self.connection.execute(f"CREATE OR REPLACE TABLE {name} ({described})")
                rows = [[draw(choice, column, key, is_broken) for column in columns] for key in range(30)]
                marks = ", ".join("?" * len(columns))
                self.connection.executemany(f"INSERT INTO {name} VALUES ({marks})", rows)  # noqa: S608
            else:
                self.connection.execute(f"CREATE OR REPLACE TABLE {name} AS {resource.code}")

    def read(self, name: str) -> set[object]:
        """Return the keys of a model: what tells its rows apart."""
        resource = next(resource for resource in self.manifest.resources.values() if resource.name == name)
        cursor = self.connection.execute(f"SELECT * FROM {resource.relation_name}")  # noqa: S608
        columns = [column[0] for column in cursor.description or ()]
        rows = cursor.fetchall()
        key = next(column for column in ("id", "customer_id", "status") if column in columns)
        keys = [row[columns.index(key)] for row in rows]
        assert len(set(keys)) == len(keys)
        return set(keys)

    def passes(self, test: DataTest) -> bool:
        """Return whether a test passes, as dbt defines it."""
        table, column = self.manifest.resources[test.resource].relation_name, test.columns[0]
        match test.kind:
            case "not_null":
                query = f"SELECT 1 FROM {table} WHERE {column} IS NULL"  # noqa: S608
            case "unique":
                query = f"SELECT 1 FROM {table} WHERE {column} IS NOT NULL GROUP BY {column} HAVING count(*) > 1"  # noqa: S608
            case "accepted_values":
                values = ", ".join(f"'{value}'" for value in test.values)
                query = f"SELECT 1 FROM {table} WHERE {column} NOT IN ({values})"  # noqa: S608
            case _:
                parent = self.manifest.resources[test.parent].relation_name
                query = (
                    f"SELECT 1 FROM {table} c LEFT JOIN {parent} p ON c.{column} = p.{test.field} "  # noqa: S608
                    f"WHERE c.{column} IS NOT NULL AND p.{test.field} IS NULL"
                )
        return not self.connection.execute(query).fetchall()


def draw(choice: Random, column: str, key: int, is_broken: bool) -> object:
    """Return a value of a column."""
    if column == "id":
        return key
    if column == "customer_id":
        return choice.choice([choice.randrange(30), choice.randrange(30), *([99] if is_broken else []), None])
    if column == "status":
        return choice.choice([*STATUSES, *(["unheard of", None] if is_broken else [])])
    if column == "country":
        return choice.choice(["GB", "FR", "DE", None, *(["XX"] if is_broken else [])])
    if column == "ordered_on":
        return choice.choice(["2026-01-01", None])
    if column == "name":
        return choice.choice(["Ada", None])
    return choice.choice([choice.randrange(0, 600, 25), choice.randrange(-50, 600), None])


@pytest.fixture(params=range(3))
def project(request, tmp_path) -> Iterator[tuple[Path, Warehouse, Random]]:
    """Return a manifest, its project in DuckDB, and a source of random numbers."""
    file = write(tmp_path / "project", seed=request.param)
    warehouse = Warehouse(tmp_path / "warehouse", read_manifest(file))
    yield file, warehouse, Random(request.param)
    warehouse.connection.close()


def write(folder: Path, *, seed: int, changed: int = 0) -> Path:
    """Write a random manifest."""
    folder.mkdir()
    file = folder / "manifest.json"
    file.write_text(json.dumps(generate_manifest(MODELS, seed=seed, changed=changed)), encoding="utf-8")
    return file


def test_findings_are_true_of_random_rows(project):
    file, warehouse, choice = project
    findings = check_manifest(file)
    assert findings.same_rows
    assert findings.lost_rows
    for _ in range(DATABASES):
        warehouse.fill(choice, is_broken=False)
        for name in findings.empty:
            assert warehouse.read(name) == set()
        for same in findings.same_rows:
            assert len({frozenset(warehouse.read(name)) for name in same.models}) == 1
        models = {resource.name for resource in warehouse.manifest.resources.values() if resource.kind == "model"}
        for lost in findings.lost_rows:
            if lost.parent in models:
                assert warehouse.read(lost.model) <= warehouse.read(lost.parent)


def test_no_implied_test_fails_unless_a_kept_one_does(project):
    file, warehouse, choice = project
    implied = {implied.test.unique_id: implied for implied in check_manifest(file).implied}
    kept = [test for test in warehouse.manifest.tests if test.unique_id not in implied]
    assert kept
    failures = 0
    for _ in range(DATABASES):
        warehouse.fill(choice, is_broken=True)
        passes = {test.unique_id: warehouse.passes(test) for test in warehouse.manifest.tests}
        failing = {test.test.unique_id for test in implied.values() if not passes[test.test.unique_id]}
        failures += len(failing)
        assert not failing or not all(passes[test.unique_id] for test in kept)
        for identity in failing:  # one of its own premises fails, or a test that definitions rest on
            premises = implied[identity].premises
            is_grouped = any(test.kind == "not_null" and not passes[test.unique_id] for test in kept)
            assert is_grouped or not all(passes[test.unique_id] for test in premises)
    assert failures


def test_changes_are_true_of_random_rows(project, tmp_path):
    file, old, choice = project
    changed = write(tmp_path / "changed", seed=_find_seed(file), changed=6)
    changes = compare_manifests(file, changed)
    assert changes.affected
    new = Warehouse(tmp_path / "other", read_manifest(changed))
    for _ in range(DATABASES):
        number = choice.random()
        old.fill(Random(number), is_broken=False)
        new.fill(Random(number), is_broken=False)
        for change in changes.changes:
            before, after = old.read(change.name), new.read(change.name)
            match change.rows:
                case "equal":
                    assert before == after
                case "narrowed":
                    assert before >= after
                case "widened":
                    assert before <= after
                case "disjoint":
                    assert not before & after
    new.connection.close()


def _find_seed(file: Path) -> int:
    """Return the seed of a manifest."""
    content = file.read_text(encoding="utf-8")
    return next(seed for seed in range(3) if json.dumps(generate_manifest(MODELS, seed=seed)) == content)
