"""Versions of Delta and Iceberg tables are the files that their logs name; what files do not tell is refused."""

import json
import os
import random
import shutil
import sys
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from pyarrow import parquet
from pyroaring import BitMap64

import provenn
from provenn.catalogs import Base
from provenn.catalogs.roots import check_roots
from provenn.errors import BaseFilesError, FilesMissingError
from provenn.files.file_records import encode_files, restore_files
from provenn.files.file_set import Files
from provenn.files.snapshots import find_shared_files
from provenn.files.table_logs import find_snapshot, read_rewrites
from tests.files.lakehouse_tables import DeltaHistory, IcebergHistory, make_rows
from tests.repetitions import repeat_a_few


def read_rows(files: Files) -> Counter:
    """The rows of files: without Spark, from the files, the names of their folders, and NULL for absent columns."""
    rows = Counter()
    names = sorted(column.name for column in files.columns)
    for file in files.list_own_files():
        with file.open() as opened:
            table = parquet.ParquetFile(opened).read()
        for row in table.to_pylist():
            row |= {name: value if value is None else int(value) for name, value in file.partitions}
            rows[tuple(row.get(name) for name in names)] += 1
    return rows


def count_rows(table: pa.Table) -> Counter:
    """The rows of a table, columns by name."""
    names = sorted(table.column_names)
    return Counter(tuple(row[name] for name in names) for row in table.to_pylist())


def at(folder: Path, version: int | None = None) -> Files:
    """The files of a version."""
    return Files.at(folder, snapshot=find_snapshot(folder, version=version))


# --- the same rows as the libraries' own readers ---


@pytest.mark.parametrize("seed", repeat_a_few(range(16), 4))
def test_each_version_of_a_delta_table_has_the_rows_that_delta_says(tmp_path, seed):
    history = DeltaHistory(tmp_path / "stars", seed, partitioned=seed % 2 == 1)
    done = [history.step() for _ in range(7)]
    if seed % 3 == 0:
        history.step(("checkpoint",))
        done.append(history.step())
    for version in range(history.version + 1):
        expected = count_rows(history.read(version))
        if not expected:
            with pytest.raises(BaseFilesError, match="has no rows"):
                at(history.folder, version)
            continue
        files = at(history.folder, version)
        assert read_rows(files) == expected, (version, done)
        assert files.row_count == expected.total()
        files.check()
    assert at(history.folder) == at(history.folder, history.version)


@pytest.mark.parametrize("seed", repeat_a_few(range(6), 2))
def test_each_snapshot_of_an_iceberg_table_has_the_rows_that_iceberg_says(tmp_path, seed):
    history = IcebergHistory(tmp_path / "lake", seed, partitioned=seed % 2 == 1)
    done = [history.step() for _ in range(6)]
    for version in history.snapshots():
        expected = count_rows(history.read(version))
        if not expected:
            continue
        assert read_rows(at(history.folder, version)) == expected, (version, done)
    assert read_rows(at(history.folder)) == count_rows(history.read())
    assert at(Path(history.table.metadata_location.removeprefix("file://"))) == at(history.folder)
    history.close()


def test_deleted_rows_are_not_there(tmp_path):
    write_deltalake(tmp_path / "stars", pa.table({"id": [1, 2, 3]}))
    write_deltalake(tmp_path / "stars", pa.table({"id": [9]}), mode="overwrite")
    assert read_rows(at(tmp_path / "stars")) == Counter([(9,)])
    assert read_rows(at(tmp_path / "stars", 0)) == Counter([(1,), (2,), (3,)])


def test_a_version_is_found_by_time(tmp_path):
    history = DeltaHistory(tmp_path / "stars", 1)
    history.step(("append",))
    for version, hours in enumerate((3, 1)):
        moment = (datetime.now(UTC) - timedelta(hours=hours)).timestamp()
        os.utime(tmp_path / f"stars/_delta_log/{version:020}.json", (moment, moment))
    between = datetime.now(UTC) - timedelta(hours=2)
    assert find_snapshot(tmp_path / "stars", when=between).version == 0
    assert find_snapshot(tmp_path / "stars", when=between.replace(tzinfo=None).isoformat()).version == 0
    assert find_snapshot(tmp_path / "stars", when=datetime.now(UTC)).version == 1
    iceberg = IcebergHistory(tmp_path / "lake", 1)
    first, moment = iceberg.version, datetime.now(UTC)
    iceberg.step(("append",))
    assert find_snapshot(iceberg.folder, when=moment).version == first
    with pytest.raises(BaseFilesError, match="has no version 1999"):
        find_snapshot(iceberg.folder, when="1999-12-31")
    iceberg.close()


