"""Only formats that are files are read, with options that only say how; the owner widens that by name."""

import io
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

import provenn
from provenn import cli
from provenn.catalogs import Base, Files
from provenn.catalogs.roots import check_roots
from provenn.definitions import catalog_names, catalog_store
from provenn.errors import BaseFilesError, FileError, ProvennError
from provenn.gate import permits
from provenn.gate.formats import FORMATS, check_reading, check_table_provider
from provenn.spark.engine import Engine
from tests.gate import format_attacks
from tests.gate.format_attacks import OPTIONS, VALUES, changed_base, refuse_reading
from tests.gate.portable_files import portable_file


@pytest.fixture(autouse=True)
def configuration(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "configuration"))


def define(archive, base: Base) -> None:
    """Put a catalog into the database as nobody can who uses provenn."""
    with archive.context.database.writing() as writing:
        catalog_store.add_catalogs(writing, base)
        catalog_names.assign_name(writing, "evil", base.digest)


@pytest.mark.parametrize("name", format_attacks.FORMATS)
def test_no_other_format_is_defined_imported_or_read(tmp_path: Path, name: str):
    base = changed_base(tmp_path, format=name, options=())
    assert repr(name) in refuse_reading(base)
    if name not in ("", "PARQUET", "Csv"):  # nobody says a format, or it is another spelling
        with pytest.raises(ProvennError):
            Files.at(base.files.location, format=name, schema={"hip": "bigint"})
    with provenn.open(tmp_path / "victim") as archive:
        with pytest.raises(FileError, match=r"line 2, a definition: definition: .* is in the format") as caught:
            archive.import_definitions(io.BytesIO(portable_file(base)))
        assert "provenn allow format:" in caught.value.hint
        assert archive.matches() == 0
    with pytest.raises(BaseFilesError, match="this server may not read the files"):
        check_roots([base], (str(tmp_path),))


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("format_", ["csv", "json", "parquet", "orc", "text", "fits", "votable", "ecsv", "given"])
def test_no_other_option_is_defined_imported_or_read(tmp_path: Path, format_: str, name: str):
    base = changed_base(tmp_path, format=format_, options=((name, "true"),))
    assert repr(name) in refuse_reading(base)
    if format_ == "csv":
        if name.lower() != "header":
            with pytest.raises(BaseFilesError, match="uses the option"):
                Files.at(base.files.location, options={name: "true"})
        with provenn.open(tmp_path / "victim") as archive, pytest.raises(FileError, match="uses the option"):
            archive.import_definitions(io.BytesIO(portable_file(base)))


@pytest.mark.parametrize(("name", "value"), VALUES)
def test_no_other_value_of_some_options_is_taken(tmp_path: Path, name: str, value: str):
    base = changed_base(tmp_path, options=((name, value),))
    assert f"{name}={value!r}" in refuse_reading(base)
    with pytest.raises(BaseFilesError, match=f"uses {name}="):
        Files.at(base.files.location, options={name: value})


def test_every_listed_option_is_taken():
    for format_, options in FORMATS.items():
        good = {"mode": "FAILFAST", "encoding": "UTF-8", "charset": "UTF-8"}
        check_reading(format_, {name: good.get(name, "x") for name in options}, "it")


def test_the_owner_widens_the_list_by_name_and_nobody_else(tmp_path: Path):
    base = changed_base(tmp_path, format="avro", options=(("recordname", "x"),))
    run = CliRunner().invoke
    assert run(cli.app, ["allow", "format:avro"]).exit_code == 0
    assert "'recordname'" in refuse_reading(base)
    assert run(cli.app, ["allow", "option:recordName"]).stdout == "format:avro\noption:recordname\n"
    base.files.check_allowed()
    assert "'jdbc'" in refuse_reading(changed_base(tmp_path, format="jdbc"))
    assert run(cli.app, ["allow", "--forbid", "format:avro"]).exit_code == 0
    assert "'avro'" in refuse_reading(base)
    permits.allow("*")  # which stands for modules alone
    assert "'avro'" in refuse_reading(base)


@pytest.mark.parametrize("text", ["format:", "option:a b", "expansion:0", "expansion:x", "formats:x", "format:x/y", ""])
def test_what_cannot_be_allowed_is_refused_in_words(text: str):
    done = CliRunner().invoke(cli.app, ["allow", text])
    assert done.exit_code == 2
    assert "format:NAME" in done.output.replace("│", "").replace("\n", "")


