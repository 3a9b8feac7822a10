"""All commands by the names that people type, each with the module and function that runs it.

A module is named, and not imported: `provenn.cli` imports the module of the command that is run.
"""

from typing import Final, NamedTuple

__all__ = ["COMMANDS", "GROUPS", "CommandGroup"]


class CommandGroup(NamedTuple):
    """A group of commands with two words, such as ``archive export``.

    Parameters
    ----------
    help
        What the commands of the group do.
    commands
        The commands by their second word.
    panel
        The panel of the help in which the group stands.
    """

    help: str
    commands: dict[str, str]
    panel: str = "An archive"


COMMANDS: Final[dict[str, dict[str, str]]] = {
    "An archive": {
        "init": "init.init",
        "ingest": "ingest.ingest",
        "append": "append.append",
        "refresh": "refresh.refresh",
        "redefine": "redefine.redefine",
        "ls": "ls.list_catalogs",
        "show": "show.show",
        "lineage": "lineage.show_lineage",
        "name": "name.set_name",
        "log": "log.show_log",
        "diff": "diff.show_difference",
        "audit": "audit.show_audit",
        "operation": "operation.show_operation",
        "report": "report.report",
        "serve": "serve.serve",
        "backup": "backup.back_up",
        "migrate": "migrate.migrate_archive",
    },
    "New catalogs": {
        "select": "select.select",
        "restrict": "restrict.restrict",
        "exclude": "exclude.exclude",
        "sample": "sample.sample",
        "keep": "keep.keep",
        "rename": "rename.rename",
        "derive": "derive.derive",
        "combine": "combine.combine",
        "concat": "concat.concat",
        "crossmatch": "crossmatch.crossmatch",
        "matched": "matched.define_matched",
        "unmatched": "unmatched.define_unmatched",
        "lookup": "lookup.look_up",
        "having": "having.define_having",
        "without": "without.define_without",
        "group": "group.define_groups",
        "first": "first.define_first",
        "explode": "explode.explode",
        "sql": "sql.answer_sql",
    },
    "What is known": {
        "relate": "relate.relate",
        "bounds": "bounds.show_bounds",
        "compare": "compare.compare",
        "prove": "prove.prove",
        "declare": "declare.declare",
        "retract": "retract.retract",
        "facts": "facts.show_facts",
    },
    "Data": {
        "target": "target.answer_target",
        "head": "head.show_head",
        "count": "count.show_count",
        "sky": "sky.draw_sky",
        "plot": "plot.plot_attributes",
        "export": "export.export",
        "exports": "exports.show_exports",
        "store": "store.store",
        "fragments": "fragments.show_fragments",
        "runs": "runs.show_runs",
        "gc": "gc.collect_garbage",
        "check": "check.check",
        "warm": "warm.warm",
    },
    "Calculators": {
        "calculator": "calculator.register_calculator",
        "calculators": "calculators.show_calculators",
        "allow": "allow.allow",
        "prefer": "prefer.prefer",
    },
    "Help": {
        "doctor": "doctor.diagnose",
    },
    "The method": {
        "demo": "demo.show_demo",
        "example": "example.show_example",
        "table": "table.show_table",
    },
}
"""The commands by the panel of the help in which they stand: ``module.function``, below `provenn.cli`."""

GROUPS: Final[dict[str, CommandGroup]] = {
    "archive": CommandGroup(
        "Move definitions and facts between archives in portable files.",
        {"export": "archive_export.export_archive", "import": "archive_import.import_archive"},
    ),
    "dbt": CommandGroup(
        "Import, check and compare projects of dbt.",
        {
            "import": "dbt_project.import_project",
            "check": "dbt_project.check_project",
            "diff": "dbt_project.compare_projects",
        },
    ),
    "exchange": CommandGroup(
        "Export and import lineage: OpenLineage, W3C PROV.",
        {"export": "exchange.export_lineage", "import": "exchange.import_lineage"},
    ),
    "project": CommandGroup(
        "Manage projects, whose members share names and facts.",
        {
            "new": "project.new_project",
            "add": "project.add_member",
            "remove": "project.remove_member",
            "ls": "project.list_projects",
        },
    ),
    "token": CommandGroup(
        "Manage access tokens for the server.",
        {"new": "token.new_token", "ls": "token.list_tokens", "revoke": "token.revoke_token"},
    ),
    "quota": CommandGroup(
        "Manage quotas of people.", {"set": "quota.set_quota", "show": "quota.show_quota", "ls": "quota.list_quotas"}
    ),
    "samp": CommandGroup(
        "Exchange tables with TOPCAT, Aladin and notebooks by SAMP.",
        {"send": "samp.send", "listen": "samp.listen", "clients": "samp.list_clients", "hub": "samp.run_hub"},
        panel="Data",
    ),
}
"""The groups by their first word."""
