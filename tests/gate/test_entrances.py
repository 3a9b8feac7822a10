"""Every way in for data of others is known, and attacked: a new one that is not fails here."""

import asyncio
import gzip
import io
import sys
from collections.abc import Callable, Iterator
from inspect import isabstract
from pathlib import Path

import pytest
import typer
from fastapi import APIRouter, FastAPI, Request
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient

import provenn
from provenn import cli
from provenn.catalogs import Catalog, calculator_from
from provenn.catalogs.calculators import Calculator
from provenn.catalogs.opaque_text import read_condition, read_query
from provenn.catalogs.restoring import restore
from provenn.catalogs.verbs import CLASSES
from provenn.criteria import syntax
from provenn.dbt.column_types import read_seed_columns
from provenn.dbt.manifest import read_manifest
from provenn.dbt.other_versions import compare_folders
from provenn.errors import DefinitionError, FileError, ProvennError
from provenn.files import suffixes
from provenn.files.data_folder import DataFolder
from provenn.files.table_logs import find_snapshot
from provenn.gate.entrances import ENTRANCES, entrance
from provenn.gate.formats import FORMATS, check_table_provider
from provenn.logic import statement
from provenn.logic.parser import parse_set
from provenn.look.allowance import Allowance
from provenn.look.base_rows import read_base_rows
from provenn.samp.listening import _read_request
from provenn.spark.reading import read_base
from provenn.spark.tables.converting import CONVERTIBLE
from provenn.tap.fetching import fetch_table
from provenn.tap.upload import convert_upload
from provenn.transfer.portable_files import KINDS, write_lines
from provenn.web.accounts import Accounts
from provenn.web.app import create_app
from provenn.web.tap_requests import read_request
from tests.gate import code_attacks
from tests.gate.bombs import BOMBS
from tests.gate.format_attacks import changed_base
from tests.gate.inspection import import_everything, reading_modules
from tests.gate.ways_in import BEHIND, COMMANDS

import_everything()


def known(text: str) -> bool:
    """Whether a way in is one, or the data are not those of others."""
    return text in ENTRANCES or text.startswith("own: ")


# --- found by inspection ---


def test_every_module_that_reads_is_a_way_in_or_says_by_which_its_data_come():
    homes = {item.place.partition(":")[0] for item in ENTRANCES.values()}
    result = reading_modules()
    missing = {name: calls for name, calls in result.items() if name not in homes and name not in BEHIND}
    assert not missing, "mark what reads data of others with @entrance, or add a line to tests/gate/ways_in.py"
    assert not set(BEHIND) - set(result), "these do not read any more"
    assert not [name for name, method in BEHIND.items() if not known(method)]


def test_every_command_that_names_a_file_says_by_which_way_it_comes():
    results = {
        f"{name} {parameter.name}"
        for name, command in commands(typer.main.get_command(cli.app))
        for parameter in command.params
        if parameter.name != "archive_path" and names_file(parameter)
    }
    assert results == set(COMMANDS), "add what is new to tests/gate/ways_in.py"
    assert not [name for name, method in COMMANDS.items() if not known(method)]


def names_file(parameter: object) -> bool:
    text = f"{parameter.metavar} {parameter.type_descriptor}"
    return any(word in text for word in ("FILE", "PATH", "FOLDER", "PLACE", "Path"))


def commands(command: object, path: tuple[str, ...] = ()) -> Iterator[tuple[str, object]]:
    inner = getattr(command, "commands", None)
    if inner is None:
        yield " ".join(path), command
        return
    for name, item in inner.items():
        yield from commands(item, (*path, name))


def test_every_page_that_takes_a_body_is_a_way_in():
    places = {item.place for item in ENTRANCES.values()}
    modules = [module for name, module in sys.modules.items() if name.startswith("provenn.web.")]
    routers = [value for module in modules for value in vars(module).values() if isinstance(value, APIRouter | FastAPI)]
    routes = [route for router in routers for route in router.routes if isinstance(route, APIRoute)]
    taking = {route.endpoint for route in routes if route.body_field}
    assert len(taking) >= 3
    assert not [item for item in taking if f"{item.__module__}:{item.__qualname__}" not in places]