def test_a_table_that_was_moved_is_the_same(tmp_path):
    iceberg = IcebergHistory(tmp_path / "lake", 2)
    here = at(iceberg.folder)
    iceberg.close()
    moved = shutil.move(iceberg.folder, tmp_path / "elsewhere")
    assert at(moved).digest == here.digest
    assert at(moved).location == str(tmp_path / "elsewhere")


def test_types_and_values_of_partition_columns_come_from_the_log(tmp_path):
    names = ["007", "1e5", "50%", "a b", "x/y=z", None]
    table = pa.table({"id": range(6), "name": names, "day": [datetime(2026, 1, 1).date()] * 6})  # noqa: DTZ001
    write_deltalake(tmp_path / "stars", table, partition_by=["name", "day"])
    files = at(tmp_path / "stars")
    assert [(column.name, str(column.type)) for column in files.columns] == [
        ("id", "bigint"),
        ("name", "string"),
        ("day", "date"),
    ]
    assert sorted(map(repr, (dict(file.partitions)["name"] for file in files.list_own_files()))) == sorted(
        map(repr, names)
    )


@pytest.mark.parametrize("kind", ["Delta", "Iceberg"])
def test_columns_of_all_types_have_the_types_of_the_table(tmp_path, kind):
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    columns = {
        "decimal(10,2)": pa.array([None], pa.decimal128(10, 2)),
        "string": pa.array(["x"]),
        "binary": pa.array([b"x"]),
        "array<int>": pa.array([[1]], pa.list_(pa.int32())),
        "struct<a:bigint>": pa.array([{"a": 1}]),
        "map<string,int>": pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int32())),
        "date": pa.array([moment.date()]),
        "timestamp": pa.array([moment], pa.timestamp("us", "UTC")),
        "timestamp_ntz": pa.array([moment.replace(tzinfo=None)], pa.timestamp("us")),
        "boolean": pa.array([True]),
        "float": pa.array([1.5], pa.float32()),
    }
    names = [f"c{number}" for number in range(len(columns))]
    rows = pa.table(dict(zip(names, columns.values(), strict=True)))
    if kind == "Delta":
        write_deltalake(tmp_path / "table", rows)
        folder = tmp_path / "table"
    else:
        history = IcebergHistory(tmp_path / "lake", 1)
        history.catalog.create_table("survey.types", rows.schema).append(rows)
        history.close()
        folder = next((tmp_path / "lake").glob("warehouse/**/types"))
    assert [str(column.type) for column in at(folder).columns] == list(columns)


# --- what the files do not tell is refused by name ---


def edit_commit(folder: Path, change: object, version: int = 0) -> None:
    """Change the actions of a commit."""
    commit = folder / f"_delta_log/{version:020}.json"
    actions = [json.loads(line) for line in commit.read_text().splitlines()]
    commit.write_text("\n".join(json.dumps(action) for action in map(change, actions)))


