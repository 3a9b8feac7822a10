"""What is published is on the disk before it has its name, and has its name before a transaction refers to it."""

import ast
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sqlalchemy import Engine, event

import provenn
from provenn import durable
from provenn.catalogs.calculators.allowed import allow
from provenn.cli.output import write_svg
from provenn.cli.output_files import open_output_file
from provenn.data.conversions import keep_conversion
from provenn.demo.settling import prepare_stars
from provenn.sky import moc
from provenn.spark.cache import write_atomically
from tests.sky.large_mocs import survey_rectangle
from tests.sound import make_archive, play_store, write_stars

SOURCE = Path(provenn.__file__).parent


# --- the order of what reaches the disk ---


@dataclass
class Disk:
    """Takes note of what is flushed, named and committed, in order, and of what a power cut would lose."""

    flushed: dict[str, int] = field(default_factory=dict)
    names: int = 0
    waiting: set[str] = field(default_factory=set)
    lost: list[str] = field(default_factory=list)

    def flush(self, path: str) -> None:
        self.flushed[path] = Path(path).stat().st_mtime_ns
        self.waiting.discard(path)

    def name(self, source: str, target: str) -> None:
        for path in [Path(source), *Path(source).rglob("*")]:
            if path.is_file() and self.flushed.get(str(path)) != path.stat().st_mtime_ns:
                self.lost.append(f"{path} was not flushed before it became {target}")
        self.names += 1
        self.waiting.add(str(Path(target).parent.resolve()))

    def commit(self) -> None:
        self.lost += [f"a transaction was committed before the names in {path} were flushed" for path in self.waiting]


@pytest.fixture
def disk(monkeypatch):
    """All of it is noted, whoever does it."""
    disk = Disk()
    for name in ("rename", "replace", "link"):
        real = getattr(os, name)

        def act(source, target, *arguments, real=real, **options):
            disk.name(str(Path(source).parent.resolve() / Path(source).name), str(Path(target).absolute()))
            real(source, target, *arguments, **options)

        monkeypatch.setattr(os, name, act)
    fsync = os.fsync

    def flush(descriptor):
        fsync(descriptor)
        disk.flush(str(Path(f"/proc/self/fd/{descriptor}").readlink()))

    monkeypatch.setattr(os, "fsync", flush)

    def commit(_connection):
        disk.commit()

    event.listen(Engine, "commit", commit)
    yield disk
    event.remove(Engine, "commit", commit)


@pytest.fixture
def archive(tmp_path):
    with provenn.open(tmp_path / "survey", who="ada") as archive:
        yield archive


def give_table(archive, _folder):
    archive.ingest("given", pa.table({"id": [1, 2], "x": [1.5, 2.5]}), key="id", population="star")


def keep_moc(archive, folder):
    table = pa.table({"hip": [1], "ra": [1.0], "dec": [2.0]})
    pq.write_table(table, folder / "sky.parquet")
    sky = archive.ingest("sky", folder / "sky.parquet", key="hip", population="star")
    sky.select(moc(survey_rectangle(11)), name="survey")


def keep_converted(archive, _folder):
    store = archive.context.workshop.folder
    temporary = store.new_temporary_address()
    pq.write_table(pa.table({"x": [1]}), temporary)
    keep_conversion(store, temporary, "a" * 64, "b" * 64)


def store_parts(archive, folder):
    store = archive.context.workshop.folder
    temporary = Path(store.new_temporary_address())
    (temporary / "inner").mkdir(parents=True)
    for name in ("part-0.parquet", "inner/part-1.parquet"):
        pq.write_table(pa.table({"x": [1]}), temporary / name)
    store.publish(str(temporary), "fragments", "parts")
    stars = archive.ingest("stars", write_stars(folder), key="hip", population="star")
    play_store(archive.context.database, store, stars.definition, "played")


def export(archive, folder):
    archive.ingest("stars", write_stars(folder), key="hip", population="star")
    archive.export_definitions(folder / "all.provenn")


def back_up(_archive, folder):
    make_archive(folder / "whole")
    with provenn.open(folder / "whole", who="ada") as whole:
        give_table(whole, folder)
        whole.backup(folder / "new" / "copy", data=True)


def write_report(_archive, folder):
    with open_output_file(folder / "report.html", overwrite=False) as file:
        file.write("x" * 100)
    with open_output_file(folder / "report.html", overwrite=True) as file:
        file.write("y" * 100)


def write_picture(_archive, folder):
    write_svg("<svg/>", folder / "picture.svg", overwrite=False)


def allow_module(_archive, _folder):
    allow("a.module.of.mine")


def write_cache(_archive, folder):
    write_atomically(folder / "cache" / "java", "exec java", 0o755)


