"""Queries on the command line: rows in their order, catalogs, plans, files, and what is refused."""

import json
import sys
from subprocess import run

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from provenn.cli import app
from tests.archive.samples import STARS
from tests.cli.test_app import ENVIRONMENT


def test_a_name_defines_a_catalog_and_computes_nothing(stars):
    told = stars("sql 'SELECT * FROM stars WHERE vmag < 6 ORDER BY vmag LIMIT 1' --name bright")
    assert told == "bright: the sources of stars where `vmag` < 6\n"
    assert "stars" in stars("relate bright stars")
    data = stars.json("sql 'SELECT hip FROM stars WHERE vmag < 3' --name brighter")
    assert data["catalog"]["names"] == ["brighter"]
    assert (data["remarks"], data["rests_on"]) == ([], [])
    assert "rows" not in data


def test_a_plan_computes_nothing(stars):
    told = stars("sql 'SELECT hip FROM stars WHERE vmag < 6' --plan --why")
    assert "As computed" in told
    data = stars.json("sql 'SELECT hip FROM stars WHERE vmag < 6' --plan")
    assert data["plan"]["attributes"]


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("''", "the query is empty"),
        ("'SELECT * FROM strs'", "did you mean stars?"),
        ("'SELECT vmg FROM stars'", "there is no column vmg, at line 1, column 8\n  SELECT vmg FROM stars\n         ^"),
        ("'SELECT vmg FROM stars'", "hint: did you mean vmag?"),
        ("'SELECT hip FROM stars WHERE ('", "hint: "),
        ("'SELECT hip FROM stars WHERE ('", "at line 1, column "),
        ("'DROP TABLE stars'", "DROP does not begin a query, at line 1, column 1"),
        ("'SELECT 1; DROP TABLE stars'", "there is more than one statement"),
        ("'SELECT * FROM stars' --dialect duckbd", "did you mean duckdb?"),
        ("'SELECT rand() FROM stars'", "hint: "),
    ],
)
def test_what_is_refused_is_told_with_its_place_and_a_hint(stars, typed, told):
    before = stars("ls")
    assert told in stars.fails(f"sql {typed}")
    assert told.partition("\n")[0] in stars.fails(f"sql {typed} --name new")
    assert stars("ls") == before


@pytest.mark.usefixtures("engine")
def test_rows_come_in_the_order_of_the_query(stars, tmp_path):
    """One session of Spark for all that computes rows."""
    ordered = stars.json("sql 'SELECT vmag, hip FROM stars WHERE vmag < 12 ORDER BY vmag DESC LIMIT 3'")
    assert ordered["columns"] == ["vmag", "hip"]
    assert ordered["rows"] == [[11.0, 4], [6.0, 3], [5.9, 2]]
    assert ordered["remarks"] == ["LIMIT: the key decides between rows that are equal in the order"]

    nulls_last = stars.json("sql 'SELECT hip FROM stars ORDER BY spect ASC NULLS LAST, hip'")
    assert [row[0] for row in nulls_last["rows"]] == [1, 2, 6, 5, 4, 3]
    assert (nulls_last["columns"], nulls_last["remarks"]) == (["hip"], [])
    hidden = stars.json("sql 'SELECT spect AS s FROM stars ORDER BY plx * 2 DESC NULLS LAST LIMIT 2'")
    assert (hidden["columns"], hidden["rows"]) == (["s"], [["A0"], ["G2V"]])

    head = stars.json("sql 'SELECT hip FROM stars ORDER BY hip' --head 2")
    assert head["rows"] == [[1], [2]]

    nothing = stars.json("sql 'SELECT hip, plx FROM stars WHERE plx > 1e9'")
    assert (nothing["columns"], nothing["rows"]) == (["hip", "plx"], [])
    zero = stars.json("sql 'SELECT hip FROM stars LIMIT 0'")
    assert (zero["columns"], zero["rows"]) == (["hip"], [])

    duck = stars.json("""sql "SELECT hip::int AS id FROM stars WHERE spect ILIKE 'g%' ORDER BY 1" --dialect duckdb""")
    assert (duck["columns"], duck["rows"]) == (["id"], [[2], [6]])

    both = stars("sql 'SELECT hip FROM stars WHERE hip < 3 ORDER BY hip DESC' --name few --head 5")
    assert "few: " in both
    assert both.split()[-2:] == ["2", "1"]

    file = tmp_path / "out.parquet"
    bright = "sql 'SELECT hip, vmag FROM stars WHERE vmag < 6 ORDER BY plx'"
    everything = "sql 'SELECT hip FROM stars'"
    to_file = f"-o '{file}'"
    stars(f"{bright} {to_file}")
    assert pq.read_table(file).column_names == ["hip", "vmag"]
    assert sorted(pq.read_table(file)["hip"].to_pylist()) == [1, 2]
    assert "out.parquet" in stars.fails(f"{everything} {to_file}")
    stars(f"{everything} {to_file} --overwrite")
    assert sorted(pq.read_table(file)["hip"].to_pylist()) == STARS["hip"]


def test_the_text_of_a_file_is_given_by_the_shell(stars, tmp_path):
    file = tmp_path / "bright.sql"
    file.write_text("SELECT *\nFROM stars -- all columns\nWHERE vmag < 6;\n")
    done = run(  # noqa: S602 - the shell is what is tested
        f'"{sys.executable}" -m provenn sql "$(cat {file})" --name bright --json --archive "{stars.folder}"',
        shell=True,
        capture_output=True,
        text=True,
        check=True,
        env=ENVIRONMENT,
    )
    assert json.loads(done.stdout)["catalog"]["names"] == ["bright"]
    assert "vmag" in stars("show bright")
    text = "-- stars that are brighter yet\nSELECT * FROM stars WHERE vmag < 3"
    env = {"PROVENN_ARCHIVE": str(stars.folder), "PROVENN_USER": "ada"}
    given = CliRunner().invoke(app, ["sql", "-", "--name", "brighter"], input=text, env=env)
    assert given.stdout == "brighter: the sources of stars where `vmag` < 3\n"
