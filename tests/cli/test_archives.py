"""What all commands on archives have in common."""

import json

import pytest
from typer.testing import CliRunner

from provenn import archive, cli
from provenn.cli import archives
from tests.archive.samples import write_parquet
from tests.cli.archive_session import Session
from tests.cli.commands import all_commands

# doctor tells that there is none
NOT_IN_ARCHIVES = {
    "allow",
    "doctor",
    "example",
    "table",
    "demo",
    "samp clients",
    "samp hub",
    "dbt check",
    "dbt diff",
    "warm",
}
IN_ARCHIVES = sorted(set(all_commands()) - NOT_IN_ARCHIVES)
# Each as it works in the survey of the fixture.
USES = {
    "init": "",
    "ingest": "again '{file}' -k hip -p star",
    "ls": "",
    "show": "bright",
    "lineage": "both",
    "name": "other bright",
    "log": "bright",
    "diff": "bright stars",
    "append": "stars '{file}'",
    "refresh": "--plan",
    "exports": "",
    "redefine": "bright --where 'vmag < 7' --plan",
    "select": "stars 'dec > 0'",
    "restrict": "stars bright",
    "exclude": "stars bright",
    "sample": "stars 0.1",
    "keep": "stars vmag",
    "rename": "stars vmag=v",
    "derive": "stars d='2 * vmag'",
    "combine": "bright near",
    "concat": "bright near",
    "crossmatch": "bright near --radius 2 --left plx dec --right plx dec",
    "matched": "pairs --side right",
    "unmatched": "pairs --side right",
    "lookup": "bright stars --on hip --attribute dec --prefix of_",
    "having": "stars bright --on hip",
    "without": "stars bright --on hip",
    "group": "stars --by hip --population object n='count(*)'",
    "first": "stars --by hip --order 'vmag DESC'",
    "explode": "curves mags",
    "relate": "bright both",
    "bounds": "'bright & both'",
    "prove": "'bright == both'",
    "declare": "'nonempty(bright)'",
    "retract": "1",
    "facts": "",
    "fragments": "",
    "gc": "--dry-run",
    "target": "bright vmag --plan",
    "calculator": "twice --sql 'twice=2 * vmag'",
    "calculators": "",
    "prefer": "dist dist",
    "store": "bright",
    "head": "bright",
    "count": "bright",
    "sky": "bright --svg '{folder}/sky{again}.svg'",
    "plot": "bright plx vmag --svg '{folder}/plot{again}.svg'",
    "export": "bright out.parquet",
    "compare": "bright near",
    "runs": "",
    "report": "bright -o '{folder}/report.html' --overwrite",
    "serve": "",
    "check": "",
    "migrate": "",
    "audit": "",
    "operation": "0123456789abcdef0123456789abcdef",
    "backup": "'{folder}/copy{again}'",
    "archive export": "'{folder}/out{again}.provenn'",
    "archive import": "'{file}'",
    "exchange export": "-o '{folder}/out{again}.jsonl'",
    "exchange import": "'{file}'",
    "project new": "pulsars{again}",
    "project add": "pulsars dan",
    "project remove": "pulsars dan",
    "project ls": "",
    "token new": "dan",
    "token ls": "",
    "token revoke": "1",
    "quota set": "dan --stored 5GB",
    "quota show": "dan",
    "quota ls": "",
    "sql": "'SELECT hip FROM bright WHERE vmag < 3' --plan",
    "dbt import": "'{file}'",
    "samp send": "bright",
    "samp listen": "",
}
ELSEWHERE = {"store", "head", "count", "sky", "plot", "export", "serve"}  # tested where there is a Spark, or a browser
ELSEWHERE |= {"samp send", "samp listen"}  # where there is a hub
ELSEWHERE |= {"dbt import"}  # where there is a project of dbt
ELSEWHERE |= {"operation"}  # where operations have ids, in PostgreSQL
ELSEWHERE |= {
    "archive import",
    "exchange import",
    "project add",
    "project remove",
    "token revoke",
}


def test_every_command_is_tried():
    assert sorted(USES) == IN_ARCHIVES


