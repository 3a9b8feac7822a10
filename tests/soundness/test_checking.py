"""`check` finds every change to every row and every file, and mends what it says it mends."""

import os
import shutil
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sqlalchemy
from sqlalchemy import delete, select, text, update
from typer.testing import CliRunner

import provenn
from provenn.archive.opening import find_data_folder
from provenn.cli import app
from provenn.data import fragments
from provenn.data.parquet_contents import find_parquet_damage
from provenn.database.tables import STAGED, Moment, imports, metadata, operations
from provenn.errors import ArchiveError
from provenn.files.data_folder import DataFolder
from provenn.formats.opening import open_database
from provenn.soundness.checking import find_problems, mend_problems
from tests.sound import make_archive

WHEN = "when something happened, or by whom: nothing follows from it"
LABEL = "a label for people, which they may change"
HISTORY = "what happened before: nothing is computed from it"
COST = "how useful a fragment is, which only decides what is deleted first"
SAMPLE = "a few rows, on which estimates alone rest"
RIGHTS = "who may do what is what the row says; there is nothing to compare it with"

REMARKS = {
    **{f"{table}.platform": "nothing else tells where it was computed" for table in ("facts", "counts", "fragments")},
    "catalogs.created_at": WHEN,
    "catalogs.created_by": WHEN,
    "bases.seen_at": WHEN,
    "bases.seen_by": WHEN,
    "names.changed_at": WHEN,
    "names.changed_by": WHEN,
    "names.owner": RIGHTS,
    "name_history.id": HISTORY,
    "name_history.at": HISTORY,
    "name_history.by": HISTORY,
    "name_history.owner": HISTORY,
    "name_history.visibility": HISTORY,
    "name_history.project": HISTORY,
    "facts.declared_at": WHEN,
    "facts.retracted_at": WHEN,
    "facts.retracted_by": WHEN,
    "facts.retracted_reason": WHEN,
    "proofs.proved_at": WHEN,
    "proofs.proved_by": WHEN,
    "calculators.registered_at": WHEN,
    "calculators.registered_by": WHEN,
    "preferences.attribute": LABEL,
    "preferences.at": WHEN,
    "preferences.by": WHEN,
    "fragment_attributes.position": "only the order counts, which the digest of the fragment tells",
    **{f"samples.{column}": SAMPLE for column in ("fragment", "identity", "content")},
    "fragments.seconds": COST,
    "fragments.stored_at": WHEN,
    "fragments.stored_by": WHEN,
    "fragments.used_at": COST,
    "fragments.uses": COST,
    "fragments.dropped_at": WHEN,
    "fragments.dropped_by": WHEN,
    "fragments.dropped_reason": WHEN,
    "fragments.removed_at": WHEN,
    "pins.place": "what is pinned is left alone for a while",
    "pins.holder": "another process, which may be anywhere; its pin expires",
    "pins.by": WHEN,
    "pins.pinned_at": WHEN,
    "pins.expires_at": "a pin that ends later or earlier: within a day that is harmless",
    "tallies.tallied_at": WHEN,
    "tallies.tallied_by": WHEN,
    "counts.counted_at": WHEN,
    "counts.counted_by": WHEN,
    "verifications.verified_at": WHEN,
    "verifications.verified_by": WHEN,
    **{
        f"runs.{name}": HISTORY for name in ("id", "target", "by", "started_at", "ended_at", "seconds", "rows", "saved")
    },
    "definers.who": RIGHTS,
    "definers.at": WHEN,
    "definers.defined": RIGHTS,
    "projects.owner": RIGHTS,
    "projects.created_at": WHEN,
    "members.who": RIGHTS,
    "tokens.id": RIGHTS,
    "tokens.who": RIGHTS,
    "tokens.digest": "no secret has it: the token opens nothing",
    "tokens.created_at": WHEN,
    "tokens.created_by": WHEN,
    "tokens.expires_at": RIGHTS,
    "tokens.used_at": WHEN,
    "tokens.revoked_at": RIGHTS,
    **{f"quotas.{name}": RIGHTS for name in ("who", "kind", "amount", "set_at", "set_by")},
    **{f"downloads.{name}": RIGHTS for name in ("who", "day", "bytes")},
    **{
        f"exports.{name}": "a file outside the archive, which is written only with a permit of its owner"
        for name in ("id", "path", "name", "request", "options", "content", "stamp", "rows", "by", "at", "begun_at")
    },
    "leases.holder": "another process, which may be anywhere; its lease expires",
    "leases.catalog": "what is computed just now; a lease expires",
    "leases.by": WHEN,
    "leases.taken_at": WHEN,
    "leases.expires_at": "a lease that ends later or earlier: within a day that is harmless",
}
"""The columns whose values nothing follows from, so that no change to them can be noticed; and why."""

