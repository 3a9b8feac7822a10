"""The documentation is complete, its examples do what they show, and its links lead somewhere."""

import doctest
import inspect
import math
import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import pytest
import typer
from typer.testing import CliRunner

import provenn
from provenn import archive, cli, errors, logic
from provenn.spark.engine import Engine
from tests.cli.commands import all_commands

ROOT = Path(__file__).parent.parent
REFERENCE = ROOT / "docs" / "reference"
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    *sorted(path for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts),
]
FENCE = re.compile(r"^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def reference() -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(REFERENCE.iterdir()))


# --- complete ---


def unmentioned(names: list[str], text: str) -> list[str]:
    return [name for name in names if not re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text)]


@pytest.mark.parametrize("module", [provenn, archive, logic, errors], ids=lambda module: module.__name__)
def test_every_public_name_is_in_the_reference(module):
    assert unmentioned(module.__all__, reference()) == []


@pytest.mark.parametrize("room", [logic, archive], ids=lambda room: room.__name__)
def test_every_public_method_and_attribute_of_a_room_is_in_its_reference(room):
    text = (REFERENCE / f"{room.__name__.rpartition('.')[2]}.md").read_text(encoding="utf-8")
    for name in room.__all__:
        item = getattr(room, name)
        if inspect.isclass(item):
            own = [part for part in dir(item) if not part.startswith("_") and not hasattr(str, part)]
            inherited = {part for part in own if any(hasattr(base, part) for base in item.__bases__)}
            assert unmentioned([part for part in own if part not in inherited], text) == [], name


def test_every_command_and_every_option_is_in_the_reference():
    text = (REFERENCE / "cli.md").read_text(encoding="utf-8")
    group = typer.main.get_command(cli.app)
    for parameter in group.params:
        assert unmentioned(list(parameter.opts), text) == []
    for name, command in all_commands(group).items():
        section = re.search(rf"^## `provenn {name}`$(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
        assert section, f"docs/reference/cli.md has no section `provenn {name}`"
        options = [option for parameter in command.params for option in parameter.opts if option.startswith("-")]
        assert unmentioned([option for option in options if option not in {"-h", "--help"}], section[1]) == [], name


def test_the_error_tree_names_every_error_and_is_the_one_in_the_reference(golden):
    tree = dedent(errors.__doc__.split("::\n\n")[1].split("\n\n")[0])
    assert unmentioned([name for name in errors.__all__ if name.endswith("Error")], tree) == []
    golden("docs/reference/error-tree.txt", tree + "\n")


# --- true ---


@dataclass(frozen=True, slots=True)
class Command:
    """A command in a page: its words, the exit status stated, and the output shown, if any."""

    words: list[str]
    status: int
    shown: str


def blocks(page: Path, *languages: str) -> Iterator[tuple[str, str]]:
    for match in FENCE.finditer(page.read_text(encoding="utf-8")):
        if match["language"] in languages:
            yield match["language"], match["text"]


def commands(block: str) -> Iterator[Command]:
    """Read what stands after each ``$``; ``# exit status N`` states the exit status where it is not 0."""
    for part in re.split(r"^\$ ", block.replace("\\\n", ""), flags=re.MULTILINE)[1:]:
        typed, _, shown = part.partition("\n")
        stated = re.search(r"# exit status (\d)$", typed)
        yield Command(shlex.split(typed, comments=True), int(stated[1]) if stated else 0, shown)


def follow(command: Command) -> None:
    """Run a command of provenn, and make the file that ``cat`` shows; leave others to the reader."""
    if command.words[0] == "cat":
        Path(command.words[1]).write_text(command.shown, encoding="utf-8")
    elif command.words[0] == "provenn":
        result = CliRunner().invoke(cli.app, command.words[1:])
        assert result.exit_code == command.status, f"{command.words}\n{result.output}"
        if command.shown:
            matches = doctest.OutputChecker().check_output(command.shown, result.output, doctest.ELLIPSIS)
            assert matches, f"{command.words} shows\n{result.output}"


@pytest.fixture
def namespace() -> Iterator[dict[str, object]]:
    """What the examples of a page define; archives that they leave open are closed, and with them Spark."""
    names: dict[str, object] = {"__name__": "__example__"}
    yield names
    for name in names.values():
        if isinstance(name, provenn.Archive):
            name.close()


@contextmanager
def spark_in_this_folder() -> Iterator[None]:
    """Start the Spark of all tests before an example starts one, and let it look for relative paths in this folder."""
    with Engine() as engine:
        context = engine.session.sparkContext
        hadoop = context._jvm.org.apache.hadoop.fs
        files = hadoop.FileSystem.get(context._jsc.hadoopConfiguration())
        before = files.getWorkingDirectory()
        files.setWorkingDirectory(hadoop.Path(Path.cwd().as_uri()))
        try:
            yield
        finally:
            files.setWorkingDirectory(before)


@each_page
def test_examples_do_what_they_show(page, tmp_path, monkeypatch, namespace):
    """From top to bottom of a page, in one folder: commands with their exit status and output, and Python."""
    monkeypatch.chdir(tmp_path)
    # A slow machine would show progress.
    monkeypatch.setattr("provenn.cli.archives._show_progress", lambda _progress: None)
    monkeypatch.setattr("provenn.cli.backup._INTERVAL", math.inf)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False)
    starts_spark = any(">>> spark = SparkSession" in text for _, text in blocks(page, "pycon"))
    with spark_in_this_folder() if starts_spark else nullcontext():
        for language, text in blocks(page, "console", "pycon", "python"):
            if language == "console":
                for command in commands(text):
                    follow(command)
            elif language == "pycon":
                example = doctest.DocTestParser().get_doctest(text, namespace, page.name, str(page), 0)
                reports: list[str] = []
                runner.run(example, out=reports.append, clear_globs=False)
                namespace.update(example.globs)
                assert not reports, "".join(reports)
            else:
                exec(compile(text, str(page), "exec"), namespace)  # noqa: S102 - our own examples


def test_the_examples_are_found():
    """So that a change of style cannot make the test above pass by finding none."""
    results = [language for page in PAGES for language, _ in blocks(page, "console", "pycon")]
    assert results.count("console") >= 8
    assert results.count("pycon") >= 20


def test_every_command_of_the_shell_is_in_a_block_that_is_run():
    for page in PAGES:
        for _, text in blocks(page, "sh", "bash", "shell"):
            assert "provenn " not in text, f"{page}: write it as console, after a $"


# --- connected ---


def anchor(heading: str) -> str:
    """The anchor of a heading, as GitHub and Sphinx make it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


@each_page
def test_links_lead_somewhere(page):
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for match in LINK.finditer(text):
        path, _, fragment = match["target"].partition("#")
        if path.startswith(("http://", "https://", "mailto:")):
            continue
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{page}: {match[0]}"
        if fragment:
            headings = map(anchor, HEADING.findall(target.read_text(encoding="utf-8")))
            assert fragment in headings, f"{page}: {match[0]}"


def test_every_picture_is_shown_somewhere():
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert [file.name for file in (ROOT / "docs" / "pictures").iterdir() if f"pictures/{file.name})" not in text] == []
