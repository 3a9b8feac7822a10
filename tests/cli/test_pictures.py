"""``provenn sky`` and ``provenn plot``: pictures as files."""

import json

import pytest
from typer.testing import CliRunner

from provenn.cli import app

STARS = {
    "hip": [1, 2, 3],
    "vmag": [1.5, 7.0, 9.0],
    "bv": [0.1, None, 1.5],
    "ra": [10.0, 20.0, 200.0],
    "dec": [0.0, 5.0, 80.0],
}


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Runs a command in a folder with an archive of placed stars; Spark is not needed."""
    import pyarrow as pa  # noqa: PLC0415 - it takes long to import
    import pyarrow.parquet as pq  # noqa: PLC0415

    monkeypatch.delenv("PROVENN_ENGINE", raising=False)
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table(STARS), tmp_path / "stars.parquet")

    def type_line(*words):
        result = CliRunner().invoke(app, list(words))
        return result.exit_code, result.output

    type_line("init")
    assert type_line("ingest", "stars", "stars.parquet", "--key", "hip", "--population", "star")[0] == 0
    assert type_line("select", "stars", "vmag < 8", "--name", "bright")[0] == 0
    return type_line


def test_sky_writes_a_map_of_catalogs(run, tmp_path):
    code, output = run("sky", "stars", "bright", "--svg", "sky.svg")
    assert (code, output) == (0, "wrote 3 sources of stars, 2 sources of bright to sky.svg\n")
    assert "Sky map of stars, bright" in (tmp_path / "sky.svg").read_text()
    code, output = run("sky", "stars", "--svg", "sky.svg")
    assert code == 2
    assert "already exists" in output
    data = json.loads(run("sky", "stars", "--svg", "sky.svg", "--overwrite", "--json")[1])
    assert data["catalogs"] == [{"name": "stars", "sources": 3, "unplaced": 0}]


def test_plot_writes_a_density(run, tmp_path):
    code, output = run("plot", "stars", "bv", "vmag", "--svg", "plot.svg")
    assert (code, output) == (0, "wrote vmag against bv of 2 sources to plot.svg\n")
    assert "vmag against bv of stars" in (tmp_path / "plot.svg").read_text()
    data = json.loads(run("plot", "stars", "bv", "vmag", "--svg", "plot.svg", "--overwrite", "--json")[1])
    assert (data["sources"], data["left_out"]) == (2, 1)
    code, output = run("plot", "stars", "bv", "vmga", "--svg", "other.svg")
    assert code == 2
    assert "vmag" in output


@pytest.mark.parametrize("words", [("sky", "stars"), ("plot", "stars", "vmag", "bv")], ids=" ".join)
def test_a_dash_is_the_standard_output_and_no_file(run, tmp_path, words):
    code, output = run(*words, "--svg", "-")
    assert code == 0
    assert output.startswith("<svg")
    assert output.endswith("</svg>\n")
    assert not (tmp_path / "-").exists()
    assert run(*words, "--svg", "-", "--json")[0] == 2


def test_a_report_has_the_map_once_it_was_counted(run, tmp_path):
    run("report", "stars", "-o", "before.html")
    run("sky", "stars", "--svg", "sky.svg")
    run("report", "stars", "-o", "after.html")
    assert "Sky map of" not in (tmp_path / "before.html").read_text()
    assert "Sky map of" in (tmp_path / "after.html").read_text()


def test_relate_looks_where_nothing_is_proved_and_remembers_it(run):
    run("select", "stars", "bv > 1", "--name", "red")
    assert run("relate", "bright", "red")[1].startswith("unknown: ")
    code, output = run("relate", "bright", "red", "--look")
    assert code == 0
    assert output.splitlines() == [
        "disjoint: bright shares no source with red",
        "  0 in both",
        "  2 in bright only",
        "  1 in red only",
    ]
    assert run("relate", "bright", "red")[1].startswith("disjoint: ")
    assert "observed" in run("facts", "--json")[1]
