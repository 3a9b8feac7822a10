"""What importing does, and what can be imported."""

import ast
import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

import provenn
from provenn.exchange import export_lineage
from tests.cli.commands import all_commands
from tests.dbt.manifests import make_shop

SOURCE = Path(__file__).parent.parent / "src"
MODULES = {
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted((SOURCE / "provenn").rglob("*.py"))
    if path.name != "__main__.py" and "migrations" not in path.parts  # scripts: importing them runs them
}

# The names that other people's code calls: a promise.
PUBLIC = {
    *("Relationship", "Knowledge", "Statement", "statement"),
    *("equal", "subset", "proper_subset", "superset", "proper_superset", "disjoint", "overlapping"),
    *("intersection", "union", "difference", "empty", "nonempty", "outside"),
}
MEMBERS = {
    "Relationship": "of labels kind arrays without including on entails __and__ __or__ __invert__ __rshift__ __sub__ "
    "__len__ __eq__",
    "Knowledge": "add entails judge relationship explain counterexample consistent conflict equal_to subsets_of "
    "supersets_of disjoint_from classify",
    "Explanation": "facts open_universe",
    "World": "regions hypercube",
    "Classification": "classes parents",
    "Verdict": "reason",
}


def loaded(code: str, *arguments: str) -> set[str]:
    """Run some code in a fresh interpreter; return the packages that it loaded."""
    code += "\nprint('loaded', *{name.split('.')[0] for name in sys.modules}, file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONIOENCODING": "utf-8"},
    )
    last = done.stderr.strip().split("\n")[-1]
    assert last.startswith("loaded "), done.stderr
    return set(last.split()[1:])


FORKING = """
import json, os
import typer._adapters
from provenn import cli  # what all commands need is loaded once; none of it is slow, as is checked for --help
from provenn.archive import archive, opening
for line in sys.stdin:
    reading, writing = os.pipe()
    if os.fork() == 0:
        sys.argv = ["provenn", *json.loads(line)]
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        try:
            cli.main()
        except SystemExit:
            pass
        os.write(writing, json.dumps(sorted({name.split(".")[0] for name in sys.modules})).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as report:
        print(report.read(), flush=True)
    os.wait()
"""
# Commands that need no data, each as it is used in the archive below, and which slow packages it may load: sqlglot
# where a criterion is read, pyarrow where files are looked at. A command that is missing here fails the test below.
USES = {
    "prove": ["bright <= stars", "--svg", "-"],
    "example": ["--json"],
    "table": ["--json"],
    "init": [],
    "exports": [],
    "ingest": ["again", "stars.csv", "-k", "hip", "-p", "star"],
    "ls": [],
    "show": ["bright"],
    "lineage": ["bright", "--svg", "-"],
    "name": ["other", "bright"],
    "log": ["bright"],
    "diff": ["bright", "stars"],
    "audit": [],
    "operation": ["0123456789abcdef0123456789abcdef"],
    "token new": ["ada"],
    "token ls": [],
    "token revoke": ["1"],
    "quota set": ["ada", "--jobs", "1"],
    "quota show": [],
    "quota ls": [],
    "project new": ["pulsars"],
    "project add": ["survey", "grace"],
    "project remove": ["survey", "dan"],
    "project ls": [],
    "report": ["bright", "-o", "-"],
    "select": ["stars", "vmag < 5"],
    "sql": ["SELECT hip, 2 * vmag AS v FROM stars WHERE vmag < 5", "--name", "asked"],
    "restrict": ["stars", "bright"],
    "exclude": ["stars", "bright"],
    "sample": ["stars", "0.1"],
    "keep": ["stars", "vmag"],
    "rename": ["stars", "vmag=v"],
    "derive": ["stars", "d=2 * vmag"],
    "combine": ["stars", "bright"],
    "concat": ["stars", "bright"],
    "crossmatch": ["stars", "bright", "--radius", "2", "--left", "hip", "vmag", "--right", "hip", "vmag"],
    "matched": ["pairs"],
    "unmatched": ["pairs"],
    "lookup": ["stars", "bright", "--on", "hip", "--prefix", "bright_"],
    "having": ["stars", "bright", "--on", "hip"],
    "without": ["stars", "bright", "--on", "hip"],
    "group": ["stars", "n=count(*)", "--by", "hip", "--population", "object"],
    "first": ["stars", "--by", "hip", "--order", "vmag"],
    "explode": ["curves", "mags"],
    "relate": ["stars", "bright", "--why"],
    "bounds": ["stars - bright", "--why"],
    "compare": ["stars", "bright", "--svg", "-"],
    "runs": [],
    "declare": ["nonempty(stars)"],
    "retract": ["1"],
    "facts": [],
    "fragments": ["bright"],
    "gc": ["--dry-run"],
    "target": ["bright", "vmag", "--where", "vmag < 3", "--plan", "--svg", "-"],
    "calculator": ["twice", "--sql", "twice=2 * vmag"],
    "calculators": ["--json"],
    "allow": [],
    "prefer": ["twice", "twice"],
    "doctor": [],
    "warm": ["--status"],
    "archive export": ["all.provenn"],
    "archive import": ["survey.provenn"],
    "exchange export": ["-o", "-"],
    "exchange import": ["events.jsonl"],
    "dbt import": ["project"],
    "dbt check": ["project"],
    "dbt diff": ["project", "project"],
    "backup": ["copy"],
    "migrate": ["--to", "0004", "--dry-run"],
    "check": [],
    "samp clients": [],
}
DATA = {
    "store",
    "head",
    "count",
    "sky",
    "plot",
    "export",
    "serve",
    "append",
    "refresh",
    "redefine",
}  # these compute, and may load whatever they need
DATA |= {"samp send", "samp listen", "samp hub", "demo"}
SLOW = {"pyspark", "py4j", "pandas", "alembic", "sqlglot", "pyarrow", "astropy"}
MAY_LOAD = {name: {"sqlglot"} for name in ("select", "sql", "derive", "group", "first")}
MAY_LOAD |= {name: {"pyarrow"} for name in ("ingest", "gc", "check", "doctor")}
MAY_LOAD |= {name: {"sqlglot"} for name in ("target", "calculator", "calculators")}
MAY_LOAD |= {"exchange export": {"sqlglot"}, "archive import": {"sqlglot"}}  # imports parse criteria anew
MAY_LOAD |= {name: {"sqlglot"} for name in ("dbt import", "dbt check", "dbt diff")}
MAY_LOAD |= {"declare": {"sqlglot"}}  # criteria on the sides of pairs are read
MAY_LOAD |= {"migrate": {"alembic"}, "backup": {"alembic", "pyarrow"}}  # steps from format to format; data are copied


