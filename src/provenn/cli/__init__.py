"""The command line: one module per command. Only the module of the command that is run is imported.

`registry` names the modules. A command imports its dependencies when it runs, so that all commands start fast.
"""

import atexit
import os
import re
import sys
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from functools import cache
from gc import freeze, set_threshold
from importlib import import_module
from io import TextIOWrapper
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from provenn._version import __version__
from provenn.cli.failures import asks_for_json, report_error, report_usage_as_json
from provenn.cli.habits import translate_habits
from provenn.cli.output import IS_JSON_WANTED
from provenn.cli.registry import COMMANDS, GROUPS

__all__ = ["app", "main", "make_app"]


_EXAMPLE = re.compile(r"- `(provenn [^`]+)`")
_VALIDATOR = re.compile(r"Input should be a valid (integer|number)")
_EXTRA_ARGUMENT = "Got unexpected extra argument"
_LIKENESS = 0.7
"""How much alike a command and what was typed instead must be: ``slect`` and ``select`` are, and more than 0.9."""
_FEW = 6
"""How many commands of a group are listed in place of a suggestion."""
_UsageError: type[Exception] = typer.BadParameter.__mro__[1]  # typer has no name for it


class _PlainFlags:
    """Parameters of which the help shows no type where they take no value."""

    def get_params(self, ctx: Any) -> list[Any]:  # noqa: ANN401 - the context of typer's own click
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for parameter in parameters:
            if getattr(parameter, "is_flag", False):
                parameter.metavar = ""
        return parameters


class _Command(_PlainFlags, TyperCommand):
    """A command."""


class _Group(_PlainFlags, TyperGroup):
    """A group of commands with two words."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401 - of typer's own click
        """Return a command by its word; suggest another only if it is spelt almost like the word."""
        self.suggest_commands = False  # typer's own suggestions are words that share a few letters
        try:
            return super().resolve_command(ctx, args)
        except _UsageError as error:
            near = get_close_matches(args[0], self.commands, cutoff=_LIKENESS) if args else []
            if near:
                _set_message(error, f"No such command {args[0]!r}. Did you mean {' or '.join(map(repr, near))}?")
            elif args and len(self.commands) <= _FEW:
                _set_message(error, f"No such command {args[0]!r}. {ctx.command_path} has {', '.join(self.commands)}.")
            raise


class _Commands(_Group):
    """The group of all commands; it reports errors as messages instead of stack traces."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - the context of typer's own click
        ctx.meta[IS_JSON_WANTED] = asks_for_json(args)
        try:
            return super().parse_args(ctx, translate_habits(args))
        except _UsageError as error:
            option = getattr(error, "option_name", "")
            owners = [name for name, command in self.commands.items() if option in _list_options(command, ctx)]
            if owners:
                command_name = next((argument for argument in args if argument in owners), owners[0])
                _set_message(error, f"{option} comes after the command: provenn {command_name} {option}")
            _report_usage(error, ctx)
            raise

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - as above
        if "" not in sys.path:
            sys.path.append("")  # so that calculators in the current folder are importable, as with python -m provenn
        try:
            return super().invoke(ctx)
        except (typer.Exit, typer.Abort):
            raise
        except _UsageError as error:
            option = getattr(error, "option_name", "")
            if option in _list_options(self, ctx):
                message = f"{option} comes before the command: provenn {option} {ctx.invoked_subcommand}"
                _set_message(error, message)
            _reword(error)
            _add_example(error)
            _report_usage(error, ctx)
            raise
        except KeyboardInterrupt as interrupt:
            if ctx.params["debug"]:
                raise
            typer.echo("provenn: cancelled", err=True)
            raise typer.Exit(130) from interrupt
        except Exception as error:
            # When the reader of the output is gone, typer ends quietly.
            if ctx.params["debug"] or isinstance(error, BrokenPipeError):
                raise
            raise typer.Exit(report_error(error, as_json=ctx.meta[IS_JSON_WANTED])) from error


def _list_options(command: Any, ctx: Any) -> set[str]:  # noqa: ANN401 - of typer's own click
    """Return the options of a command, for example ``--json``, without arguments."""
    return {option for parameter in command.get_params(ctx) for option in parameter.opts if option.startswith("-")}


def _set_message(error: Any, message: str) -> None:  # noqa: ANN401 - of typer's own click
    """Replace the message of a usage error, and drop the options that click would suggest instead."""
    error.message, error.possibilities = message, None


