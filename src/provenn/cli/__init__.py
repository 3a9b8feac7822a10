"""The command line: one module per command. A command imports its dependencies when run, so that all start fast."""

import os
import sys
from collections.abc import Callable
from io import TextIOWrapper
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from provenn._version import __version__
from provenn.cli import (
    allow,
    append,
    archive_export,
    archive_import,
    audit,
    backup,
    bounds,
    calculator,
    calculators,
    check,
    combine,
    compare,
    concat,
    count,
    crossmatch,
    declare,
    demo,
    derive,
    diff,
    doctor,
    example,
    exchange,
    exclude,
    export,
    exports,
    facts,
    fragments,
    gc,
    head,
    ingest,
    init,
    keep,
    lineage,
    log,
    ls,
    matched,
    migrate,
    name,
    operation,
    prefer,
    project,
    prove,
    quota,
    redefine,
    refresh,
    relate,
    rename,
    report,
    restrict,
    retract,
    runs,
    samp,
    sample,
    select,
    serve,
    show,
    store,
    table,
    target,
    token,
)
from provenn.cli.failures import report_error

__all__ = ["app", "main"]


_UsageError: type[Exception] = typer.BadParameter.__mro__[1]  # typer has no name for it


class _Commands(TyperGroup):
    """The group of all commands; it reports errors as messages instead of stack traces."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - the context of typer's own click
        try:
            return super().parse_args(ctx, args)
        except _UsageError as error:
            option = getattr(error, "option_name", "")
            owners = [name for name, command in self.commands.items() if option in _list_options(command, ctx)]
            if owners:
                command_name = next((argument for argument in args if argument in owners), owners[0])
                _set_message(error, f"{option} comes after the command: provenn {command_name} {option}")
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
            raise typer.Exit(report_error(error)) from error


def _list_options(command: Any, ctx: Any) -> set[str]:  # noqa: ANN401 - of typer's own click
    """Return the options of a command, for example ``--json``, without arguments."""
    return {option for parameter in command.get_params(ctx) for option in parameter.opts if option.startswith("-")}


def _set_message(error: Any, message: str) -> None:  # noqa: ANN401 - of typer's own click
    """Replace the message of a usage error, and drop the options that click would suggest instead."""
    error.message, error.possibilities = message, None


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"provenn {__version__}")
        raise typer.Exit


@app.callback()
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


_COMMANDS: dict[str, dict[str, Callable[..., None]]] = {
    "An archive": {
        "init": init.init,
        "ingest": ingest.ingest,
        "append": append.append,
        "refresh": refresh.refresh,
        "redefine": redefine.redefine,
        "ls": ls.list_catalogs,
        "show": show.show,
        "lineage": lineage.show_lineage,
        "name": name.set_name,
        "log": log.show_log,
        "diff": diff.show_difference,
        "audit": audit.show_audit,
        "operation": operation.show_operation,
        "report": report.report,
        "serve": serve.serve,
        "backup": backup.back_up,
        "migrate": migrate.migrate_archive,
    },
    "New catalogs": {
        "select": select.select,
        "restrict": restrict.restrict,
        "exclude": exclude.exclude,
        "sample": sample.sample,
        "keep": keep.keep,
        "rename": rename.rename,
        "derive": derive.derive,
        "combine": combine.combine,
        "concat": concat.concat,
        "crossmatch": crossmatch.crossmatch,
        "matched": matched.define_matched,
    },
    "What is known": {
        "relate": relate.relate,
        "bounds": bounds.show_bounds,
        "compare": compare.compare,
        "prove": prove.prove,
        "declare": declare.declare,
        "retract": retract.retract,
        "facts": facts.show_facts,
    },
    "Data": {
        "target": target.answer_target,
        "head": head.show_head,
        "count": count.show_count,
        "export": export.export,
        "exports": exports.show_exports,
        "store": store.store,
        "fragments": fragments.show_fragments,
        "runs": runs.show_runs,
        "gc": gc.collect_garbage,
        "check": check.check,
    },
    "Calculators": {
        "calculator": calculator.register_calculator,
        "calculators": calculators.show_calculators,
        "allow": allow.allow,
        "prefer": prefer.prefer,
    },
    "Help": {
        "doctor": doctor.diagnose,
    },
    "The method": {
        "demo": demo.show_demo,
        "example": example.show_example,
        "table": table.show_table,
    },
}
for _panel, _commands in _COMMANDS.items():
    for _name, _command in _commands.items():
        app.command(_name, rich_help_panel=_panel)(_command)

_archive = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Move definitions and facts between archives in portable files.",
)
_archive.command("export")(archive_export.export_archive)
_archive.command("import")(archive_import.import_archive)
app.add_typer(_archive, name="archive", rich_help_panel="An archive")

_exchange = typer.Typer(
    no_args_is_help=True, rich_markup_mode="markdown", help="Export and import lineage: OpenLineage, W3C PROV."
)
_exchange.command("export")(exchange.export_lineage)
_exchange.command("import")(exchange.import_lineage)
app.add_typer(_exchange, name="exchange", rich_help_panel="An archive")

_project = typer.Typer(
    no_args_is_help=True, rich_markup_mode="markdown", help="Manage projects, whose members share names and facts."
)
_project.command("new")(project.new_project)
_project.command("add")(project.add_member)
_project.command("remove")(project.remove_member)
_project.command("ls")(project.list_projects)
app.add_typer(_project, name="project", rich_help_panel="An archive")

_token = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown", help="Manage access tokens for the server.")
_token.command("new")(token.new_token)
_token.command("ls")(token.list_tokens)
_token.command("revoke")(token.revoke_token)
app.add_typer(_token, name="token", rich_help_panel="An archive")

_quota = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown", help="Manage quotas of people.")
_quota.command("set")(quota.set_quota)
_quota.command("show")(quota.show_quota)
_quota.command("ls")(quota.list_quotas)
app.add_typer(_quota, name="quota", rich_help_panel="An archive")

_samp = typer.Typer(
    no_args_is_help=True, rich_markup_mode="markdown", help="Exchange tables with TOPCAT, Aladin and notebooks by SAMP."
)
_samp.command("send")(samp.send)
_samp.command("listen")(samp.listen)
_samp.command("clients")(samp.list_clients)
_samp.command("hub")(samp.run_hub)
app.add_typer(_samp, name="samp", rich_help_panel="Data")


def main() -> None:
    """Run the command line, and exit with its status: see docs/reference/cli.md."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without ● still shows the rest
    if os.environ.get("NO_COLOR"):
        from typer import rich_utils  # noqa: PLC0415 - slow to import

        rich_utils.COLOR_SYSTEM = None  # rich alone would still write in bold
    app()
