"""What holds for every command: the same option for the same thing, an example, clean output, clean errors."""

import fcntl
import inspect
import json
import os
import re
import signal
import subprocess
import sys
import termios
from pathlib import Path
from shutil import copytree

import pytest
from typer.testing import CliRunner

from provenn import cli
from tests.cli.archive_session import Session
from tests.cli.commands import all_commands
from tests.cli.terminal import on_a_terminal
from tests.cli.test_app import ENVIRONMENT, run
from tests.waiting import LIMIT, wait_until

COMMANDS = all_commands()
WITHOUT_ARCHIVE = {"allow", "example", "table", "demo", "samp clients", "samp hub", "dbt check", "dbt diff", "warm"}
SHORT = {
    "--archive": "-a",
    "--name": "-n",
    "--most": "-n",
    "--key": "-k",
    "--population": "-p",
    "--given": "-g",
    "--facts": "-f",
    "--reason": "-r",
    "--calculator": "-c",
    "--output": "-o",
    "--help": "-h",
}
SAME = {"--archive", "--json", "--name", "--svg", "--spark", "--overwrite", "--reason", "--population", "--all"}

each_command = pytest.mark.parametrize("command", sorted(COMMANDS))


def options(command):
    return {option: one for one in COMMANDS[command].params for option in (*one.opts, *one.secondary_opts)}


@each_command
def test_help_has_a_summary_in_one_line_and_an_example(command):
    text = inspect.getdoc(COMMANDS[command].callback)
    summary, _, rest = text.partition("\n")
    assert re.fullmatch(r"[A-Z].*\.", summary), "a sentence"
    assert rest.startswith("\n")
    assert f"Try:\n\n- `provenn {command}" in rest


@each_command
def test_every_command_speaks_json_and_takes_any_archive(command):
    assert "--json" in options(command)
    assert ("--archive" in options(command)) == (command not in WITHOUT_ARCHIVE)


@each_command
def test_a_short_option_means_one_thing(command):
    for option, parameter in options(command).items():
        if re.fullmatch("-[a-z]", option):
            assert any(SHORT.get(one) == option for one in parameter.opts), option


@each_command
def test_an_option_has_a_help_and_a_word_for_its_value(command):
    for parameter in COMMANDS[command].params:
        assert parameter.help, parameter.name
        if not getattr(parameter, "is_flag", False) and not parameter.type_descriptor.is_choice:
            assert parameter.metavar, parameter.name
            assert parameter.metavar.strip("[]")[0].isupper() or "|" in parameter.metavar, parameter.name


def test_the_same_option_is_of_the_same_kind_everywhere():
    found: dict[str, set[tuple[str | None, bool, bool]]] = {}
    for command in COMMANDS:
        for option, one in options(command).items():
            if option.startswith("-"):
                found.setdefault(option, set()).add((one.metavar, one.multiple, one.is_flag))
    assert [option for option in SAME if len(found[option]) != 1] == []


@pytest.mark.parametrize(
    "command", [name for name, one in COMMANDS.items() if "Exit status" in inspect.getdoc(one.callback)]
)
def test_an_exit_status_of_its_own_is_in_the_reference(command):
    assert command in {"prove", "doctor", "check", "operation", "bounds", "diff", "dbt check", "dbt diff"}