def test_the_command_line_refuses_formats_and_options_by_name(tmp_path: Path):
    changed_base(tmp_path)
    run = CliRunner().invoke
    assert run(cli.app, ["init", str(tmp_path / "sky")]).exit_code == 0
    ingest = ["ingest", "a", str(tmp_path / "stars.csv"), "-k", "hip", "-p", "star", "-a", str(tmp_path / "sky")]
    for more in (["--format", "jdbc", "--schema", "hip=bigint"], ["--option", "sessionInitStatement=x"]):
        done = run(cli.app, [*ingest, *more])
        assert done.exit_code == 2
        assert "provenn allow" in done.output


def test_tables_of_other_databases_are_allowed_by_name():
    for provider in ("parquet", "hive", "delta", "iceberg"):
        check_table_provider(provider, "t")
    for provider in ("jdbc", "kafka", "postgres", ""):
        with pytest.raises(BaseFilesError, match="is made of"):
            check_table_provider(provider, "t")
    permits.allow("format:jdbc")
    check_table_provider("jdbc", "t")


# --- with Spark ---


@pytest.fixture(scope="module")
def engine():
    with Engine("local[2]", brief=True) as item:
        yield item


def derby(folder: Path) -> dict[str, str]:
    """Return options that have Derby, which comes with Spark, write a file."""
    marker = folder / "marker"
    export = f"CALL SYSCS_UTIL.SYSCS_EXPORT_QUERY('VALUES 1', '{marker}', null, null, null)"
    return {
        "url": f"jdbc:derby:memory:{folder.name};create=true",
        "driver": "org.apache.derby.iapi.jdbc.AutoloadedDriver",
        "query": 'SELECT CAST(1 AS BIGINT) AS "hip", CAST(2.5 AS DOUBLE) AS "vmag" FROM SYSIBM.SYSDUMMY1',
        "sessioninitstatement": export,
    }


def evil_base(folder: Path) -> Base:
    return changed_base(folder, format="jdbc", options=tuple(sorted(derby(folder).items())))


def test_a_base_of_a_foreign_archive_writes_no_file(tmp_path: Path, engine):
    """The archive of the attacker is opened as it is: its database holds what no provenn would have written."""
    with provenn.open(tmp_path / "theirs", spark=engine.session) as archive:
        define(archive, evil_base(tmp_path))
        for use in (archive["evil"].head, archive["evil"].count, archive.target("evil", ["vmag"]).to_pandas):
            with pytest.raises(BaseFilesError, match="is in the format 'jdbc'") as caught:
                use()
            assert "provenn allow format:jdbc" in caught.value.hint
    assert not (tmp_path / "marker").exists()


def test_the_same_base_does_write_one_if_the_owner_allows_all_it_names(tmp_path: Path, engine):
    """Otherwise the test above would show nothing."""
    permits.allow("format:jdbc")
    for name in derby(tmp_path):
        permits.allow(f"option:{name}")
    with provenn.open(tmp_path / "theirs", spark=engine.session) as archive:
        define(archive, evil_base(tmp_path))
        with pytest.raises(ProvennError, match="already exists"):  # it is read twice, and written only once
            archive["evil"].head()
    assert (tmp_path / "marker").exists()


@pytest.mark.parametrize(
    "name",
    [
        "parquet.`{file}`",
        "csv.`{file}`",
        "jdbc.`x`",
        "text.`/etc/hostname`",
        "`parquet`.`{file}`",
        "x; DROP TABLE y",
        "",
    ],
)
def test_the_name_of_a_table_leads_to_no_file(tmp_path: Path, engine, name: str):
    base = changed_base(tmp_path)
    table = replace(base.files, format="table", options=(), location=name.format(file=base.files.location))
    with provenn.open(tmp_path / "theirs", spark=engine.session) as archive:
        define(archive, replace(base, files=table))
        with pytest.raises(ProvennError):
            archive["evil"].head()


def test_a_table_of_another_database_is_not_read_unless_it_is_allowed(tmp_path: Path, engine):
    options = ", ".join(f"{key} '{value}'" for key, value in derby(tmp_path).items() if key != "sessioninitstatement")
    engine.session.sql(f"CREATE TABLE gate_jdbc USING jdbc OPTIONS ({options})")
    try:
        with provenn.open(tmp_path / "mine", spark=engine.session) as archive:
            with pytest.raises(BaseFilesError, match="the table gate_jdbc is made of 'jdbc'"):
                archive.ingest("t", "gate_jdbc", key="hip", population="star", format="table")
            permits.allow("format:jdbc")
            assert archive.ingest("t", "gate_jdbc", key="hip", population="star", format="table").count() == 1
    finally:
        engine.session.sql("DROP TABLE gate_jdbc")