FILLED = [table for table in metadata.sorted_tables if table not in (operations, imports, *STAGED.values())]
"""All tables but those that hold something only while a process commits or imports."""

COLUMNS = [(table.name, column.name) for table in FILLED for column in table.columns]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    make_archive(folder)
    return folder


@pytest.fixture(scope="module")
def before(whole):
    """What is told of it before it is damaged."""
    return set(looked(whole))


@pytest.fixture
def folder(whole, tmp_path):
    return Path(shutil.copytree(whole, tmp_path / "archive"))


def looked(folder, **options):
    path = folder / "provenn.sqlite"
    with open_database(path) as database:
        return list(find_problems(database, find_data_folder(database, path), **options))


def mended(folder, wrong, **options):
    """Mend what can be; return what is left."""
    path = folder / "provenn.sqlite"
    with open_database(path) as database:
        mend_problems(database, find_data_folder(database, path), wrong)
    return looked(folder, **options)


def bad(result):
    return [item for item in result if item.state == "damage"]


def other(column, value):
    """Return another value for a column, of the same kind."""
    if isinstance(column.type, Moment):
        return (value or datetime(2020, 1, 1, tzinfo=UTC)) + timedelta(hours=1)
    if isinstance(column.type, sqlalchemy.Boolean):
        return not value
    if isinstance(column.type, sqlalchemy.Float | sqlalchemy.Integer):
        return (value or 0) + 7
    if isinstance(column.type, sqlalchemy.String) and column.type.length == 64 and value:
        return ("b" if value[0] == "a" else "a") + value[1:]
    return f"{value or ''}x"


def tampered(folder, table, change):
    """Change the last row of a table that has a value there."""
    engine = sqlalchemy.create_engine(f"sqlite:///{folder / 'provenn.sqlite'}")
    with closing(engine.raw_connection()) as raw:
        raw.execute("PRAGMA foreign_keys = OFF")
    with engine.begin() as connection:
        change(connection, metadata.tables[table])
    engine.dispose()


def one_row(connection, table, column=None):
    rows = connection.execute(select(table)).mappings().all()
    assert rows, f"the archive of these tests has something in {table.name}"
    filled = [row for row in rows if column is None or row[column] is not None]
    return (filled or rows)[-1]


def is_row(table, row):
    return [table.c[column.name] == row[column.name] for column in table.primary_key.columns]


def test_an_archive_of_everything_is_sound(whole):
    for deep in (False, True):
        result = looked(whole, deep=deep)
        assert bad(result) == []
    with provenn.open(whole) as archive:
        soundness = archive.check(deep=True)
        assert soundness.sound
        assert soundness.catalogs == 5
        assert "the archive is sound" in str(soundness)


def test_remarks_name_columns():
    assert not REMARKS.keys() - {".".join(pair) for pair in COLUMNS}


def change_value(connection, rows, column):
    row = one_row(connection, rows, column)
    values = {column: other(rows.c[column], row[column])}
    assert connection.execute(update(rows).where(*is_row(rows, row)).values(values)).rowcount == 1


NOTICED = [pair for pair in COLUMNS if ".".join(pair) not in REMARKS]
UNNOTICED = [pair for pair in COLUMNS if ".".join(pair) in REMARKS]
BY_TABLE = {table: [column for name, column in UNNOTICED if name == table] for table, _ in UNNOTICED}


@pytest.mark.parametrize(
    ("table", "columns"),
    [
        *BY_TABLE.items(),
        *(pytest.param(table, [column], marks=pytest.mark.campaign) for table, column in UNNOTICED),
    ],
    ids=[*BY_TABLE, *(".".join(pair) for pair in UNNOTICED)],
)
def test_nothing_follows_from_a_column_with_a_remark(folder, before, table, columns):
    """Of a table, all of them at once; each alone in the campaign."""

    def change(connection, rows):
        for column in columns:
            change_value(connection, rows, column)

    tampered(folder, table, change)
    results = [problem for problem in looked(folder) if problem not in before]
    assert bad(results) == [], "then it is no remark"


@pytest.mark.parametrize(("table", "column"), NOTICED, ids=[".".join(pair) for pair in NOTICED])
def test_a_change_to_any_other_column_is_found_and_mended_where_that_is_said(folder, before, table, column):
    tampered(folder, table, lambda connection, rows: change_value(connection, rows, column))
    results = [problem for problem in looked(folder) if problem not in before]
    assert results
    lost = {item for item in results if item.state == "damage" and item.remedy == "restore"}
    left = set(mended(folder, results))
    assert {item for item in results if item.mend is not None and item in left} == set(), "what can be mended is"
    if not lost:
        assert bad(left) == []


