"""Foreign calculators run nothing but plain functions of modules that the owner has allowed."""

import io
import sys
from hashlib import sha256
from pathlib import Path

import pytest

import provenn
from provenn.archive.calculator_choice import make_calculator
from provenn.catalogs import Base, DeriveAttributes, Files, PythonCalculator
from provenn.catalogs.calculators.sources import find_source
from provenn.demo import motion
from provenn.errors import CalculatorError, FileError
from provenn.gate import permits
from tests.archive.samples import write_parquet
from tests.gate import code_attacks
from tests.gate.code_attacks import CAPTURED, PATHS, STRANGE, UNALLOWED, allowed_module, definition, run_attack
from tests.gate.portable_files import portable_file


@pytest.fixture
def module(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "configuration"))
    with allowed_module(tmp_path) as file:
        yield file


@pytest.mark.parametrize("name", [name for name in PATHS if name != "outer"])
def test_only_plain_functions_of_an_allowed_module_run(module: Path, name: str):
    source = code_attacks.source_of(module)
    run_attack(definition(f"{code_attacks.MODULE}:{name}", source), module.parent)
    imported = (module.parent / "imported").exists()
    assert imported == (name not in code_attacks.BEFORE_IMPORT)


@pytest.mark.parametrize("function", UNALLOWED)
def test_code_that_nobody_allowed_is_not_even_imported(module: Path, function: str):
    named = function.partition(":")[0]
    path = find_source(named) if named.replace(".", "").isidentifier() else None
    source = sha256(path.read_bytes()).hexdigest() if path else "0" * 64
    before = set(sys.modules)
    assert "Error" in run_attack(definition(function, source), module.parent)
    assert not [name for name in set(sys.modules) - before if "unallowed" in name]


@pytest.mark.parametrize("change", STRANGE, ids=str)
def test_definitions_without_a_meaning_are_refused(module: Path, change: dict):
    good = definition(f"{code_attacks.MODULE}:plain", code_attacks.source_of(module))
    run_attack({**good, **change}, module.parent)


@pytest.mark.parametrize("code", CAPTURED)
@pytest.mark.parametrize("permit", ["", "*", "__main__", "format:python", f"sha256:{'0' * 64}"])
def test_captured_source_runs_by_its_own_hash_alone(module: Path, code: str, permit: str):
    if permit:
        permits.allow(permit)
    run_attack(code_attacks.captured(code, module.parent / "marker"), module.parent)


def test_captured_source_does_not_hide_behind_an_allowed_module(module: Path):
    message = code_attacks.captured(CAPTURED[1], module.parent / "marker")
    run_attack({**message, "function": f"{code_attacks.MODULE}:plain"}, module.parent)


def test_a_plain_function_of_an_allowed_module_does_run(module: Path):
    with pytest.raises(AssertionError, match="was not refused"):
        run_attack(definition(f"{code_attacks.MODULE}:plain", code_attacks.source_of(module)), module.parent)


def test_packages_are_not_run_before_the_source_is_compared(module: Path):
    permits.allow("provenn_unallowed.inner.deep")
    refusal = run_attack(definition("provenn_unallowed.inner.deep:run", "0" * 64), module.parent)
    assert "has changed" in refusal


def test_looking_for_the_source_of_an_imported_module_runs_none_of_it(module: Path):
    """The module has a __getattr__ of its own, which leaves a mark."""
    import provenn_attacked  # noqa: F401, PLC0415 - it was written a moment ago

    for path in (code_attacks.MODULE, f"{code_attacks.MODULE}.inner"):
        find_source(path)
        assert not (module.parent / "marker").exists()


@pytest.mark.usefixtures("module")
def test_methods_and_wrapped_functions_cannot_be_registered():
    import provenn_attacked as attacked  # noqa: PLC0415 - it was written a moment ago

    for function in (attacked.Tool.run, attacked.decorated, attacked.rebound, attacked.swapped):
        with pytest.raises(CalculatorError):
            PythonCalculator.of(function, inputs=["vmag"], outputs={"z": "double"})
    calculator = PythonCalculator.of(attacked.plain, inputs=["vmag"], outputs={"z": "double"})
    assert calculator.load() is attacked.plain


def test_a_portable_file_that_names_a_method_is_not_taken_over(module: Path, tmp_path: Path):
    marker = tmp_path / "marker"
    base = Base.of(Files.at(write_parquet(tmp_path / "stars.parquet")), key="hip", population="star")
    command = f"@pd.io.common.os.system('touch {marker}')"
    evil = code_attacks.evil_calculator(
        f"{code_attacks.MODULE}:pd.DataFrame.eval", code_attacks.source_of(module), expr=command
    )
    derived = DeriveAttributes(base, evil)
    with provenn.open(tmp_path / "victim") as archive:
        for file in (portable_file(derived), portable_file(base, calculators=(evil,))):
            with pytest.raises(FileError, match="expected MODULE:FUNCTION"):
                archive.import_definitions(io.BytesIO(file))
        assert archive.matches() == 0
    assert not marker.exists()


@pytest.mark.usefixtures("module")
def test_the_demo_allows_nothing():
    """What the demo hands over may run in its process; nothing is noted that an archive of others could use."""
    before = permits.read_permits()
    handed = make_calculator("motion", motion.motion, None, inputs=motion.INPUTS, outputs=motion.OUTPUTS)
    assert handed.given
    assert permits.read_permits() == before