def test_every_variable_of_the_environment_is_in_the_reference():
    root = Path(__file__).parents[2]
    text = (root / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    section = text.partition("\n## Environment\n")[2].partition("\n## ")[0]
    source = "\n".join(file.read_text(encoding="utf-8") for file in (root / "src").rglob("*.py"))
    used = set(re.findall(r"PROVENN_[A-Z_]+", source)) | {"NO_COLOR", "FORCE_COLOR", "JAVA_HOME", "SPARK_HOME"}
    assert [one for one in sorted(used) if f"`{one}`" not in section] == []


# --- JSON ---


ANSWERED = {  # what answers without Spark, a server or a hub; the other commands are named below
    "init": "--archive new",
    "ingest": "again {0}/few.csv -k id -p thing",
    "append": "things {0}/more.csv",
    "refresh": "",
    "redefine": "bright bright --plan",
    "ls": "nothing-of-this-name",
    "show": "both",
    "lineage": "both --svg lineage.svg",
    "name": "other both",
    "log": "both",
    "diff": "stars bright",
    "audit": "",
    "report": "both -o report.html",
    "backup": "backup",
    "migrate": "--dry-run",
    "select": "stars 'vmag < 5'",
    "restrict": "stars bright",
    "exclude": "stars bright",
    "sample": "stars 0.5",
    "keep": "stars vmag",
    "rename": "stars vmag=v",
    "derive": "stars v2='vmag * 2'",
    "combine": "bright near",
    "concat": "bright faint",
    "crossmatch": "stars near --radius 2 --left plx dec --right plx dec",
    "matched": "pairs --side left",
    "unmatched": "pairs --side left",
    "lookup": "things twins --on twin --prefix of_",
    "having": "stars bright --on hip",
    "without": "stars bright --on hip",
    "group": "stars --by spect --population kind n='count(*)'",
    "first": "stars --by spect --order plx",
    "explode": "curves mags",
    "sql": "'SELECT hip FROM stars WHERE vmag < -100' --plan",
    "relate": "stars bright --why",
    "bounds": "'stars & bright'",
    "compare": "stars bright near",
    "prove": "'bright <= stars'",
    "declare": "'nonempty(bright)'",
    "retract": "1",
    "facts": "bright",
    "target": "bright vmag --plan",
    "head": "bright",
    "count": "bright",
    "plot": "stars vmag plx --svg plot.svg",
    "exports": "",
    "fragments": "",
    "runs": "",
    "gc": "",
    "check": "",
    "warm": "--status",
    "calculator": "half --sql 'half=vmag / 2'",
    "calculators": "",
    "allow": "",
    "prefer": "vmag stars",
    "doctor": "",
    "example": "",
    "table": "",
    "archive export": "archive.provenn",
    "exchange export": "-o lineage.jsonl",
    "project new": "surveys",
    "project ls": "",
    "token new": "dan",
    "token ls": "",
    "quota set": "dan --stored 1GB",
    "quota show": "dan",
    "quota ls": "",
}
ELSEWHERE = {  # tried with what they need: Spark, a server, a hub, a project of dbt, or another command before
    *("operation", "serve", "sky", "export", "store", "demo", "archive import", "exchange import"),
    *("dbt import", "dbt check", "dbt diff", "samp send", "samp listen", "samp clients", "samp hub"),
    *("project add", "project remove", "token revoke"),
}


def read_json(text: str) -> object:
    """Read a text that is JSON and nothing else; NaN and infinities are not."""
    return json.loads(text, parse_constant=lambda constant: pytest.fail(f"{constant} is no JSON"))


def test_every_command_is_asked_for_json():
    assert {*ANSWERED} | ELSEWHERE == {*COMMANDS}


@pytest.mark.parametrize("command", ANSWERED)
def test_an_answer_in_json_is_alone_on_stdout(filled: Session, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    result = filled.run(f"{command} {ANSWERED[command].format(filled.folder)} --json")
    assert result.exit_code == 0, result.output
    assert read_json(result.stdout) is not None


@each_command
def test_wrong_options_are_json_for_those_who_asked_for_it(asked: Session, command):
    result = asked.run(f"{command} --nonsense --json")
    assert result.exit_code == 2
    error = read_json(result.stdout)["error"]
    assert error["kind"] == "UsageError"
    assert "--nonsense" in error["message"]
    assert "--nonsense" in result.stderr


@pytest.mark.parametrize(
    "typed",
    [
        "nosuch --json",
        "--json ls",
        "show --json",
        "head bright -n none --json",
        "compare stars bright --svg nowhere/picture.svg --json",  # refused before the archive is opened
        "compare stars bright --svg - --json",  # two answers for one output
        "lineage both --json --svg -",
        "exchange export -o nowhere/lineage.jsonl --json",
        "diff {0} {0}/damaged --json",  # two archives are open
    ],
)
def test_an_error_is_json_wherever_it_arises_and_only_once(asked: Session, typed):
    damaged = asked.folder / "damaged"
    damaged.mkdir(exist_ok=True)
    (damaged / "provenn.sqlite").write_bytes(b"no database" * 1000)
    result = asked.run(typed.format(asked.folder))
    assert result.exit_code == 2
    assert read_json(result.stdout)["error"]["message"]
    assert result.stderr


# --- errors ---


WRONG = {  # where the wrong name goes; commands without one are named below
    "show": "WRONG",
    "lineage": "WRONG",
    "name": "new WRONG",
    "log": "WRONG",
    "diff": "WRONG stars",
    "append": "WRONG nowhere.csv",
    "refresh": "WRONG",
    "redefine": "WRONG stars",
    "select": "WRONG 'vmag < 6'",
    "sql": "'SELECT * FROM WRONG' --name new",
    "restrict": "stars WRONG",
    "exclude": "stars WRONG",
    "sample": "WRONG 0.1",
    "keep": "stars WRONG",
    "rename": "stars WRONG=v",
    "derive": "stars d=WRONG",
    "combine": "stars WRONG",
    "concat": "stars WRONG",
    "crossmatch": "stars WRONG --radius 2",
    "matched": "WRONG --side left",
    "unmatched": "WRONG --side left",
    "lookup": "stars WRONG --on hip",
    "having": "stars WRONG --on hip",
    "without": "stars WRONG --on hip",
    "group": "stars --by WRONG",
    "first": "stars --by hip --order WRONG",
    "explode": "stars WRONG",
    "relate": "stars WRONG",
    "bounds": "'stars & WRONG'",
    "prove": "'WRONG <= stars'",
    "declare": "'nonempty(WRONG)'",
    "retract": "77",
    "facts": "WRONG",
    "fragments": "WRONG",
    "target": "stars WRONG",
    "calculator": "c json:loads --input x --output y=double --scope WRONG",
    "prefer": "vmag WRONG",
    "store": "WRONG",
    "head": "WRONG",
    "count": "WRONG",
    "sky": "WRONG --svg sky.svg",
    "plot": "stars WRONG vmag --svg plot.svg",
    "export": "WRONG out.csv",
    "samp send": "WRONG",
    "compare": "stars WRONG",
    "report": "WRONG -o report.html",
    "archive export": "out.provenn --names WRONG",
    "archive import": "WRONG",
    "exchange export": "WRONG -o out.jsonl",
    "exchange import": "WRONG",
    "dbt import": "WRONG",
    "dbt check": "WRONG",
    "dbt diff": "WRONG WRONG",
    "backup": "mysql://WRONG",
    "project new": "' WRONG'",
    "project add": "WRONG dan",
    "project remove": "WRONG dan",
    "token new": "dan --role WRONG",
    "token revoke": "4711",
    "quota set": "dan --stored WRONG",
    "operation": "WRONG",
    "ingest": "WRONG nowhere.csv -k hip -p star",
}


def test_every_command_that_takes_a_name_is_tried_with_a_wrong_one():
    named = {
        name
        for name, one in COMMANDS.items()
        if any(p.param_type_name == "argument" and p.required for p in one.params)
    }
    assert named <= set(WRONG), "a command is missing above"


@pytest.fixture(scope="module")
def filled(made, tmp_path_factory) -> Session:
    """An archive with something of every kind, which commands may change."""
    session = Session(copytree(made["whole"], tmp_path_factory.mktemp("filled") / "survey"))
    few, more = session.folder / "few.csv", session.folder / "more.csv"
    few.write_text("id,twin\n1,2\n2,\n", encoding="utf-8")
    more.write_text("id,twin\n3,1\n", encoding="utf-8")
    session(f"ingest things '{few}' -k id -p thing")
    session("rename things twin=other --name twins")
    session("exclude stars bright --name faint")
    return session


@pytest.fixture(scope="module")
def asked(made, tmp_path_factory) -> Session:
    """The paper's example, of which nothing is changed by what is refused."""
    return Session(copytree(made["survey"], tmp_path_factory.mktemp("asked") / "survey"))


@pytest.mark.parametrize("command", sorted(WRONG))
def test_a_wrong_name_is_told_on_stderr_alone_and_stdout_stays_clean(asked: Session, command):
    told = asked.fails(f"{command} {WRONG[command]}")
    assert told.startswith("provenn: ")
    assert "Traceback" not in told
    answer = asked.run(f"{command} {WRONG[command]} --json")
    assert answer.exit_code == 2
    assert set(json.loads(answer.stdout)["error"]) >= {"kind", "message", "hint"}
    assert answer.stderr.startswith("provenn: ")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["lss"], "Did you mean 'ls'"),
        (["ls", "--jsno"], "--json"),
        (["ls", "--debug"], "--debug comes before the command: provenn --debug ls"),
        (["--json", "facts"], "--json comes after the command: provenn facts --json"),
        (["ls", "--version"], "--version comes before the command: provenn --version ls"),
        (["--nonsense"], "No such option: --nonsense"),
    ],
)
def test_what_is_not_there_is_told_with_what_was_meant(arguments, told):
    done = run(*arguments, COLUMNS="200")
    assert done.returncode == 2
    assert bool(done.stdout) == ("--json" in arguments)
    assert told in done.stderr