REASONING = {"numpy", "pysat"}
QUICK = {"init", "exports", "ls", "show", "lineage", "log", "audit", "operation", "runs", "allow"}
QUICK |= {"token new", "token ls", "token revoke", "quota set", "quota show", "quota ls"}
QUICK |= {"project new", "project add", "project remove", "project ls"}
"""Commands that prove nothing, and load nothing of `REASONING`."""


@pytest.fixture(scope="module")
def survey(tmp_path_factory):
    """A folder that is an archive, with two catalogs and a fact."""
    folder = tmp_path_factory.mktemp("survey")
    (folder / "stars.csv").write_text("hip,vmag\n1,2.0\n")
    with provenn.open(folder) as archive:
        archive.ingest("stars", folder / "stars.csv", key="hip", population="star").select("vmag < 6", name="bright")
        archive["bright"].crossmatch("stars", 2, on=("hip", "vmag"), name="pairs")
        archive["stars"].group("hip", population="curve", mags="collect(vmag ORDER BY vmag)", name="curves")
        archive.declare("nonempty(bright)")
        archive.new_project("survey")
        archive.add_member("survey", "dan")
        archive.export_definitions(folder / "survey.provenn")
        models = make_shop().model("big", "select id from {orders} where amount > 1", "orders")
        models.write(folder / "project")
        with (folder / "events.jsonl").open("w") as events:
            export_lineage(archive, events, "stars")
            events.write('{"job": {"namespace": "n", "name": "j"}}')
    return folder


@pytest.fixture(scope="module")
def run(survey):
    """Return a function that runs a command in a fork of a fresh interpreter, and returns the packages it loaded."""
    command = [sys.executable, "-c", f"import sys\n{FORKING}"]
    options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "cwd": survey}
    no_hub = {"SAMP_HUB": f"std-lockurl:file://{survey}/no-hub"}  # other tests run a hub at the same time
    with subprocess.Popen(command, env=os.environ | no_hub | {"PYTHONIOENCODING": "utf-8"}, **options) as process:

        def run_command(*arguments: str) -> set[str]:
            process.stdin.write(json.dumps(arguments) + "\n")
            process.stdin.flush()
            return set(json.loads(process.stdout.readline()))

        yield run_command
        process.stdin.close()


def test_every_command_is_known_to_need_data_or_not():
    assert set(all_commands()) == {*USES, *DATA}
    assert not DATA & set(USES)


@pytest.mark.parametrize("arguments", [["--help"], *([name, *rest] for name, rest in USES.items())], ids=" ".join)
def test_no_command_that_needs_no_data_imports_pyspark_or_what_else_it_can_do_without(arguments, run):
    packages = run(*arguments[0].split(), *arguments[1:])
    assert not packages & (SLOW - MAY_LOAD.get(arguments[0], set()))
    assert arguments[0] not in QUICK or not packages & REASONING
    assert MAY_LOAD.get(arguments[0], set()) <= packages, "it was really used"


def test_a_command_imports_the_module_of_no_other_command(survey):
    code = "import sys; sys.argv = ['provenn', 'ls', '-a', sys.argv[1]]\nfrom provenn import cli\ntry: cli.main()\n"
    code += "except SystemExit: pass\nprint(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code, survey], capture_output=True, text=True, check=True)
    shared = {"archives", "completion", "failures", "habits", "output", "output_files", "registry", "table_fitting"}
    assert {name for name in done.stderr.split() if name.startswith("provenn.cli.")} == {
        f"provenn.cli.{name}" for name in shared | {"ls"}
    }