@pytest.mark.parametrize("command", sorted(set(IN_ARCHIVES) - ELSEWHERE))
def test_every_command_answers_people_and_programs(whole: Session, made, command):
    """And --archive is the same as the variable of the environment."""
    file = made["whole"].parent / "stars.parquet"
    first, again = (f"{command} {USES[command]}".format(file=file, folder=whole.folder, again=at) for at in ("", "_2"))
    found = whole.json(first)
    assert found is not None
    assert "error" not in found
    if command == "retract":
        whole("declare 'nonempty(near)'")
        again = "retract 2"
    result = CliRunner().invoke(cli.app, [*Session.words(again), "--archive", str(whole.folder)])
    assert result.exit_code == 0, result.output
    assert result.output


@pytest.mark.parametrize("command", sorted(set(IN_ARCHIVES) - {"init"}))
def test_without_an_archive_every_command_says_how_to_make_one(tmp_path, command):
    session = Session(tmp_path / "nowhere")
    places = {"file": write_parquet(tmp_path / "stars.parquet"), "folder": tmp_path, "again": ""}
    typed = f"{command} {USES[command]}".format(**places)
    assert "provenn init" in session.fails(typed)
    assert session.json(typed)["error"]["kind"] == "ArchiveNotFoundError"
    assert not (tmp_path / "nowhere").exists()


def test_the_current_folder_is_the_archive_if_none_is_named(survey: Session, monkeypatch):
    monkeypatch.delenv("PROVENN_ARCHIVE", raising=False)
    monkeypatch.chdir(survey.folder)
    result = CliRunner().invoke(cli.app, ["relate", "bright", "both"])
    assert result.stdout == "equal: bright has the same sources as both\n"
    assert archives.holds_archive(".")
    assert archives._FILE == archive.DATABASE


@pytest.mark.parametrize(
    ("typed", "told", "hint"),
    [
        ("select brigt 'vmag < 6'", "no catalog is named 'brigt'", "did you mean bright?"),
        ("select stars 'vmga < 6'", "there is no attribute 'vmga', at column 1", "did you mean vmag?"),
        ("select stars 'vmag <'", "at column", ""),
        ("keep stars vmga", "there is no attribute 'vmga'", "did you mean vmag?"),
        ("rename stars vmga=v", "there is no attribute 'vmga'", "did you mean vmag?"),
        ("derive stars d='1 / plxx'", "there is no attribute 'plxx'", "did you mean plx?"),
        ("derive stars --calculator dist", "no calculator provides 'dist'", "register one"),
        ("combine stars nera", "no catalog is named 'nera'", "did you mean near?"),
        ("sample stars 50", "expected a fraction between 0 and 1", "did you mean 0.5?"),
        ("show brigt", "no catalog is named 'brigt'", "did you mean bright?"),
        ("log brigt", "no catalog is named 'brigt'", "did you mean bright?"),
        ("relate bright bohth", "no catalog is named 'bohth'", "did you mean both?"),
        ("prove 'brigt <= stars'", "no catalog is named 'brigt'", "did you mean bright?; --no-archive"),
        ("declare 'brigt <= stars'", "no catalog is named 'brigt'", "did you mean bright?"),
        ("retract 5", "there is no fact #5", "provenn facts"),
        ("select stars 'dec > 0' --name bright", "bright already names the catalog", "choose another name"),
        ("ingest new strs.parquet -k hip -p star", "nothing exists at", ""),
    ],
)
def test_bad_input_is_told_with_a_hint_and_exit_status_2(survey: Session, typed, told, hint):
    stderr = survey.fails(typed)
    assert stderr.startswith("provenn: ")
    assert told in stderr
    assert hint in stderr
    error = survey.json(typed)["error"]
    assert told in error["message"]
    assert error["kind"].endswith("Error")


@pytest.mark.parametrize(
    "typed",
    [
        "rename stars vmag",
        "rename stars vmag=",
        "rename stars vmag=v vmag=w",
        "derive stars",
        "derive stars d='1' --calculator c",
        "concat bright near --order last",
        "name bright",
        "name bright stars --delete",
        "ls --most 0",
        "prove --closed 'bright <= stars'",
    ],
)
def test_wrong_usage_is_told_with_exit_status_2(survey: Session, typed):
    assert survey.fails(typed).startswith("Usage: ")


def test_what_an_archive_holds_cannot_steer_a_terminal(survey: Session):
    survey("declare 'nonempty(bright)' --reason '\x1b[31m'")
    assert "\x1b" not in survey("facts")
    assert json.loads(survey("facts --json"))[0]["reason"] == "\x1b[31m"