def test_every_format_is_on_the_list_and_has_a_bomb():
    readable = {*suffixes._FORMATS.values()} - {"tsv"} | {*CONVERTIBLE}
    assert readable <= set(FORMATS)
    lit = " ".join(BOMBS).lower()
    assert not [item for item in CONVERTIBLE if item not in lit]


def test_every_class_of_catalogs_and_of_calculators_is_restored_by_a_way_in():
    def subclasses(item: type) -> Iterator[type]:
        for inner in item.__subclasses__():
            yield inner
            yield from subclasses(inner)

    concrete = [
        subclass
        for subclass in subclasses(Catalog)
        if subclass.__module__.startswith("provenn.") and not isabstract(subclass)
    ]
    assert {catalog.kind for catalog in concrete} == set(CLASSES)
    results = {subclass.__name__ for subclass in subclasses(Calculator) if subclass.__module__.startswith("provenn.")}
    assert results == {"PythonCalculator", "SqlCalculator", "WindowCalculator"}, "attack the new one, too"


def test_a_way_in_has_one_name_and_makes_a_check():
    with pytest.raises(ValueError, match="makes no check"):
        entrance("nothing")
    with pytest.raises(ValueError, match="are both called 'portable file'"):
        entrance("portable file", "length")(test_a_way_in_has_one_name_and_makes_a_check)


# --- attacked ---


def posted(folder: Path, path: str, **content: object) -> None:
    """Send a body; fail if it is taken."""
    with provenn.open(folder / "sky") as archive:
        app = create_app(archive, accounts=Accounts(archive)) if path == "/login" else create_app(archive)
        with TestClient(app) as client:
            answer = client.post(path, follow_redirects=False, **content)
    if 400 <= answer.status_code < 500:
        raise ProvennError(answer.text)


def asked(folder: Path) -> None:
    with provenn.open(folder / "sky") as archive:
        _read_request(archive, {"start_catalog": ["x"], "query": 5, "attributes": {}})


def loaded(folder: Path) -> None:
    with code_attacks.allowed_module(folder) as file:
        message = code_attacks.definition(f"{code_attacks.MODULE}:rebound", code_attacks.source_of(file))
        calculator_from(message).load()


def read_by_spark(folder: Path) -> None:
    """Nothing of Spark is needed for it to be refused."""
    read_base(None, changed_base(folder, format="jdbc"), DataFolder.of(folder / "data"))


def logged(folder: Path) -> None:
    """Metadata of a table of some kilobytes, too long unpacked."""
    (folder / "lake" / "metadata").mkdir(parents=True)
    with gzip.open(folder / "lake" / "metadata" / "v1.gz.metadata.json", "wb") as file:
        for _ in range(65):
            file.write(b" " * 2**20)
    find_snapshot(folder / "lake")


def written(folder: Path, name: str, content: bytes) -> Path:
    """Write a file of somebody else."""
    file = folder / name
    file.write_bytes(content)
    return file


def read_without_spark(folder: Path) -> None:
    base = changed_base(folder, format="jdbc")
    next(read_base_rows(base, DataFolder.of(folder / "data"), {}, [], Allowance()))


def _make_long_request() -> Request:
    scope = {"type": "http", "method": "GET", "headers": [], "query_string": b"QUERY=" + b"x" * 600_000}
    return Request(scope)


def _write_laughs(folder: Path) -> Path:
    path = folder / "upload"
    path.write_text('<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><VOTABLE>&b;</VOTABLE>')
    return path


