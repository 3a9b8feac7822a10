"""What a shell is told when Tab is pressed, asked as shells ask; and what a real bash does with it."""

import os
import shlex
import shutil
import subprocess
import sys
from contextlib import chdir
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from provenn.cli import app
from provenn.cli.completion import _MOST
from tests.cli.archive_session import Session
from tests.cli.test_app import ENVIRONMENT

ODD = (
    "odd name",
    "$(touch executed)",
    "`touch executed`",
    "it's",
    'a"b',
    "semi;colon",
    "star*",
    "back\\slash",
)


MAIN = "import sys; sys.argv[0] = 'provenn'; from provenn.cli import main; main()"


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """The command, to be found by its name."""
    file = tmp_path / "bin" / "provenn"
    file.parent.mkdir()
    file.write_text(f'#!/bin/sh\nexec {sys.executable} -c "{MAIN}" "$@"\n')
    file.chmod(0o755)
    return file


def ask(typed: str, folder: Path, **environment: str) -> Result:
    """Ask as bash does, with the cursor at the end of what is typed."""
    asked = {"_PROVENN_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" "))}
    with chdir(folder):
        return CliRunner().invoke(app, env={"PROVENN_ARCHIVE": None} | asked | environment, prog_name="provenn")


def offered(typed: str, folder: Path, **environment: str) -> list[str]:
    done = ask(typed, folder, **environment)
    assert (done.exit_code, done.stderr) == (0, "")
    return done.stdout.split()


@pytest.mark.parametrize(
    ("typed", "names"),
    [
        ("provenn sho", ["show"]),
        ("provenn show --js", ["--json"]),
        ("provenn show ", ["both", "bright", "near", "stars"]),
        ("provenn show b", ["both", "bright"]),
        ("provenn show zzz", []),
        ("provenn relate bright n", ["near"]),
        ("provenn lineage br", ["bright"]),
        ("provenn combine bright near st", ["stars"]),
        ("provenn keep stars v", ["vmag"]),
        ("provenn rename stars p", ["plx"]),
        ("provenn target bright d", ["dec", "dist_pc"]),
        ("provenn target bright vmag d", ["dec", "dist_pc"]),
        ("provenn target nothing d", []),
        ("provenn prefer z s", ["sky", "stars"]),
        ("provenn derive stars --calculator s", ["sky"]),
        ("provenn select stars ", []),
    ],
)
def test_names_of_the_archive_are_offered(survey: Session, typed, names):
    survey("calculator sky --sql z=vmag")
    assert offered(typed, survey.folder) == names


def test_the_archive_is_the_one_that_is_meant(survey: Session, tmp_path):
    assert offered("provenn show b", tmp_path) == []
    assert offered("provenn show b", tmp_path, PROVENN_ARCHIVE=str(survey.folder)) == ["both", "bright"]
    assert offered(f"provenn show -a {survey.folder} b", tmp_path) == ["both", "bright"]
    assert offered(f"provenn show -a {survey.folder} b", tmp_path, PROVENN_ARCHIVE="/nowhere") == ["both", "bright"]


@pytest.mark.parametrize("archive", ["/nowhere", "postgresql://nobody@127.0.0.1:1/x", ""])
def test_without_an_archive_nothing_is_offered_and_nothing_said(tmp_path, archive):
    assert offered("provenn show b", tmp_path, PROVENN_ARCHIVE=archive) == []


def test_a_file_that_is_no_database_offers_nothing(tmp_path):
    (tmp_path / "provenn.sqlite").write_bytes(b"nonsense" * 1000)
    assert offered("provenn show b", tmp_path) == []


def test_names_that_mean_something_to_a_shell_are_not_offered(survey: Session):
    import sqlite3  # noqa: PLC0415 - few tests need it

    for name in (*ODD, "dash"):
        survey(f"name {shlex.quote(name)} bright")
    with sqlite3.connect(survey.folder / "provenn.sqlite") as database:
        database.execute("UPDATE names SET name = '-dash' WHERE name = 'dash'")  # as earlier versions could name it
    database.close()
    assert set(survey.json("show bright")["names"]) == {"bright", "-dash", *ODD}
    assert offered("provenn show ", survey.folder) == ["both", "bright", "near", "stars"]


def test_of_many_names_the_first_are_offered_and_that_is_quick(survey: Session):
    import sqlite3  # noqa: PLC0415 - few tests need it

    with sqlite3.connect(survey.folder / "provenn.sqlite") as database:
        digest = database.execute("SELECT catalog FROM names").fetchone()[0]
        rows = [(f"many{number:06}", digest, "2026-01-01 00:00:00", "ada") for number in range(20_000)]
        database.executemany("INSERT INTO names (name, catalog, changed_at, changed_by) VALUES (?, ?, ?, ?)", rows)
    database.close()
    assert len(offered("provenn show many", survey.folder)) == _MOST
    assert offered("provenn show many01999", survey.folder) == [f"many01999{digit}" for digit in range(10)]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_shown_and_installed(tmp_path, program, shell):
    environment = ENVIRONMENT | {
        "HOME": str(tmp_path),
        "PATH": f"{program.parent}:{os.environ['PATH']}",
        "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1",
    }
    for option in ("--show-completion", "--install-completion"):
        command = [sys.executable, "-c", MAIN, option, shell]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert option != "--show-completion" or f"_PROVENN_COMPLETE=complete_{shell}" in done.stdout
    written = [one.read_text() for one in tmp_path.rglob("*provenn*") if one.is_file() and one != program]
    assert any("_PROVENN_COMPLETE" in one for one in written)


@pytest.mark.parametrize(
    ("shell", "asked", "told"),
    [
        ("zsh", {}, '_arguments \'*: :(("both"\n"bright"))\''),
        ("fish", {"_TYPER_COMPLETE_FISH_ACTION": "get-args"}, "both\nbright"),
    ],
)
def test_other_shells_are_told_the_same(survey: Session, shell, asked, told):
    asked |= {"_PROVENN_COMPLETE": f"complete_{shell}", "_TYPER_COMPLETE_ARGS": "provenn show b"}
    assert ask("provenn show b", survey.folder, **asked).stdout.strip() == told


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_a_real_bash_completes_and_executes_nothing(survey: Session, program):
    script = """
    eval "$(provenn --show-completion bash)"
    for word; do
        COMP_WORDS=(provenn show "$word") COMP_CWORD=2
        _provenn_completion provenn
        echo "${COMPREPLY[@]}"
    done
    """
    words = ["b", "$(touch executed)", "`touch executed`", "; touch executed", "'"]
    environment = ENVIRONMENT | {"PATH": f"{program.parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "--norc", "-c", script, "bash", *words],  # noqa: S607
        cwd=survey.folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.stdout.split("\n")[0], done.stderr) == ("both bright", "")
    assert not (survey.folder / "executed").exists()
