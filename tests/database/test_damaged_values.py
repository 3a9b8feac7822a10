"""A value of any column of any table that is not what was written gives a clear error, never a failure of Python."""

import io
import re
import shutil
import sqlite3
from collections.abc import Callable, Container, Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, event

import provenn
from provenn.archive.tokens import issue_token, list_tokens
from provenn.database.tables import metadata
from provenn.errors import CorruptArchiveError, ProvennError
from tests.archive.samples import write_parquet

VALUES = {
    "bytes": b"\x00\xff",
    "text": "nonsense",
    "number": 7.5,
    "empty": "",
    "negative": -1,
    "highest": 2**63 - 1,
    "object": '{"a": 1}',
    "list": "[]",
    "list of nothing": "[null]",
    "list of lists": '[["a", 1]]',
    "no digest": "0" * 64,
    "first year": "0001-01-01 00:00:00.000000",
    "last year": "9999-12-31 23:59:59.999999",
    "deep": "[" * 100_000,
}
COLUMNS = [f"{table.name}.{column.name}" for table in metadata.sorted_tables for column in table.columns]
QUESTIONS: dict[str, Callable[[provenn.Archive], object]] = {
    "ls": lambda archive: archive.search(),
    "show": lambda archive: archive.describe("bright"),
    "lineage": lambda archive: archive.lineage("bright"),
    "provenance": lambda archive: archive.provenance("bright"),
    "facts": lambda archive: archive.facts(retracted=True),
    "prove": lambda archive: archive.prove("bright <= stars"),
    "look-ups": lambda archive: archive.inside("stars"),
    "calculators": lambda archive: archive.calculators(),
    "attributes": lambda archive: archive.attributes("star"),
    "fragments": lambda archive: archive.fragments(dropped=True),
    "runs": lambda archive: archive.runs(),
    "projects": lambda archive: archive.projects(),
    "audit": lambda archive: archive.audit(),
    "log": lambda archive: archive.log("bright"),
    "tokens": list_tokens,
    "check": lambda archive: archive.check(),
    "garbage": lambda archive: archive.collect_garbage(dry_run=True),
    "declare": lambda archive: archive.declare("nonempty(stars)", reason="seen"),
    "select": lambda archive: archive["stars"].select("vmag < 3", name="brighter"),
    "plan": lambda archive: archive.target("bright", ["hip", "dist"]).plan(),
    "export": lambda archive: archive.export_definitions(io.BytesIO()),
}


@pytest.fixture(scope="module")
def filled(tmp_path_factory) -> Path:
    """An archive with a row in every table that can have one without Spark."""
    folder = tmp_path_factory.mktemp("damaged")
    with provenn.open(folder / "survey", who="ada") as archive:
        stars = archive.ingest("stars", write_parquet(folder / "stars.parquet"), key="hip", population="star")
        stars.select("vmag < 6", name="bright")
        archive.declare("nonempty(bright)", reason="seen")
        fact = archive.declare("bright < stars", reason="some are faint")
        archive.retract(fact.id, reason="not sure")
        archive.calculator("distance", sql={"dist": "1000 / plx"})
        archive.prefer("dist", "distance")
        archive.new_project("pulsars")
        archive.add_member("pulsars", "bob")
        archive.prove("bright <= stars")
        issue_token(archive, "bob", "reader")
    with sqlite3.connect(folder / "survey" / "provenn.sqlite") as connection:
        _fill(connection)
    return folder / "survey"


def _fill(connection: sqlite3.Connection) -> None:
    """Put a row into the tables that only runs and other processes write to."""
    (catalog,) = connection.execute("SELECT catalog FROM names WHERE name = 'bright'").fetchone()
    moment, later = "2026-01-01 00:00:00.000000", "2126-01-01 00:00:00.000000"
    rows = {
        "runs": {"catalog": catalog, "target": "bright", "by": "ada", "started_at": moment, "ended_at": moment}
        | {"outcome": "done", "seconds": 1.5, "rows": 3, "reused": "[]", "computed": "[]", "fragments": "[]"}
        | {"saved": 0.0},
        "leases": {"holder": "h", "catalog": catalog, "identities": "[]", "by": "ada", "taken_at": moment}
        | {"expires_at": later},
        "pins": {"place": "p", "holder": "h", "by": "ada", "pinned_at": moment, "expires_at": later},
    }
    for table, row in rows.items():
        columns = ", ".join(f'"{column}"' for column in row)
        marks = ", ".join("?" * len(row))
        connection.execute(f"INSERT INTO {table} ({columns}) VALUES ({marks})", [*row.values()])  # noqa: S608


@pytest.fixture
def copy(filled: Path, tmp_path: Path) -> Path:
    shutil.copytree(filled, tmp_path / "survey")
    return tmp_path / "survey"


def damage(folder: Path, place: str, value: object) -> bool:
    """Put a value into a column of all rows; return whether there were any."""
    table, _, column = place.partition(".")
    connection = sqlite3.connect(folder / "provenn.sqlite")
    try:
        connection.execute("PRAGMA foreign_keys = OFF")
        changed = connection.execute(f'UPDATE OR IGNORE {table} SET "{column}" = ?', [value]).rowcount  # noqa: S608
        connection.commit()
    except sqlite3.IntegrityError:  # a number of rows, which SQLite keeps as a number
        return False
    finally:
        connection.close()
    return changed > 0