ATTACKS: dict[str, Callable[[Path], object]] = {
    **dict(BOMBS.values()),
    "base catalog read by Spark": read_by_spark,
    "base catalog read without Spark": read_without_spark,
    "code of a calculator": loaded,
    "criterion or expression": lambda _: syntax.parse("(" * 10**5),
    "opaque SQL": lambda _: read_query("SELECT java_method('java.lang.System', 'exit', 1) FROM input_1", 1),
    "opaque condition": lambda _: read_condition("EXISTS (SELECT 1 FROM parquet.`/etc/passwd`)", 1),
    "definition of a calculator": lambda _: calculator_from(code_attacks.definition("os:path.join")),
    "definition of a catalog": lambda _: restore("Base", {"format": "jdbc"}, {}, []),
    "folder of SQL files": lambda folder: compare_folders(
        written(folder, "bad.sql", b"COPY t FROM '/etc/passwd'").parent, folder
    ),
    "log of a table": logged,
    "fetched VOTable": lambda _: fetch_table("http://127.0.0.1/table", 1000),
    "request to the TAP service": lambda _: asyncio.run(read_request(_make_long_request())),
    "uploaded VOTable": lambda folder: convert_upload("mine", _write_laughs(folder), folder),
    "form for a fact": lambda folder: posted(folder, "/knowledge/declare", data={"statement": "x" * 2001}),
    "form for a name": lambda folder: posted(folder, "/define/name", data={"catalog": "x" * 501}),
    "form for a query": lambda folder: posted(folder, "/define/sql", data={"query": "x", "dialect": "perl"}),
    "form for a retraction": lambda folder: posted(folder, "/knowledge/retract", data={"number": "-1"}),
    "form for a selection": lambda folder: posted(folder, "/define/select", data={"criterion": "x" * 2001}),
    "form for a look at two catalogs": lambda folder: posted(folder, "/compare/look", data={"a": "x" * 501, "b": "b"}),
    "form for a job": lambda folder: posted(folder, "/target/run", data={"sources": "x" * 501, "attributes": "a"}),
    "manifest of dbt": lambda folder: read_manifest(written(folder, "manifest.json", b"[" * 10**6)),
    "request for a job": lambda folder: posted(folder, "/api/jobs", json={"sources": ["x"], "format": "jdbc"}),
    "request of another program": asked,
    "seed of dbt": lambda folder: read_seed_columns(written(folder, "seed.csv", b"id,id\n1\n\xff")),
    "set expression": lambda _: parse_set("__import__('os').system('true')"),
    "statement": lambda _: statement("__import__('os').system('true')"),
    "table of Spark's catalog": lambda _: check_table_provider("jdbc", "t"),
    "token of a stranger": lambda folder: posted(folder, "/login", data={"token": "x" * 501}),
}
"""One attack on each way in, of those that other tests make by the hundred."""


@pytest.mark.parametrize("method", sorted({*ENTRANCES, *ATTACKS}))
def test_every_way_in_is_attacked_and_refuses(method: str, tmp_path: Path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "configuration"))
    assert method in ENTRANCES, "it is none any more"
    assert method in ATTACKS, "attack it here"
    with pytest.raises(ProvennError):
        ATTACKS[method](tmp_path)


JUNK = (None, 5, True, "x", [], [[]], {}, {"x": None}, [None], "\0", {"a": {"b": {"c": [1, "2", None]}}})


@pytest.mark.parametrize("kind", CLASSES)
def test_no_class_of_catalogs_is_restored_from_junk(kind: str):
    tried = 0
    for parameters in JUNK:
        for notes in JUNK:
            with pytest.raises(DefinitionError):
                restore(kind, parameters, notes, [])
            tried += 1
    assert tried == len(JUNK) ** 2


@pytest.mark.parametrize("kind", KINDS)
def test_no_line_of_a_portable_file_is_taken_from_junk(kind: str, tmp_path: Path):
    with provenn.open(tmp_path / "sky") as archive:
        for content in JUNK:
            if isinstance(content, dict):
                file = io.BytesIO()
                write_lines(file, {**dict.fromkeys(KINDS, 0), kind: 1}, [(kind, content)])
                file.seek(0)
                with pytest.raises(FileError, match=f"a {kind}: its|a {kind}: "):
                    archive.import_definitions(file)
        assert archive.matches() == 0