def settle_demo(_archive, folder):
    prepare_stars(folder / "demo", offline=True, stars=50)


PUBLISHERS: list[Callable] = [
    *(give_table, keep_moc, keep_converted, store_parts, export, back_up, write_report, write_picture),
    *(allow_module, write_cache, settle_demo),
]


@pytest.mark.parametrize("publish", PUBLISHERS, ids=[publisher.__name__ for publisher in PUBLISHERS])
def test_a_power_cut_loses_nothing_that_has_a_name(disk, archive, tmp_path, monkeypatch, publish):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    publish(archive, tmp_path)
    disk.commit()
    assert disk.names > 0, "so that something is tried"
    assert disk.lost == []


def test_the_order_is_noticed_where_it_is_wrong(disk, tmp_path):
    """So that the tests above can fail."""
    (tmp_path / "a").write_text("a")
    (tmp_path / "a").rename(tmp_path / "b")
    disk.commit()
    assert len(disk.lost) == 2
    durable.write_durably(tmp_path / "c", b"c")
    disk.commit()
    assert len(disk.lost) == 2


def test_a_folder_made_on_the_way_is_on_the_disk_as_well(disk, tmp_path):
    durable.make_folders(tmp_path / "a" / "b" / "c")
    assert {str(tmp_path), str(tmp_path / "a"), str(tmp_path / "a" / "b")} <= disk.flushed.keys()


def test_nothing_is_replaced_unless_that_is_meant(tmp_path):
    (tmp_path / "new").write_text("new")
    (tmp_path / "there").write_text("there")
    with pytest.raises(FileExistsError):
        durable.publish_new(tmp_path / "new", tmp_path / "there")
    assert (tmp_path / "there").read_text() == "there"
    durable.publish_over(tmp_path / "new", tmp_path / "there")
    assert (tmp_path / "there").read_text() == "new"
    assert not (tmp_path / "new").exists()


def test_a_file_system_without_links_will_do(tmp_path, monkeypatch):
    def no_links(*_arguments):
        raise PermissionError(1, "no links here")

    monkeypatch.setattr(os, "link", no_links)
    (tmp_path / "new").write_text("new")
    durable.publish_new(tmp_path / "new", tmp_path / "file")
    assert (tmp_path / "file").read_text() == "new"
    (tmp_path / "new").write_text("newer")
    with pytest.raises(FileExistsError):
        durable.publish_new(tmp_path / "new", tmp_path / "file")


# --- nobody goes another way ---

NAMING = {"replace", "rename", "link", "symlink", "renames", "move"}
WRITING = {"write_text", "write_bytes", "open_output_stream", "copyfile", "copy", "copy2", "copytree", "copy_files"}
WRITING |= {"write_table", "ParquetWriter", "touch"}
TEMPORARY = {"NamedTemporaryFile", "mkstemp"}