NEEDLESS = {"provenn.criteria.reductions", "provenn.criteria.periodic_facts", "provenn.criteria.text_facts"}
NEEDLESS |= {"provenn.criteria.coordinates", "provenn.logic.knowledge.weighted_sat", "provenn.logic.counting"}
NEEDLESS |= {"provenn.knowledge.row_search", "provenn.targets", "pysat.examples", "sqlglot"}


def test_relating_catalogs_by_plain_comparisons_loads_no_theory_of_other_criteria(survey):
    code = "import sys; sys.argv = ['provenn', 'relate', 'bright', 'stars', '-a', sys.argv[1]]\n"
    code += "from provenn import cli\ntry: cli.main()\n"
    code += "except SystemExit: pass\nprint(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code, survey], capture_output=True, text=True, check=True)
    assert "bright lies inside stars" in done.stdout
    assert not NEEDLESS & set(done.stderr.split())


BOUNDING = {"provenn.logic.knowledge.weighted_sat", "pysat.examples"}
"""What bounds a number before it is counted."""

READING = {"provenn.criteria.reductions", "sqlglot", "pyspark", *BOUNDING}


@pytest.mark.parametrize(("command", "needed"), [("head", set()), ("count", BOUNDING)])
def test_a_look_at_a_plain_selection_loads_neither_theories_nor_spark(tmp_path, command, needed):
    parquet.write_table(pa.table({"hip": [1, 2], "vmag": [2.0, 7.0]}), tmp_path / "stars.parquet")
    with provenn.open(tmp_path) as archive:
        stars = archive.ingest("stars", tmp_path / "stars.parquet", key="hip", population="star")
        stars.select("vmag < 6", name="bright")
    code = "import sys; sys.argv = ['provenn', sys.argv[1], 'bright', '-a', sys.argv[2], '--engine', 'look']\n"
    code += "from provenn import cli\ntry: cli.main()\n"
    code += "except SystemExit as end: assert not end.code\nprint(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code, command, tmp_path], capture_output=True, text=True, check=True)
    assert done.stdout
    assert not (READING - needed) & set(done.stderr.split())


@pytest.mark.parametrize("name", [name for name, path in MODULES.items() if path.name == "__init__.py"])
def test_a_package_offers_the_names_that_it_imports_for_type_checkers(name):
    tree = ast.parse(MODULES[name].read_text(encoding="utf-8"))
    blocks = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    if "offer_names" not in MODULES[name].read_text(encoding="utf-8"):
        return
    imported = {alias.name for block in blocks for node in block.body for alias in node.names}
    assert imported == set(importlib.import_module(name).__dir__())
    assert imported <= set(importlib.import_module(name).__all__)


def test_opening_an_archive_loads_no_room_that_plans_copies_or_checks():
    """Nor the theories of criteria: a question that needs one of them imports it then."""
    rooms = ["targets", "transfer", "soundness", "logic.counting", "criteria.reductions", "criteria.theory.refuting"]
    names = ", ".join(repr(f"provenn.{room}") for room in rooms)
    code = f"from provenn.archive import open_archive\nprint('loaded', *{{{names}}} & {{*sys.modules}})"
    done = subprocess.run([sys.executable, "-c", f"import sys\n{code}"], capture_output=True, text=True, check=True)
    assert done.stdout == "loaded\n"


def test_the_logic_needs_neither_typer_nor_rich():
    assert not loaded("import provenn.logic") & {"typer", "rich", "pyspark"}


def test_importing_the_package_costs_nothing():
    assert not loaded("import provenn") & {"numpy", "pysat", "typer"}


@pytest.mark.parametrize("name", MODULES)
def test_every_module_says_what_it_offers_and_has_it(name):
    module = importlib.import_module(name)
    assert len(set(module.__all__)) == len(module.__all__)
    assert [member for member in module.__all__ if not hasattr(module, member)] == []
    assert module.__doc__, "and what it is for"


def test_the_public_names_are_there():
    logic = importlib.import_module("provenn.logic")
    assert set(logic.__all__) >= PUBLIC
    for owner, members in MEMBERS.items():
        promised = getattr(logic, owner)
        fields = getattr(promised, "__dataclass_fields__", {})
        assert [member for member in members.split() if not hasattr(promised, member) and member not in fields] == [], (
            owner
        )


def test_no_package_offers_a_name_that_a_module_of_it_has():
    """The import of such a module would put the module in the place of what is offered."""
    packages = [
        path for path in Path(provenn.__file__).parent.rglob("__init__.py") if "offer_names(" in path.read_text()
    ]
    assert packages
    for path in packages:
        package = importlib.import_module(".".join(path.parent.relative_to(Path(provenn.__file__).parent.parent).parts))
        modules = {module.stem for module in path.parent.iterdir()}
        assert not modules & set(package.__dir__()), package.__name__
