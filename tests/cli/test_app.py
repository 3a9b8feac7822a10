import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import provenn
from provenn import cli
from provenn.errors import LabelError

ENVIRONMENT = {
    key: value for key, value in os.environ.items() if key not in {"FORCE_COLOR", "GITHUB_ACTIONS", "PY_COLORS"}
}


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command line as a person would."""
    return subprocess.run(
        [sys.executable, "-m", "provenn", *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        env=ENVIRONMENT | {"COLUMNS": "80", "PYTHONIOENCODING": "utf-8"} | environment,
    )


def test_version():
    done = run("--version")
    assert (done.returncode, done.stdout) == (0, f"provenn {provenn.__version__}\n")


def test_help_names_every_command_and_gives_examples():
    done = run("--help")
    assert done.returncode == 0
    assert "provenn example" in done.stdout
    for command in cli.app.registered_commands:
        assert f"│ {command.name} " in done.stdout


@pytest.mark.parametrize("command", ["table", "example"])
def test_help_of_a_command_gives_an_example(command):
    done = run(command, "--help")
    assert done.returncode == 0
    assert f"provenn {command} --svg" in done.stdout


@pytest.mark.parametrize(
    "arguments",
    [("--nonsense",), ("nonsense",), ("table", "--nonsense"), ("example", "surplus"), ("table", "--svg"), ()],
)
def test_bad_usage_has_exit_status_2_and_no_stack_trace(arguments):
    done = run(*arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["table", "example"])
def test_a_file_that_cannot_be_written_is_told_with_exit_status_2(command, tmp_path: Path):
    done = run(command, "--svg", str(tmp_path / "missing" / "x.svg"))
    assert done.returncode == 2
    assert "missing does not exist" in done.stderr
    assert "create the folder first" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> typer.Typer:
    """The command line with one command more, which fails."""
    commands = list(cli.app.registered_commands)
    monkeypatch.setattr(cli.app, "registered_commands", commands)

    def fail() -> None:
        raise LabelError("a set is named ''", hint="give it a name")

    cli.app.command("fail")(fail)
    return cli.app


def test_an_error_of_provenn_is_a_message_and_a_hint_on_stderr_with_exit_status_2(failing: typer.Typer):
    result = CliRunner().invoke(failing, ["fail"])
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr == "provenn: a set is named ''\nhint: give it a name\n"


def test_debug_shows_where_an_error_comes_from(failing: typer.Typer):
    result = CliRunner().invoke(failing, ["--debug", "fail"])
    assert isinstance(result.exception, LabelError)


@pytest.mark.campaign  # `test_consistency.py` tests that no escape sequence is written
@pytest.mark.parametrize("arguments", [("--help",), ("example",), ("table",), ("table", "--nonsense")])
def test_no_colour_where_it_is_not_wanted(arguments):
    for environment in ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, {"TERM": "dumb"}):
        done = run(*arguments, **environment)
        assert "\x1b[3" not in done.stdout + done.stderr


def test_a_terminal_that_knows_no_circles_still_gets_its_answer():
    done = run("example", PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert "B == D is proved" in done.stdout
    assert run("example", "--svg", "-", PYTHONIOENCODING="ascii").stdout == run("example", "--svg", "-").stdout


@pytest.mark.campaign  # `tests/test_imports.py` tests that of all commands
@pytest.mark.parametrize("arguments", [["--help"], ["table"], ["example"], ["example", "--json"]])
def test_commands_that_touch_no_data_never_import_pyspark(arguments):
    code = (
        "import sys; from provenn import cli; sys.argv = ['provenn', *sys.argv[1:]]\n"
        "try: cli.main()\n"
        "except SystemExit: pass\n"
        "loaded = [name for name in sys.modules if name.split('.')[0] in {'pyspark', 'py4j'}]\n"
        "sys.exit(f'loaded {loaded}' if loaded else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, check=False, env=ENVIRONMENT)
    assert done.returncode == 0, done.stderr


def test_help_needs_no_hypercubes_and_so_starts_fast():
    code = "import sys, provenn.cli; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, env=ENVIRONMENT).returncode == 0