@pytest.fixture
def broken(monkeypatch):
    """A command that fails as it is told."""
    failure = []
    monkeypatch.setattr(cli.app, "registered_commands", list(cli.app.registered_commands))

    def fail(*, json: bool = False) -> None:  # noqa: ARG001 - the option is read where errors are reported
        raise failure[0]

    cli.app.command("fail")(fail)

    def attempt(error, *before, after=()):
        failure[:] = [error]
        return CliRunner().invoke(cli.app, [*before, "fail", *after])

    return attempt


def test_a_bug_is_told_as_one_with_exit_status_70_and_no_stack_trace(broken):
    result = broken(ZeroDivisionError("division by zero"))
    assert (result.exit_code, result.stdout) == (70, "")
    assert result.stderr.startswith(
        "provenn: internal error in provenn (a bug, sorry): ZeroDivisionError: division by zero\nhint: "
    )
    assert "--debug" in result.stderr
    assert "Traceback" not in result.stderr
    assert isinstance(broken(ZeroDivisionError(), "--debug").exception, ZeroDivisionError)
    result = broken(ZeroDivisionError("division by zero"), after=["--json"])
    assert result.exit_code == 70
    assert json.loads(result.stdout)["error"]["kind"] == "InternalError"


def test_what_the_surroundings_refuse_is_no_bug(broken):
    result = broken(PermissionError(13, "Permission denied", "/data/x"))
    assert (result.exit_code, result.stderr.split("\n")[0]) == (2, "provenn: /data/x: Permission denied")
    result = broken(PermissionError(13, "Permission denied", "/data/x"), after=["--json"])
    assert json.loads(result.stdout)["error"]["message"] == "/data/x: Permission denied"
    from sqlalchemy.exc import OperationalError  # noqa: PLC0415 - only here

    result = broken(OperationalError("INSERT", {}, Exception("database or disk is full")))
    assert result.exit_code == 2
    assert "the database of the archive failed: database or disk is full" in result.stderr


