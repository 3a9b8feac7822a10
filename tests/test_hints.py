"""Each interface speaks its own language: arguments in Python, options and commands at a terminal."""

import ast
import copy
import json
import pickle
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from typer.testing import CliRunner

import provenn
from provenn.cli import app
from provenn.cli.output import write_error, write_error_as_json
from provenn.errors import BaseFilesError, DefinitionError
from provenn.hints import Hint, phrase_for_command, phrase_for_page
from provenn.web.asking import make_problem

SOURCE = Path(provenn.__file__).parent
COMMANDS = ("cli", "web", "demo")
"""The rooms that only commands start: their errors may name options."""
ARGUMENT = re.compile(
    r"(?<![\w-])[a-z_]+=(?:True|False|None|[\"'(\[{…]|[ ,;.]|$)|(?<!`)\barchive\.[a-z_]+\(|(?<=\s)\.[a-z]+\("
)
OPTION = re.compile(r"(?<!\S)--[a-z]")
OTHER_COMMANDS = re.compile(r"pip install .*|useradd --system NAME|provenn serve --root PATH")
"""Commands that have no counterpart in Python."""
ONLY_PYTHON = (
    "catalogs/calculators/",  # functions, and what is said of them
    "archive/column_arguments.py",  # mappings and keywords of a call
    "archive/handle.py",
    "archive/new_catalogs.py",  # tables in memory
    "spark/batches.py",  # what a function returns
    "spark/context.py",  # sessions of the caller
    "spark/tables/ascii_rows.py",  # an argument of astropy
    "catalogs/match_options.py",
    "sky/mocs.py",
    "spark/tables/votable_fits.py",  # an argument of STILTS
    "files/votable_scan.py",
)
"""Places whose errors only a call in Python can raise, or whose hints name arguments of another program."""


def texts(node: ast.AST) -> Iterator[str]:
    """Yield the literal texts in an expression; what is filled in is left out."""
    for child in ast.walk(node):
        if isinstance(child, ast.Constant) and isinstance(child.value, str):
            yield child.value


@cache
def hints() -> tuple[tuple[str, str, str], ...]:
    """Return place, interface and text of each hint in the source: "python", "command", "page", or "all"."""
    return tuple(find_hints())


def find_hints() -> Iterator[tuple[str, str, str]]:
    for path in sorted(SOURCE.rglob("*.py")):
        place = path.relative_to(SOURCE).as_posix()
        tree = ast.parse(path.read_text())
        structured = [
            node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "Hint"
        ]
        inside = {id(child) for node in structured for child in ast.walk(node)}
        for node in structured:
            yield from ((place, "python", "".join(texts(argument))) for argument in node.args)
            yield from ((place, str(word.arg), "".join(texts(word.value))) for word in node.keywords)
        for node in ast.walk(tree):
            value = node.value if isinstance(node, ast.keyword) and node.arg == "hint" else None
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "hint":
                value = node.value
            if value is not None and not any(id(child) in inside for child in ast.walk(value)):
                yield place, "all", "".join(texts(value))


def test_no_hint_at_a_terminal_spells_python():
    assert [
        (place, text)
        for place, interface, text in hints()
        if interface in ("command", "page", "all") and not place.startswith(ONLY_PYTHON) and ARGUMENT.search(text)
    ] == []


def test_no_hint_in_python_names_an_option():
    assert [
        (place, text)
        for place, interface, text in hints()
        if interface in ("python", "all")
        and place.split("/")[0] not in COMMANDS
        and OPTION.search(OTHER_COMMANDS.sub("", text))
    ] == []


def test_a_hint_is_the_text_for_python_and_knows_the_others():
    hint = Hint("pass overwrite=True", command="add --overwrite", page="choose another name")
    assert (str(hint), phrase_for_command(hint), phrase_for_page(hint)) == (
        "pass overwrite=True",
        "add --overwrite",
        "choose another name",
    )
    assert phrase_for_page(Hint("pass store=", command="add --store")) == "add --store"
    assert phrase_for_command("try again") == phrase_for_page("try again") == "try again"


def test_a_hint_keeps_its_words_when_it_is_copied():
    hint = Hint("a", command="b", page="c")
    for copied in (pickle.loads(pickle.dumps(hint)), copy.deepcopy(hint)):  # noqa: S301 - its own
        assert (copied, copied.command, copied.page) == ("a", "b", "c")


@pytest.mark.parametrize(
    ("file", "content", "python", "command"),
    [
        ("stars.xyz", "hip\n1\n", 'format="csv"', "--format csv"),
        ("stars.csv", "hip,vmag\n1,2.5\n2,NA\n", "null='NA'", "--null=NA"),
        ("stars.ecsv", "hip\n1\n", "format=…", "--format …"),
    ],
)
def test_an_error_of_ingest_names_arguments_or_options(tmp_path, file, content, python, command):
    (tmp_path / file).write_text(content)
    with provenn.open(tmp_path / "archive") as archive, pytest.raises(BaseFilesError) as caught:
        archive.ingest("stars", tmp_path / file, key="hip", population="star")
    assert python in caught.value.hint
    assert not OPTION.search(caught.value.hint)
    arguments = [
        "ingest",
        "stars",
        str(tmp_path / file),
        "-k",
        "hip",
        "-p",
        "star",
        "--archive",
        str(tmp_path / "archive"),
    ]
    result = CliRunner().invoke(app, arguments)
    assert command in result.stderr
    assert not ARGUMENT.search(result.stderr)


def test_each_interface_shows_its_own_words(capsys):
    error = DefinitionError("it exists", hint=Hint("pass overwrite=True", command="add --overwrite", page="rename it"))
    assert str(error) == "it exists\npass overwrite=True"
    write_error(error)
    assert capsys.readouterr().err == "provenn: it exists\nhint: add --overwrite\n"
    write_error_as_json(error, "DefinitionError")
    assert json.loads(capsys.readouterr().out)["error"]["hint"] == "add --overwrite"
    assert make_problem("name", error).hint == "rename it"