# --- rows that are missing ---

TABLES = [table.name for table in FILLED]
NEEDED = {
    *("populations", "schemas", "catalogs", "wordings", "dependencies", "bases", "names", "name_history", "facts"),
    *("fact_catalogs", "fact_bases", "proof_facts", "fragment_attributes", "fragment_facts", "attributes", "projects"),
    *("calculators", "fragments", "proofs", "settings", "audit"),
}
"""The tables of which every row is needed by another one. Of the others, any row may be missing."""


@pytest.mark.parametrize("table", TABLES)
def test_a_row_that_is_missing_is_found_where_another_one_needs_it(folder, before, table):
    def remove(connection, rows):
        connection.execute(delete(rows).where(*is_row(rows, one_row(connection, rows))))

    tampered(folder, table, remove)
    results = [problem for problem in looked(folder) if problem not in before]
    assert bool(results) == (table in NEEDED), results
    left = set(mended(folder, results))
    assert {item for item in results if item.mend is not None and item in left} == set()


# --- files ---


def parts(folder):
    return sorted((folder / "data" / "fragments" / "distant").glob("*.parquet"))


def flip(folder):
    content = bytearray(parts(folder)[0].read_bytes())
    content[40] ^= 1
    parts(folder)[0].write_bytes(content)


def flip_footer(folder):
    content = bytearray(parts(folder)[0].read_bytes())
    content[-40] ^= 1
    parts(folder)[0].write_bytes(content)


def truncate(folder):
    parts(folder)[0].write_bytes(parts(folder)[0].read_bytes()[:-1])


def lose(folder):
    parts(folder)[1].unlink()


def lose_all(folder):
    shutil.rmtree(parts(folder)[0].parent)


def swap(folder):
    first, other = parts(folder)
    first.rename(first.with_name("x"))
    other.rename(first)
    first.with_name("x").rename(other)


def empty(folder):
    parts(folder)[0].write_bytes(b"")


def another(folder):
    """Write another table of the same shape, so that even the size may be the same."""
    file = parts(folder)[0]
    rows = pq.read_metadata(file).num_rows
    pq.write_table(pa.table({name: [7] * rows for name in pq.read_schema(file).names}), file)


@pytest.mark.parametrize("harm", [flip, flip_footer, truncate, lose, lose_all, swap, empty, another])
def test_any_damage_to_a_file_is_found_and_the_fragment_is_dropped(folder, harm):
    harm(folder)
    quick, deep = bad(looked(folder)), bad(looked(folder, deep=True))
    assert [item.remedy for item in deep] == ["compute"]
    assert deep[0].stored is not None
    if harm is not flip:  # of which neither sizes nor footers tell
        assert quick == deep
    left = mended(folder, deep, deep=True)
    assert bad(left) == []
    with open_database(folder / "provenn.sqlite") as database, database.reading() as reading:
        (gone,) = [
            fragment
            for fragment in fragments.all_fragments(reading, dropped=True)
            if fragment.location.endswith("distant")
        ]
        assert gone.dropped_reason == f"damaged: {deep[0].what}"


def test_a_fragment_without_digests_is_read_page_by_page(folder):
    """Fragments of older versions have none; their pages carry checksums where Spark wrote them."""
    with open_database(folder / "provenn.sqlite") as database, database.writing() as writing:
        (first,) = fragments.all_fragments(writing)
        files = tuple(replace(file, digest="") for file in first.files)
        assert find_parquet_damage(DataFolder.of(folder / "data"), first.location, files, deep=True) == ""
        content = parts(folder)[0].read_bytes()
        parts(folder)[0].write_bytes(content[:4] + bytes(60) + content[64:])
        parquet_damage = find_parquet_damage(DataFolder.of(folder / "data"), first.location, files, deep=True)
        assert parquet_damage == "part-0.parquet differs from the bytes that were written"


def test_a_stray_file_is_no_damage_and_is_deleted(folder):
    stray = parts(folder)[0].with_name("stray.parquet")
    stray.write_bytes(b"whatever")
    (first,) = [problem for problem in looked(folder) if "stray" in problem.what]
    assert (first.state, first.remedy) == ("leftover", "delete")
    mended(folder, [first])
    assert not stray.exists()
    assert len(parts(folder)) == 2