# --- what a terminal, a pipe and a signal get ---


SHOWN = [("--help",), ("example",), ("show", "--nonsense"), ("show", "x", "-a", "/nowhere")]


@pytest.mark.parametrize("arguments", SHOWN, ids=" ".join)
def test_no_escape_sequences_where_they_are_not_wanted(arguments):
    assert "\x1b" not in on_a_terminal(*arguments, NO_COLOR="1")
    assert "\x1b" not in on_a_terminal(*arguments, TERM="dumb")
    piped = run(*arguments)
    assert "\x1b" not in piped.stdout + piped.stderr


def test_a_terminal_and_force_color_get_them():
    assert "\x1b[1m" in on_a_terminal("example")
    assert "\x1b[1m" in run("example", FORCE_COLOR="1", TERM="xterm-256color").stdout
    assert "\x1b" not in run("example", FORCE_COLOR="1", NO_COLOR="1", TERM="xterm-256color").stdout


@pytest.mark.parametrize(
    "arguments", [("--help",), ("table",), ("example",), ("example", "--json"), ("facts", "-a", "{}")]
)
def test_nobody_reading_is_no_reason_to_complain(survey: Session, arguments):
    """`provenn … | head -1`: the pipe is closed before anything is written."""
    reading, writing = os.pipe()
    os.close(reading)
    words = [one.format(survey.folder) for one in arguments]
    command = [sys.executable, "-m", "provenn", *words]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, check=False, env=ENVIRONMENT)
    os.close(writing)
    assert done.stderr == b""


def count_unread_bytes(pipe) -> int:
    """Return how many bytes nobody has read from a pipe yet."""
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


def test_an_interrupt_ends_with_130_and_one_line():
    command = [sys.executable, "-m", "provenn", "prove", "A <= B", "--no-archive", "--facts", "-"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT
    ) as process:
        process.stdin.write(b"A <= B\n")
        process.stdin.flush()
        wait_until(lambda: not count_unread_bytes(process.stdin), "it reads the fact, and waits for more")
        process.send_signal(signal.SIGINT)
        said, told = process.communicate(timeout=LIMIT)
    assert (process.returncode, said, told) == (130, b"", b"provenn: cancelled\n")
