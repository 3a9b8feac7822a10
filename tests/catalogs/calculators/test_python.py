"""Python calculators: found again by import path and hash of their module, or refused."""

import importlib
import math
import os
import sys
from hashlib import sha256
from pathlib import Path
from types import FunctionType

import pytest

from provenn.catalogs import PythonCalculator, SqlCalculator, calculator_from
from provenn.errors import AttributeConflictError, CalculatorChangedError, CalculatorError, TypeNameError
from tests.catalogs.calculators import example

GIVEN = {"inputs": ["g", "r"], "outputs": {"z": "double"}}


def test_a_calculator_is_an_import_path_and_the_hash_of_a_module():
    calculator = PythonCalculator.of(example.photo_z, **GIVEN, parameters={"b": [1, 2], "a": None}, version="1.0")
    assert calculator.function == "tests.catalogs.calculators.example:photo_z"
    assert calculator.source == sha256(Path(example.__file__).read_bytes()).hexdigest()
    assert calculator.parameters == {"a": None, "b": [1, 2]}
    assert (calculator.names, calculator.inputs, calculator.scope, calculator.kind) == (
        ("z",),
        ("g", "r"),
        "row",
        "pandas",
    )
    assert calculator.load() is example.photo_z


def test_definitions_give_calculators_again():
    for catalog in (
        PythonCalculator.of(example.photo_z, **GIVEN, parameters={"a": 1}, kind="arrow", scope="catalog"),
        SqlCalculator.of({"d": "1000 / plx", "B-V": "b - v"}),
    ):
        again = calculator_from(catalog.definition())
        assert again == catalog
        assert again.digest == catalog.digest


def test_everything_that_can_change_a_result_is_identity():
    def digest(function=example.photo_z, **changes) -> str:
        return PythonCalculator.of(function, **{**GIVEN, **changes}).digest

    digests = [
        digest(),
        digest(example.original),
        digest(parameters={"a": 1}),
        digest(parameters={"a": 1.0}),
        digest(version="2"),
        digest(kind="arrow"),
        digest(scope="catalog"),
        digest(inputs=["g"]),
        digest(outputs={"z": "float"}),
    ]
    assert len(set(digests)) == len(digests)
    assert digest(parameters={"a": 1, "b": 2}) == digest(parameters={"b": 2, "a": 1})
    assert SqlCalculator.of({"d": "plx"}).digest == SqlCalculator.of({"d": "plx"}).digest


@pytest.mark.parametrize(
    ("function", "problem"),
    [
        (example.anonymous, "another process cannot find a lambda"),
        (example.local(), "hidden is local to another function"),
        (example.fixed, "expected a Python function as calculator, got functools.partial"),
        (example.wrapped, "example:original is a different object from the function passed"),
        (example.Group, "expected a Python function as calculator"),
        (example.Group.inner, "Group.inner is a method of a class"),
        (FunctionType(example.photo_z.__code__, {"__name__": "nowhere"}), "does not belong to an imported module"),
        (math.sqrt, "expected a Python function as calculator"),
        ("mymodule:photo_z", "the module mymodule has no Python source"),
    ],
)
def test_functions_that_another_process_could_not_find_are_refused(function, problem: str):
    with pytest.raises(CalculatorError, match=problem) as caught:
        PythonCalculator.of(function, **GIVEN)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("changes", "error", "problem"),
    [
        ({"kind": "polars"}, CalculatorError, "kind is pandas or arrow, not 'polars'"),
        ({"scope": "all"}, CalculatorError, "scope is row or catalog, not 'all'"),
        ({"inputs": []}, CalculatorError, "needs inputs and outputs"),
        ({"outputs": {}}, CalculatorError, "needs inputs and outputs"),
        ({"inputs": ["g", "g"]}, CalculatorError, "an input is named twice in g, g"),
        ({"inputs": [""]}, AttributeConflictError, "cannot name an attribute"),
        ({"outputs": {"z": "duoble"}}, TypeNameError, "did you mean double"),
        ({"parameters": {"a": math.nan}}, CalculatorError, "cannot be written as JSON"),
        ({"parameters": {"a": {1, 2}}}, CalculatorError, "cannot be written as JSON"),
    ],
)
def test_the_rest_has_to_make_sense(changes: dict, error: type[Exception], problem: str):
    with pytest.raises(error, match=problem):
        PythonCalculator.of(example.photo_z, **{**GIVEN, **changes})


def test_one_input_may_be_given_by_its_name_alone():
    assert PythonCalculator.of(example.photo_z, inputs="redshift", outputs={"z": "double"}).inputs == ("redshift",)


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module of its own, which leaves a trace when it is run."""
    file = tmp_path / "provenn_test_module.py"
    file.write_text("from pathlib import Path\nPath(__file__ + '.ran').touch()\ndef f(batch): return batch\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield file
    sys.modules.pop("provenn_test_module", None)


def test_changed_code_is_noticed_before_it_is_run(module: Path):
    from provenn_test_module import f  # noqa: PLC0415

    calculator = PythonCalculator.of(f, **GIVEN)
    sys.modules.pop("provenn_test_module")
    assert calculator.load()("batch") == "batch"
    sys.modules.pop("provenn_test_module")
    Path(f"{module}.ran").unlink()
    module.write_text(module.read_text() + "# changed\n")
    with pytest.raises(CalculatorChangedError, match="provenn_test_module:f has changed") as caught:
        calculator.load()
    assert "register the calculator again" in caught.value.hint
    assert not Path(f"{module}.ran").exists()


@pytest.mark.parametrize("imported", ["by provenn", "by another module"])
def test_the_checked_source_runs_and_not_bytecode_of_an_earlier_one(module: Path, imported: str):
    """Python itself believes bytecode of a source of the same size and second."""
    for number in (2, 7):
        module.write_text(f"def f(batch): return {number}\n")
        os.utime(module, (1e9, 1e9))
        if imported == "by another module":
            importlib.import_module(module.stem)
        source = sha256(module.read_bytes()).hexdigest()
        definition = {**PythonCalculator.of(example.photo_z, **GIVEN).definition(), "source": source}
        assert calculator_from({**definition, "function": f"{module.stem}:f"}).load()("batch") == number


def test_code_that_is_gone_is_named(module: Path):
    source = sha256(module.read_bytes()).hexdigest()
    definition = {**PythonCalculator.of(example.photo_z, **GIVEN).definition(), "source": source}
    with pytest.raises(CalculatorError, match="there is no function g in"):
        calculator_from({**definition, "function": "provenn_test_module:g"}).load()
    for name in ("provenn_no_module", "provenn_no_package.module", "math"):
        with pytest.raises(CalculatorError, match=f"the module of the calculator {name}:f cannot be found"):
            calculator_from({**definition, "function": f"{name}:f"}).load()


@pytest.mark.parametrize(
    "name", ["Path", "subprocess.run", "Path.home", "subprocess", "f.__call__", "__loader__.get_data"]
)
def test_only_a_function_that_the_module_itself_defines_is_taken(module: Path, name: str):
    """A path through what a module imports would run code of modules that nobody has allowed."""
    module.write_text("import subprocess\nfrom pathlib import Path\ndef f(batch): return batch\n")
    source = sha256(module.read_bytes()).hexdigest()
    definition = {**PythonCalculator.of(example.photo_z, **GIVEN).definition(), "source": source}
    with pytest.raises(CalculatorError, match=r"there is no function|expected MODULE:FUNCTION"):
        calculator_from({**definition, "function": f"provenn_test_module:{name}"}).load()
    assert calculator_from({**definition, "function": "provenn_test_module:f"}).load()("batch") == "batch"