def test_what_nothing_refers_to_is_a_leftover_and_goes_when_it_is_old(folder):
    place = folder / "data" / "_temporary" / "old"
    place.mkdir(parents=True)
    (place / "a.parquet").write_bytes(b"x")
    (young,) = [problem for problem in looked(folder) if "old" in problem.where]
    assert "kept for a day" in young.what
    for path in (place, place / "a.parquet"):
        os.utime(path, (0, 0))
    assert [problem.state for problem in looked(folder) if "old" in problem.where] == ["leftover"]
    mended(folder, looked(folder))
    assert not place.exists()


def test_a_store_that_is_not_there_is_one_problem_and_drops_nothing(folder):
    (folder / "data").rename(folder / "elsewhere")
    (first,) = bad(looked(folder))
    assert "is the disk mounted?" in first.what
    assert [element.what for element in bad(mended(folder, [first]))] == [first.what]
    (folder / "elsewhere").rename(folder / "data")
    assert bad(looked(folder, deep=True)) == []


def test_base_files_that_changed_are_remarks(folder):
    path = folder.parent / "stars.parquet"
    with provenn.open(folder) as archive:
        pq.write_table(pa.table({"hip": [1], "vmag": [1.0], "plx": [1.0]}), path)
        archive.ingest("others", path, key="hip", population="star")
        pq.write_table(pa.table({"hip": [2], "vmag": [1.0], "plx": [1.0]}), path)
        soundness = archive.check()
        assert soundness.sound
        assert [problem.remedy for problem in soundness.problems if "changed" in problem.what] == ["none"]
        path.unlink()
        assert [problem.remedy for problem in archive.check().problems if "nothing exists at" in problem.what] == [
            "none"
        ]


def test_false_footers_of_base_files_are_damage(tmp_path):
    """A footer that contradicts the rows makes proofs wrong: only reading the rows shows it."""
    (tmp_path / "in").mkdir()
    contents = {}
    for name, magnitudes in (("rows", [1.0, 9.0]), ("stated", [1.0, 2.0]), ("true", [3.0, 4.0])):
        place = tmp_path / f"in/{name}.parquet"
        hips = [3, 4] if name == "true" else [1, 2]
        pq.write_table(pa.table({"hip": hips, "vmag": magnitudes}), place, compression="none", use_dictionary=False)
        contents[name] = place.read_bytes()
    length = 8 + int.from_bytes(contents["stated"][-8:-4], "little")
    (tmp_path / "in/rows.parquet").write_bytes(contents["rows"][:-length] + contents["stated"][-length:])
    (tmp_path / "in/stated.parquet").unlink()
    with provenn.open(tmp_path / "archive") as archive:
        archive.ingest("stars", tmp_path / "in", key="hip", population="star")
        archive.ingest("again", tmp_path / "in", key="hip", population="star")
        assert archive.check().problems == ()
        soundness = archive.check(deep=True)
        (problem,) = soundness.problems
        assert (problem.state, problem.remedy, soundness.sound) == ("damage", "rewrite", False)
        assert problem.what == (
            "again, stars: rows.parquet: its footer states that vmag lies from 1.0 to 2.0 in row group 1, but a row "
            "has 9.0"
        )
        archive.check(deep=True, repair=True)
        assert not archive.check(deep=True).sound, "nothing in the archive can mend it"
    outcome = CliRunner().invoke(app, ["check", "--deep", "--archive", str(tmp_path / "archive")])
    assert outcome.exit_code == 1
    assert "remedy: write the file again, with correct statistics or without any" in outcome.stdout
    assert outcome.stdout.endswith("(1 catalogs, every byte): 1 problem\n"), "--repair does not help"


@pytest.mark.filterwarnings("ignore::provenn.errors.ProvennWarning")  # a declaration empties catalogs
def test_facts_that_contradict_each_other_are_found(folder):
    """Each row is what was written; but both cannot have been accepted."""
    with provenn.open(folder) as archive:
        archive["faint"].select("plx > 5", name="far")
        number = archive.declare("nonempty(far)").id
        archive.retract(number)
        archive.declare("far == {}")
        with archive.context.database.writing() as writing:
            values = {"retracted_at": None, "retracted_by": None, "retracted_reason": None}
            writing.connection.execute(update(metadata.tables["facts"]).where(text(f"id = {number}")).values(values))
        (first,) = bad(archive.check().problems)
        assert f"#{number}" in first.what
        assert "contradict" in first.what


def test_a_damaged_page_of_the_database_is_found_or_refused(folder):
    path = folder / "provenn.sqlite"
    content = bytearray(path.read_bytes())
    for start in range(8192, len(content), 4096 * 7):
        content[start : start + 64] = bytes(64)
    path.write_bytes(content)
    try:
        assert bad(looked(folder))
    except ArchiveError as error:
        assert "damaged" in str(error)  # noqa: PT017 - either will do