def encode_z85(content: bytes) -> str:
    """Text in the alphabet in which Delta writes bytes into its log."""
    alphabet = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
    text = ""
    for start in range(0, len(content), 4):
        number = int.from_bytes(content[start : start + 4].ljust(4, b"\0"), "big")
        text += "".join(alphabet[number // 85**place % 85] for place in (4, 3, 2, 1, 0))
    return text


def test_deletion_vectors_are_refused(tmp_path):
    write_deltalake(tmp_path / "stars", pa.table({"id": list(range(10))}))
    bits = (1681511377).to_bytes(4, "little") + BitMap64([2, 3]).serialize()
    vector = {"storageType": "i", "pathOrInlineDv": encode_z85(bits), "sizeInBytes": len(bits), "cardinality": 2}

    def change(action: dict) -> dict:
        if "protocol" in action:
            features = {"readerFeatures": ["deletionVectors"], "writerFeatures": ["deletionVectors"]}
            return {"protocol": {"minReaderVersion": 3, "minWriterVersion": 7, **features}}
        if "add" in action:
            action["add"]["deletionVector"] = vector
        return action

    edit_commit(tmp_path / "stars", change)
    assert pa.table(DeltaTable(tmp_path / "stars").scan()).num_rows == 8
    with pytest.raises(BaseFilesError, match="has deletion vectors, in version 0 for 1 of its files") as refused:
        at(tmp_path / "stars")
    assert "PURGE" in refused.value.hint


def test_unused_deletion_vectors_are_no_obstacle(tmp_path):
    write_deltalake(tmp_path / "stars", pa.table({"id": [1]}), configuration={"delta.enableDeletionVectors": "true"})
    assert read_rows(at(tmp_path / "stars")) == Counter([(1,)])


def test_column_mapping_and_unknown_features_are_refused(tmp_path):
    write_deltalake(tmp_path / "stars", pa.table({"id": [1]}))

    def map_columns(action: dict) -> dict:
        if "metaData" in action:
            action["metaData"]["configuration"]["delta.columnMapping.mode"] = "name"
            schema = json.loads(action["metaData"]["schemaString"])
            for number, field in enumerate(schema["fields"]):
                field["metadata"] = {"delta.columnMapping.id": number, "delta.columnMapping.physicalName": "col-1"}
            action["metaData"]["schemaString"] = json.dumps(schema)
        if "protocol" in action:
            action["protocol"] = {"minReaderVersion": 2, "minWriterVersion": 5}
        return action

    edit_commit(tmp_path / "stars", map_columns)
    with pytest.raises(BaseFilesError, match="column mapping by name"):
        at(tmp_path / "stars")
    write_deltalake(tmp_path / "wide", pa.table({"id": [1]}))

    def widen(action: dict) -> dict:
        if "protocol" in action:
            features = {"readerFeatures": ["typeWidening"], "writerFeatures": ["typeWidening"]}
            action["protocol"] = {"minReaderVersion": 3, "minWriterVersion": 7, **features}
        return action

    edit_commit(tmp_path / "wide", widen)
    with pytest.raises(BaseFilesError, match="typeWidening"):
        at(tmp_path / "wide")


@pytest.mark.parametrize("values", [[1.5], [datetime(2026, 1, 1, tzinfo=UTC)]], ids=["double", "timestamp"])
def test_partition_columns_whose_texts_may_be_read_differently_are_refused(tmp_path, values):
    write_deltalake(tmp_path / "stars", pa.table({"id": [1], "part": values}), partition_by=["part"])
    with pytest.raises(BaseFilesError, match="is partitioned by part, of the type"):
        at(tmp_path / "stars")


def test_values_that_spark_would_read_differently_from_folders_are_refused(tmp_path):
    write_deltalake(tmp_path / "stars", pa.table({"id": [1], "name": ["ü"]}), partition_by=["name"])
    with pytest.raises(BaseFilesError, match="not those that Spark reads"):
        at(tmp_path / "stars")


def test_folders_of_an_unpartitioned_table_mean_nothing(tmp_path):
    folder = tmp_path / "stars"
    write_deltalake(folder, pa.table({"id": [1]}))
    (name,) = (path.name for path in folder.glob("*.parquet"))
    (folder / "year=2026").mkdir()
    (folder / name).rename(folder / "year=2026" / name)

    def change(action: dict) -> dict:
        if "add" in action:
            action["add"]["path"] = f"year=2026/{name}"
        return action

    edit_commit(folder, change)
    assert [column.name for column in at(folder).columns] == ["id"]
    assert read_rows(at(folder)) == count_rows(pa.table(DeltaTable(folder).scan()))


@pytest.mark.parametrize("change", ["rename", "again", "wider"])
def test_changed_columns_of_iceberg_are_refused(tmp_path, change):
    from pyiceberg.types import DoubleType, LongType  # noqa: PLC0415 - slow to import

    history = IcebergHistory(tmp_path / "lake", 3)
    if change == "again":
        history.table.update_schema().delete_column("mag").commit()
        history.table.update_schema().add_column("mag", DoubleType()).commit()
        expected = "has dropped the column mag"
    elif change == "rename":
        history.table.update_schema().rename_column("mag", "magnitude").commit()
        expected = "has renamed mag, as the file .* has it, to magnitude"
    else:
        history.table.update_schema().update_column("night", LongType()).commit()
        expected = "has the column night as a bigint, and as a int in the file"
    with pytest.raises(BaseFilesError, match=expected):
        at(history.folder)
    history.close()


def test_a_dropped_column_of_iceberg_is_not_read(tmp_path):
    history = IcebergHistory(tmp_path / "lake", 3)
    history.table.update_schema().delete_column("mag").commit()
    assert [column.name for column in at(history.folder).columns] == ["id", "night"]
    history.close()


def test_delete_files_of_iceberg_are_refused(tmp_path, monkeypatch):
    from pyiceberg.manifest import DataFileContent, ManifestFile  # noqa: PLC0415 - slow to import

    history = IcebergHistory(tmp_path / "lake", 4)
    fetch = ManifestFile.fetch_manifest_entry

    def fetch_deletes(self: object, io: object, discard_deleted: bool = True) -> list:
        entries = fetch(self, io, discard_deleted)  # no library here writes delete files
        for entry in entries:
            entry.data_file._data[0] = DataFileContent.POSITION_DELETES
        return entries

    monkeypatch.setattr(ManifestFile, "fetch_manifest_entry", fetch_deletes)
    with pytest.raises(BaseFilesError, match=r"has delete files \(position deletes"):
        at(history.folder)
    history.close()


def test_two_newest_metadata_files_are_refused_until_one_is_named(tmp_path):
    history = IcebergHistory(tmp_path / "lake", 5)
    newest = Path(history.table.metadata_location.removeprefix("file://"))
    other = newest.with_name(newest.name[:6] + "00000000-0000-4000-8000-000000000000.metadata.json")
    shutil.copy(newest, other)
    with pytest.raises(BaseFilesError, match="has 2 newest metadata files"):
        at(history.folder)
    assert at(newest).row_count == history.read().num_rows
    (newest.parent / "version-hint.text").write_text(newest.name.removesuffix(".metadata.json"))
    assert at(history.folder).row_count == history.read().num_rows
    history.close()


def test_versions_are_asked_for_sensibly(tmp_path):
    history = DeltaHistory(tmp_path / "stars", 1)
    with pytest.raises(BaseFilesError, match="has no version 7") as refused:
        at(history.folder, 7)
    assert "there are 0" in refused.value.hint
    with pytest.raises(BaseFilesError, match="either a version or a time"):
        find_snapshot(history.folder, version=0, when="2026-01-01")
    with pytest.raises(BaseFilesError, match="expected a time, got 'noon'"):
        find_snapshot(history.folder, when="noon")
    with pytest.raises(BaseFilesError, match="is not a table of Delta or Iceberg"):
        find_snapshot(tmp_path, version=1)
    with pytest.raises(BaseFilesError, match="there is no table of Iceberg"):
        find_snapshot(history.folder, "iceberg")
    with pytest.raises(BaseFilesError, match="already have a schema"):
        Files.at(history.folder, schema={"id": "int"})


@pytest.mark.parametrize("kind", ["Delta", "Iceberg"])
def test_a_missing_library_is_named(tmp_path, monkeypatch, kind):
    folder = make_table(kind, tmp_path)
    library = {"Delta": "deltalake", "Iceberg": "pyiceberg"}[kind]
    for name in [name for name in sys.modules if name.partition(".")[0] == library]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(BaseFilesError, match=f"needs {library}, which is not installed") as refused:
        at(folder)
    assert refused.value.hint == "pip install 'provenn[lakehouse]'"


# --- a log of somebody else ---


def make_table(kind: str, folder: Path) -> Path:
    """A table with three versions."""
    history = (DeltaHistory if kind == "Delta" else IcebergHistory)(folder / "lake", 8)
    for _ in range(2):
        history.step(("append",))
    if kind == "Iceberg":
        history.close()
    return history.folder


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "file:///etc/passwd", "s3://bucket/x.parquet", "../x.parquet", "a/%2E%2E/%2E%2E/x"]
)
def test_a_path_out_of_the_table_is_refused(tmp_path, path):
    folder = make_table("Delta", tmp_path)

    def change(action: dict) -> dict:
        if "add" in action:
            action["add"]["path"] = path
        return action

    edit_commit(folder, change)
    with pytest.raises(BaseFilesError, match=r"outside the folder of the table|cannot be read"):
        at(folder)