@pytest.fixture(scope="module")
def reading(filled: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """The questions that read or write a table, by table, each asked of an archive that remembers no other one.

    A question that does nothing with a table is answered as without damage, whatever its rows say: it sees the same.
    """
    asked, questions = "", {table.name: set[str]() for table in metadata.sorted_tables}

    def note(_connection, _cursor, statement, *_):
        for word in {*re.findall(r"\w+", statement)} & questions.keys():
            questions[word].add(asked)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        for name, ask in QUESTIONS.items():
            asked = name
            folder = shutil.copytree(filled, tmp_path_factory.mktemp("undamaged") / "survey")
            with provenn.open(folder, who="ada") as archive:
                ask(archive)
    finally:
        event.remove(Engine, "before_cursor_execute", note)
    return questions


def failures(folder: Path, asked: Container[str] = QUESTIONS) -> Iterator[tuple[str, Exception]]:
    """Ask questions; yield those that fail, and how."""
    try:
        archive = provenn.open(folder, who="ada")
    except ProvennError as error:
        yield "open", error
        return
    with archive:
        for name, ask in QUESTIONS.items():
            if name not in asked:
                continue
            try:
                ask(archive)
            except Exception as error:  # noqa: BLE001 - which it is, is what the test is about
                yield name, error


def test_without_damage_all_questions_are_answered(copy):
    assert list(failures(copy)) == []


@pytest.mark.parametrize(
    "value", ["bytes", *(pytest.param(kind, marks=pytest.mark.campaign) for kind in VALUES if kind != "bytes")]
)
@pytest.mark.parametrize("place", COLUMNS)
def test_a_damaged_value_is_never_a_failure_of_python(copy, reading, place, value):
    if damage(copy, place, VALUES[value]):
        asked = QUESTIONS if value != "bytes" else reading[place.partition(".")[0]]
        assert [(name, error) for name, error in failures(copy, asked) if not isinstance(error, ProvennError)] == []


@pytest.mark.campaign
@pytest.mark.parametrize("place", COLUMNS)
def test_a_damaged_value_is_never_a_failure_of_python_in_what_does_not_read_it(copy, place):
    if damage(copy, place, VALUES["bytes"]):
        assert [(name, error) for name, error in failures(copy) if not isinstance(error, ProvennError)] == []


def test_it_is_known_which_questions_read_a_table(reading):
    assert {"ls", "show", "prove", "select", "export"} <= reading["catalogs"]
    assert "tokens" in reading["tokens"]
    assert "audit" in reading["audit"]
    assert sum(map(len, reading.values())) < len(QUESTIONS) * len(reading) / 2


@pytest.mark.parametrize(
    ("place", "value", "ask", "words"),
    [
        ("catalogs.digest", "empty", "export", "refers to .* of catalogs, which is not there"),
        ("bases.catalog", "empty", "provenance", "refers to catalog '' of catalogs, which is not there"),
        ("dependencies.dependency", "empty", "export", "refers to dependency '' of catalogs, which is not there"),
        ("bases.caveat", "object", "prove", "caveat of bases .* is .*, not one of"),
        ("populations.key", "list of nothing", "select", "key of populations .*, not JSON of a list of texts"),
        (
            "runs.reused",
            "list of lists",
            "runs",
            "reused of runs .*, not JSON of a list of texts, or an object of texts",
        ),
        ("runs.computed", "list of lists", "runs", "computed of runs .*, not JSON of a list of texts"),
    ],
)
def test_a_value_of_the_right_type_and_a_wrong_shape_is_named(copy, place, value, ask, words):
    """Also where a row refers to one that is not there: the type of the value is right then."""
    assert damage(copy, place, VALUES[value])
    with provenn.open(copy, who="ada") as archive, pytest.raises(CorruptArchiveError, match=words):
        QUESTIONS[ask](archive)


@pytest.mark.parametrize(
    ("place", "where"), [("runs.reused", "run #"), ("runs.fragments", "run #"), ("leases.identities", "lease of h")]
)
def test_a_value_of_a_wrong_shape_is_found_by_the_check(copy, place, where):
    before = {str(problem) for problem in provenn.open(copy, who="ada").check().problems}
    assert damage(copy, place, VALUES["list of lists"])
    after = {str(problem) for problem in provenn.open(copy, who="ada").check().problems}
    assert [problem for problem in after - before if problem.startswith(where)]


@pytest.mark.parametrize("value", [b"\x00\xff", "2026-13-45 99:00:00", 12], ids=["bytes", "no such day", "number"])
@pytest.mark.parametrize(
    ("place", "ask"),
    [("catalogs.created_at", "ls"), ("facts.declared_at", "facts"), ("audit.at", "audit"), ("name_history.at", "log")],
)
def test_a_damaged_date_is_named_with_its_table_and_column(copy, place, ask, value):
    table, _, column = place.partition(".")
    assert damage(copy, place, value)
    with (
        provenn.open(copy, who="ada") as archive,
        pytest.raises(CorruptArchiveError, match=rf"{column} of {table} \(.*\) is .*, not a moment"),
    ):
        QUESTIONS[ask](archive)