EXPECTED = {
    "spark/tables/part_headers.py: move": "a part in a hidden folder, which is published when it is complete",
    "spark/tables/part_headers.py: open_output_stream": "the same",
    "durable.py": "it is the module that publishes",
    "files/data_folder.py: move": "of file systems that are not local: no fsync, and a closed object is there",
    "spark/placing.py: move": "the same, of what is exported",
    "data/given_tables.py: open_output_stream": "to a temporary place, then `publish_file`",
    "data/given_tables.py: ParquetWriter": "to a temporary place, then `publish_file`",
    "files/snapshots.py: write_table": "into memory",
    "data/given_tables.py: write_table": "to a temporary place, then `publish_file`",
    "definitions/moc_files.py: open_output_stream": "to a temporary place, then `publish_file`",
    "transfer/backup_manifests.py: open_output_stream": "to a store that is not local; on a disk `write_durably`",
    "transfer/verified_copies.py: open_output_stream": "then `flush_tree`; nothing refers to it before the end",
    "data/leftovers.py: write_bytes": "the mark in a hidden folder: it is needed only while the machine runs",
    "spark/empty_files.py: open_output_stream": "in a hidden folder, then `publish`",
    "spark/writing.py: open_output_stream": "in a hidden folder, then `publish`",
    "spark/tables/hats_folder.py: open_output_stream": "in a hidden folder, then `publish`",
    "spark/tables/hats_folder.py: ParquetWriter": "in a hidden folder, then `publish`",
    "spark/tables/hats_folder.py: write_table": "into memory",
    "spark/tables/converting.py: ParquetWriter": "to a temporary place, then `keep_conversion`",
    "spark/tables/converting.py: write_table": "to a temporary place, then `keep_conversion`",
    "spark/tables/parquet_file.py: ParquetWriter": "into a stream in a hidden folder, then `publish`",
    "spark/tables/parquet_file.py: write_table": "into a stream in a hidden folder, then `publish`",
    "spark/make_class_archive.py: touch": "a lock, which holds nothing",
    "spark/warm/keeper.py: open": "a lock, which holds nothing",
    "spark/warm/asking.py: open": "the same, and a log that people read",
    "spark/warm/worker_side.py: touch": "a mark in a folder of a command: it is needed only while the command runs",
    "demo/layout.py: write_table": "into a folder that `publish_new` or a file that `publish_over` gives its name",
    "demo/settling.py: copyfile": "into a folder that `publish_new` gives its name",
    "archive/definition_files.py: open": "in a hidden folder, then `publish_new`",
    "cli/output_files.py: open": "in a hidden folder, then `publish_new` or `publish_over`",
    "cli/output.py: write_bytes": "into a pipe or a terminal",
    "cli/checks/places.py: NamedTemporaryFile": "tries whether a place can be written, and is deleted",
    "catalogs/opaque_text.py: replace": "a node of a syntax tree",
    "queries/reading_context.py: replace": "a node of a syntax tree",
    "queries/query_writing.py: replace": "a node of a syntax tree",
    "queries/renumbering.py: replace": "a node of a syntax tree",
    "queries/reading_expressions.py: replace": "a node of a syntax tree",
    "queries/reading_groups.py: replace": "a node of a syntax tree",
    "queries/adql_arguments.py: replace": "a node of a syntax tree",
    "queries/adql_expressions.py: replace": "a node of a syntax tree",
    "queries/reading_units.py: replace": "a node of a syntax tree",
    "queries/reading_windows.py: replace": "a node of a syntax tree",
    "queries/sky_expressions.py: replace": "a node of a syntax tree",
    "queries/tree_types.py: replace": "a node of a syntax tree",
    "tap/answer_files.py: open": "the answer of a job, in a folder that is deleted with the job",
    "tap/answer_files.py: write_table": "the same",
    "tap/upload.py: write_table": "an uploaded table, in the folder of a job",
    "web/tap_jobs.py: replace": "parameters of a job",
    "web/tap_jobs.py: write_bytes": "an uploaded table, in the folder of a job",
    "web/tap_running.py: write_bytes": "the same",
    "queries/query_writing.py: write_table": "a method that writes the name of a table",
}
"""Where else files are named or written, and why that is right."""


def ways(path: Path):
    """Yield how a module names or writes files."""
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        name = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
        if name in NAMING and isinstance(called, ast.Attribute):
            owner = ast.unparse(called.value)
            # Texts are replaced with two arguments, moments with keywords; files are named with one or by `os`.
            if owner in ("os", "shutil", "filesystem") or (len(node.args) == 1 and not node.keywords):
                yield name, node
        elif (
            (name in WRITING and isinstance(called, ast.Attribute))
            or (name in TEMPORARY)
            or (name == "open" and _writes(node))
        ):
            yield name, node


def _writes(node: ast.Call) -> bool:
    arguments = [
        argument.value
        for argument in (*node.args, *(word.value for word in node.keywords))
        if isinstance(argument, ast.Constant)
    ]
    return any(isinstance(text, str) and len(text) <= 3 and set(text) & set("wax+") for text in arguments)


def test_every_file_is_published_by_one_module():
    """Code that renames or writes a file in place fails here: it goes through `provenn.durable`, or says why not."""
    seen, unexpected = set(), []
    for path in sorted(SOURCE.rglob("*.py")):
        place = str(path.relative_to(SOURCE))
        for name, node in ways(path):
            if place == "durable.py" or _is_elsewhere(name, node):
                continue
            seen.add(f"{place}: {name}")
            if f"{place}: {name}" not in EXPECTED:
                unexpected.append(f"{place}:{node.lineno} calls {name}")
    assert unexpected == []
    assert EXPECTED.keys() - seen == {"durable.py"}, "what is not needed any more goes from the list"


def _is_elsewhere(name: str, node: ast.Call) -> bool:
    """Whether a call has such a name and concerns no file: of catalogs, sets, tables of a terminal, values."""
    text = ast.unparse(node.func)
    if name == "rename":
        return not text.startswith("os.")
    if name in ("copy", "replace"):
        return not text.startswith(("os.", "shutil.")) and not _names_file(node)
    return False


def _names_file(node: ast.Call) -> bool:
    """Whether `x.replace(y)` can only be a path: a dataclass is replaced with keywords, a text with two arguments."""
    return isinstance(node.func, ast.Attribute) and node.func.attr == "replace" and len(node.args) == 1