def test_names_that_spark_skips_are_refused(tmp_path):
    folder = make_table("Delta", tmp_path)

    def change(action: dict) -> dict:
        if "add" in action:
            action["add"]["path"] = "_hidden/part.parquet"
        return action

    edit_commit(folder, change)
    with pytest.raises(BaseFilesError, match="does not read names that begin with _"):
        at(folder)


def test_iceberg_metadata_lead_nowhere_else_and_name_no_code(tmp_path):
    folder = make_table("Iceberg", tmp_path)
    newest = max((folder / "metadata").glob("*.metadata.json"))
    good = json.loads(newest.read_text())
    for address in ("file:///etc/passwd", "s3://bucket/list.avro", f"{good['location']}/../list.avro", "/etc/passwd"):
        bad = json.loads(newest.read_text())
        for snapshot in bad["snapshots"]:
            snapshot["manifest-list"] = address
        newest.write_text(json.dumps(bad))
        with pytest.raises(BaseFilesError, match="outside the folder of the table"):
            at(folder)
    newest.write_text(json.dumps(good | {"properties": {"py-io-impl": "antigravity.Anything"}}))
    assert at(folder).row_count
    assert "antigravity" not in sys.modules


@pytest.mark.parametrize("kind", ["Delta", "Iceberg"])
def test_a_link_in_a_log_that_leads_out_of_the_table_is_refused(tmp_path, kind):
    folder = make_table(kind, tmp_path)
    log = folder / ("_delta_log" if kind == "Delta" else "metadata")
    for path in sorted(log.iterdir()):
        outside = tmp_path / path.name
        path.rename(outside)
        path.symlink_to(outside)
    with pytest.raises(BaseFilesError, match="leads out of the"):
        at(folder)


