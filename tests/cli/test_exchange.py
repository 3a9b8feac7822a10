"""`provenn exchange`: lineage out and in, as people type it."""

import json
from pathlib import Path

from prov.model import ProvDocument
from typer.testing import CliRunner

from provenn.cli import app
from tests.cli.archive_session import Session
from tests.exchange.pipelines import dataset, events_file, job, lineage, same


def test_lineage_is_written_to_a_file_and_read_by_another_archive(survey: Session, tmp_path: Path):
    file = tmp_path / "lineage.jsonl"
    assert survey(f"exchange export both -o '{file}'") == ""
    assert "already exists" in survey.fails(f"exchange export -o '{file}'")
    told = survey.json(f"exchange export -o '{file}' --overwrite")
    assert told == {"path": str(file), "size": file.stat().st_size, "format": "openlineage"}
    assert all(json.loads(line) for line in file.read_text(encoding="utf-8").splitlines())
    other = Session(tmp_path / "other")
    other(f"init '{other.folder}'")
    assert "exact: their sources are fully known" in other(f"exchange import '{file}' --prefix p:")
    assert survey.json("relate both bright")["summary"] == other.json("relate p:both p:bright")["summary"] == "equal"
    assert "only the lineage of" in other.fails("head p:both")
    assert other.json(f"exchange import '{file}' --prefix p:")["new"] == 0


def test_prov_is_written_to_the_standard_output(survey: Session):
    text = survey("exchange export both --format prov-json -o -")
    assert ProvDocument.deserialize(content=text, format="json").get_records()
    assert survey.run("exchange export both -o - --json").exit_code == 2


def test_lineage_is_utf_8_whatever_the_terminal_is(survey: Session):
    survey("name br\N{LATIN SMALL LETTER E WITH ACUTE}f bright")
    for format_ in ("prov-xml", "prov-n", "openlineage"):
        typed = ["exchange", "export", "bright", "--format", format_, "-o", "-", "-a", str(survey.folder)]
        written = CliRunner(charset="latin-1").invoke(app, typed).stdout_bytes
        assert "br\N{LATIN SMALL LETTER E WITH ACUTE}f" in written.decode("utf-8").replace("\\u00e9", "\u00e9")


def test_pipelines_of_others_are_asked_questions(survey: Session, tmp_path: Path):
    file = tmp_path / "events.jsonl"
    unchanged = lineage(id=[same("orders", "id")])
    output = dataset("paid", "id bigint", columnLineage=unchanged)
    file.write_bytes(events_file(job("j", [dataset("orders", "id bigint")], [output])).getvalue())
    told = survey.json(f"exchange import '{file}' -k id -p order")
    assert [(one["names"], one["how"]) for one in told["catalogs"]] == [(["orders"], "base"), (["paid"], "inside")]
    assert "paid lies inside orders" in survey("relate paid orders")


def test_bad_events_are_told_with_their_number(survey: Session, tmp_path: Path):
    file = tmp_path / "events.jsonl"
    file.write_text('{"job": {"namespace": "n", "name": "j"}}\n{"job": 7}\n')
    assert "event 2 cannot be read" in survey.fails(f"exchange import '{file}'")
    assert "cannot be read" in survey.fails("exchange import nowhere.jsonl")