def _report_usage(error: Any, ctx: Any) -> None:  # noqa: ANN401 - of typer's own click
    """Write a usage error as JSON if the command line asks for JSON."""
    if ctx.meta[IS_JSON_WANTED]:
        report_usage_as_json(error.format_message())


def _reword(error: Any) -> None:  # noqa: ANN401 - of typer's own click
    """Replace the words of a validator in an error about a number."""
    kind = _VALIDATOR.match(error.message)
    if kind is not None:
        error.message = f"it must be a {'whole ' if kind[1] == 'integer' else ''}number"


def _add_example(error: Any) -> None:  # noqa: ANN401 - of typer's own click
    """Add an example to an error about arguments or an unknown option, and what an argument is that is missing."""
    is_missing = type(error).__name__ == "MissingParameter"
    is_unknown = type(error).__name__ == "NoSuchOption" and not error.possibilities
    if error.ctx is None or not (is_missing or is_unknown or error.message.startswith(_EXTRA_ARGUMENT)):
        return
    if is_unknown and not error.option_name.startswith("--"):
        error.message += ". Write -- before arguments that begin with -"
    example = _choose_example(error.ctx)
    first = getattr(error.param, "help", None) if is_missing else f"{error.message}."
    error.message = " ".join(filter(None, (first, example and f"For example: {example}")))


def _choose_example(context: Any) -> str | None:  # noqa: ANN401 - of typer's own click
    """Return an example of a command: if there is any, an example with the flags that are given."""
    examples: list[str] = _EXAMPLE.findall(context.command.help or "")
    flags = {f"--{name}" for name, value in context.params.items() if value is True}
    return max(examples, key=lambda example: len(flags.intersection(example.split())), default=None)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"provenn {__version__}")
        raise typer.Exit


def _provenn(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show a stack trace for every error.")] = False,
) -> None:
    """Catalogs that know what they hold before they are computed.

    Try:

    - `provenn demo`: what provenn does, on real stars
    - `provenn example`: the method, step by step, on four catalogs
    - `provenn prove --given "B <= A" --given "C == A" "B <= C"`: a proof, with its reason
    - `provenn table --svg table.svg`: how two sets can be related, as a picture
    - `provenn init survey`: an archive, for catalogs of your own
    - `provenn target bright dist_pc --plan`: how attributes of sources would be computed, and what is not
    """


def make_app(only: str | None = None) -> typer.Typer:
    """Return the command line, with all commands or with a single command or group; only its modules are imported."""
    app = typer.Typer(
        cls=_Commands,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode="markdown",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_provenn)
    for panel, commands in COMMANDS.items():
        for name, place in commands.items():
            if only in (None, name):
                app.command(name, cls=_Command, rich_help_panel=panel)(_import_command(place))
    for name, group in GROUPS.items():
        if only in (None, name):
            members = typer.Typer(cls=_Group, no_args_is_help=True, rich_markup_mode="markdown", help=group.help)
            for word, place in group.commands.items():
                members.command(word, cls=_Command)(_import_command(place))
            app.add_typer(members, name=name, rich_help_panel=group.panel)
    return app


def _import_command(place: str) -> Callable[..., None]:
    """Return the function of a command, given as ``module.function``."""
    module, _, function = place.partition(".")
    command: Callable[..., None] = getattr(import_module(f"provenn.cli.{module}"), function)
    return command


def _find_command(arguments: Sequence[str]) -> str | None:
    """Return the command or group that the arguments begin with, or None if they begin otherwise."""
    first = arguments[0] if arguments else ""
    return first if first in GROUPS or any(first in commands for commands in COMMANDS.values()) else None


if TYPE_CHECKING:
    app: typer.Typer


@cache
def __getattr__(name: str) -> Any:  # noqa: ANN401 - any name
    """Return the whole command line as ``app``, made on first access: to run a command, a part suffices."""
    if name == "app":
        return make_app()
    raise AttributeError(f"module 'provenn.cli' has no attribute {name!r}")


def main() -> None:
    """Run the command line, and exit with its status: see docs/reference/cli.md."""
    set_threshold(50_000, 20, 20)  # looking for garbage among what is imported takes a tenth of a short command
    atexit.register(freeze)  # looking for it at the end takes another sixth, and the process frees everything
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without ● still shows the rest
    if os.environ.get("NO_COLOR"):
        from typer import rich_utils  # noqa: PLC0415 - slow to import

        rich_utils.COLOR_SYSTEM = None  # rich alone would still write in bold
    make_app(_find_command(translate_habits(sys.argv[1:])))()