def test_a_server_reads_no_data_file_that_is_a_link_out_of_its_folders(tmp_path):
    folder = make_table("Delta", tmp_path)
    base = Base.of(at(folder), key="id", population="star")
    check_roots([base], (str(tmp_path / "lake"),))
    name = base.files.fingerprints[0][0]
    (folder / name).rename(tmp_path / "outside.parquet")
    (folder / name).symlink_to(tmp_path / "outside.parquet")
    with pytest.raises(BaseFilesError, match="this server may not read"):
        check_roots([base], (str(tmp_path / "lake"),))


def test_notes_of_somebody_else_lead_to_no_other_files(tmp_path):
    folder = make_table("Delta", tmp_path)
    identity, notes = encode_files(at(folder))
    assert restore_files(identity, notes).table == "Delta 2"
    for junk in (5, None, ["Delta 2"], "Delta 2\x1b[2J", "delta"):
        assert restore_files(identity, notes | {"table": junk}).table == ""
    for name in ("../../etc/passwd", "/etc/passwd", ""):
        stolen = restore_files(identity, notes | {"fingerprints": {name: "blake3:00"}})
        for read in (stolen.check, stolen.list_own_files):
            with pytest.raises(BaseFilesError, match="leads out of"):
                read()


def test_an_imported_definition_reads_the_files_of_its_version(tmp_path):
    folder = make_table("Delta", tmp_path)
    file = tmp_path / "portable.jsonl.gz"
    with provenn.open(tmp_path / "mine") as archive:
        archive.ingest("stars", folder, key="id", population="star", version=1)
        archive.export_definitions(file)
    with provenn.open(tmp_path / "yours") as archive:
        archive.import_definitions(file)
        files = archive["stars"].definition.files
    assert (files.table, files.fingerprints) == ("Delta 1", at(folder, 1).fingerprints)
    files.check()


# --- damage ---


@pytest.mark.filterwarnings("ignore:Encountered invalid snapshot summary")
@pytest.mark.parametrize("seed", repeat_a_few(range(40), 10))
@pytest.mark.parametrize("kind", ["Delta", "Iceberg"])
def test_a_damaged_log_is_an_error_that_names_it_or_changes_nothing(tmp_path, kind, seed):
    folder = make_table(kind, tmp_path)
    expected = {version: read_rows(at(folder, version)) for version in list_versions(kind, folder)}
    chance = random.Random(seed)
    log = sorted((folder / ("_delta_log" if kind == "Delta" else "metadata")).iterdir())
    file = chance.choice([path for path in log if path.is_file()])
    content = bytearray(file.read_bytes())
    damage = chance.choice(["cut", "flip", "zero"])
    if damage == "cut":
        content = content[: chance.randrange(len(content))]
    for _ in range(3):
        if damage != "cut":
            place = chance.randrange(len(content))
            content[place] = 0 if damage == "zero" else content[place] ^ 1 << chance.randrange(8)
    file.write_bytes(content)
    problem, rows = "", Counter()
    try:
        rows = read_rows(at(folder))
    except BaseFilesError as error:
        problem = str(error)
    assert not problem or str(folder) in problem
    # A log has no checksums. What is left may be a whole log of fewer actions, as if the last ones were never written.
    whole = expected[max(expected, key=lambda version: expected[version].total())]
    assert rows <= whole


