"""Commands with arguments that nobody would type: each tells what is wrong, and none breaks."""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import PropertyMock, patch

from hypothesis import strategies as st
from typer.testing import CliRunner

from provenn.cli import app, samp
from provenn.errors import EngineError
from provenn.spark.engine import Engine
from tests.cli.commands import all_commands
from tests.fuzz.texts import ODD, texts
from tests.fuzz.trying import Tried, try_all
from tests.web.survey import ODD as NAMES

__all__ = ["accept", "prompt", "try_commands"]

_WITHOUT = {"serve"}  # it would not end
_VALUES = (
    *(
        "stars",
        "bright",
        "faint",
        "galaxies",
        "vmag",
        "plx",
        "hip",
        "stars.parquet",
        "out.csv",
        ".",
        "-",
        "--",
        "0",
        "3",
    ),
    *(
        "-1",
        "0.5",
        "1e400",
        "99999999999999999999",
        "vmag < 6",
        "plx > 5 AND",
        "d=1000 / plx",
        "vmag=v",
        "=",
        "x=",
        "=x",
    ),
    *(
        "bright <= stars",
        "nonempty(bright)",
        "empty(bright)",
        "not",
        "star",
        "double",
        "csv",
        "math:sqrt",
        "json:loads",
    ),
    *NAMES,
)


@contextmanager
def prompt(result: Path, folder: Path) -> Iterator[None]:
    """Go to a folder with a copy of an archive in it, where Spark cannot be started, and a hub ends at once.

    No program beside the tests has a hub there: whoever finds one listens until it ends.
    """
    shutil.copytree(result, folder / "survey")
    before = Path.cwd()
    os.chdir(folder / "survey")
    configured = {"XDG_CONFIG_HOME": str(folder), "PROVENN_ARCHIVE": str(folder / "survey"), "PROVENN_USER": "ada"}
    configured["SAMP_HUB"] = f"std-lockurl:{(folder / 'hub').as_uri()}"
    broken = PropertyMock(side_effect=EngineError("there is no Spark here", hint="there is none"))
    try:
        with (
            patch.dict(os.environ, configured),
            patch.object(Engine, "session", broken),
            patch.object(samp, "_wait_for_interrupt", lambda _: None),
        ):
            yield
    finally:
        os.chdir(before)


def try_commands(cases: int) -> Tried:
    """Try commands, at a `prompt`."""
    value = st.one_of(st.sampled_from(_VALUES), st.sampled_from(ODD), texts())
    typed = st.one_of(
        [_typed(name, command, value) for name, command in all_commands().items() if name not in _WITHOUT]
    )
    return try_all(st.one_of(typed, st.lists(value, max_size=4)), accept, cases)


def accept(words: list[str]) -> bool:
    """Type words after ``provenn``; tell whether that did something."""
    words = [word.replace("\0", "") for word in words]  # no system passes these on
    done = CliRunner().invoke(app, words)
    message = (words, done.exit_code, done.output[-500:])
    assert done.exit_code in (0, 1, 2), message
    assert done.exception is None or isinstance(done.exception, SystemExit), message
    assert "Traceback" not in done.output, message
    if "--json" in words and done.exit_code == 0 and done.stdout and not {"--help", "-h", "--version"} & set(words):
        json.loads(done.stdout)
    return done.exit_code == 0


def _typed(name: str, command: Any, value: st.SearchStrategy[str]) -> st.SearchStrategy[list[str]]:
    """Return ways to type a command: some of its arguments and options, as they should be and as they should not."""
    options = sorted({opt for parameter in command.params for opt in parameter.opts if opt.startswith("-")})
    flags = {opt for parameter in command.params if getattr(parameter, "is_flag", False) for opt in parameter.opts}
    arguments = sum(parameter.param_type_name == "argument" for parameter in command.params)
    inputs = st.sampled_from(options).flatmap(
        lambda item: st.just([item]) if item in flags else value.map(lambda message: [item, message])
    )
    return st.builds(
        lambda words, items: [*name.split(), *words, *(word for some in items for word in some)],
        st.lists(value, min_size=max(0, arguments - 1), max_size=arguments + 1),
        st.lists(inputs, max_size=3),
    )