def list_versions(kind: str, folder: Path) -> list[int]:
    if kind == "Delta":
        return list(range(DeltaTable(folder).version() + 1))
    newest = json.loads(max((folder / "metadata").glob("*.metadata.json")).read_text())
    return [snapshot["snapshot-id"] for snapshot in newest["snapshots"]]


def test_a_gap_in_the_log_is_named(tmp_path):
    folder = make_table("Delta", tmp_path)
    (folder / "_delta_log/00000000000000000001.json").unlink()
    with pytest.raises(BaseFilesError, match="the commit of version 1 is missing"):
        at(folder)


@pytest.mark.parametrize("kind", ["Delta", "Iceberg"])
def test_missing_and_truncated_data_files_are_named(tmp_path, kind):
    folder = make_table(kind, tmp_path)
    files = at(folder)
    name = files.fingerprints[0][0]
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content[:-1])
    with pytest.raises(BaseFilesError, match="bytes, and the log of the table says"):
        at(folder)
    (folder / name).unlink()
    with pytest.raises(BaseFilesError, match=r"is missing from .*, though the log of the table has it") as missing:
        at(folder)
    assert "VACUUM" in missing.value.hint
    with pytest.raises(FilesMissingError, match=f"{Path(name).name[:20]}.* is missing"):
        files.check()


# --- rewritten files ---


@pytest.mark.parametrize("seed", repeat_a_few(range(12), 4))
def test_former_files_have_the_rows_of_the_files_they_were_rewritten_to(tmp_path, seed):
    history = DeltaHistory(tmp_path / "stars", seed, partitioned=seed % 2 == 1)
    chance, shared = random.Random(seed), 0
    history.extra = {}
    for _ in range(9):
        history.step(("append", "append", "delete", "merge", "compact", "compact", "order"))
    for _ in range(12):
        earlier, later = sorted(chance.sample(range(history.version + 1), 2))
        old, new = (find_snapshot(history.folder, version=version) for version in (earlier, later))
        found = find_shared_files(new.names, read_rewrites(new).rewrites, old.names)
        assert found.names <= new.names | old.names
        assert len(found.names & old.names) >= len(new.names & old.names)
        rows = Counter()
        for name in found.names:
            rows += read_rows(Files.at(history.folder, snapshot=old if name in old.names else new, names=[name]))
        names = sorted(make_rows([]).column_names)
        expected = history.read(later)
        if not {"colour"} & set(expected.column_names):
            assert rows == count_rows(expected.select(names)), (earlier, later)
        shared += bool(found.rewrites)


def test_a_compaction_is_undone_and_a_change_of_rows_is_not(tmp_path):
    history = DeltaHistory(tmp_path / "stars", 0)
    for name in ("append", "append", "compact"):
        history.step((name,))
    before, after = (find_snapshot(history.folder, version=version) for version in (2, 3))
    assert not before.names & after.names
    found = find_shared_files(after.names, read_rewrites(after).rewrites, before.names)
    assert (found.names, found.rewrites) == (before.names, (3,))
    write_deltalake(history.folder, history.read(), mode="overwrite")  # the same rows, but the log does not say so
    newest = find_snapshot(history.folder)
    assert find_shared_files(newest.names, read_rewrites(newest).rewrites, before.names).rewrites == ()


def test_a_compaction_of_iceberg_is_known_by_its_operation(tmp_path):
    history = IcebergHistory(tmp_path / "lake", 6)
    history.step(("append",))
    before = find_snapshot(history.folder)
    history.step(("compact",))
    newest = find_snapshot(history.folder)
    found = find_shared_files(newest.names, read_rewrites(newest).rewrites, before.names)
    assert (found.names, found.rewrites) == (before.names, (newest.version,))
    history.step(("append",))
    grown = find_snapshot(history.folder)
    assert find_shared_files(grown.names, read_rewrites(grown).rewrites, before.names).names > before.names
    history.step(("delete",))
    history.close()
