"""Calculators are found and checked without any of their code being run."""

import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from provenn.catalogs import PythonCalculator
from provenn.catalogs.calculators.sources import find_source, hash_module_source
from provenn.errors import CalculatorChangedError, CalculatorError

LOUD = "raise RuntimeError('this was imported')\n"


@pytest.fixture
def packages(tmp_path, monkeypatch):
    """Packages that cannot be imported without being noticed."""
    (tmp_path / "loud" / "inner").mkdir(parents=True)
    (tmp_path / "loud" / "plain").mkdir()
    for folder in ("loud", "loud/inner"):
        (tmp_path / folder / "__init__.py").write_text(LOUD)
    for folder in ("loud", "loud/inner", "loud/plain"):
        (tmp_path / folder / "sky.py").write_text(LOUD + "def photo_z(batch):\n    return batch\n")
    (tmp_path / "folders_only" / "deeper").mkdir(parents=True)
    (tmp_path / "folders_only" / "deeper" / "sky.py").write_text(LOUD)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    assert not [name for name in sys.modules if name.startswith(("loud", "folders_only"))]


@pytest.mark.parametrize("module", ["loud.sky", "loud.inner.sky", "loud.plain.sky", "folders_only.deeper.sky"])
def test_a_module_is_found_and_its_packages_are_not_imported(packages, module):
    assert find_source(module) == packages / Path(*module.split(".")).with_suffix(".py")


@pytest.mark.parametrize(
    "module", ["loud.none", "none.sky", "loud.sky.deeper", "sys", "", "loud..sky", "../loud/sky", "/x"]
)
@pytest.mark.usefixtures("packages")
def test_what_has_no_source_is_not_found(module):
    assert find_source(module) is None


def test_a_calculator_is_made_and_checked_from_its_import_path(packages):
    calculator = PythonCalculator.of("loud.sky:photo_z", inputs=["g"], outputs={"z": "double"})
    assert calculator.check() == packages / "loud" / "sky.py"
    (packages / "loud" / "sky.py").write_text("# changed\n")
    with pytest.raises(CalculatorChangedError, match="has changed"):
        calculator.check()
    (packages / "loud" / "sky.py").unlink()
    sys.path_importer_cache.clear()
    with pytest.raises(CalculatorError, match="cannot be found"):
        calculator.check()


@pytest.mark.parametrize("path", ["loud.sky", "loud.sky:", ":f", "loud.sky:a b", "os.system('x'):f", "loud.sky:f:g"])
@pytest.mark.usefixtures("packages")
def test_what_is_no_import_path_is_refused(path):
    with pytest.raises(CalculatorError, match="expected MODULE:FUNCTION"):
        PythonCalculator.of(path, inputs=["g"], outputs={"z": "double"})


SOURCE = """
import numpy
from math import sqrt
value = 3
alias = sqrt
if value:
    def below_if(batch): ...
try:
    def below_try(batch): ...
except ImportError:
    def below_except(batch): ...
class Room:
    @staticmethod
    def inside(batch): ...
def outer(batch):
    def local(batch): ...
"""


@pytest.mark.parametrize(
    ("name", "defined"),
    [
        *((name, True) for name in ("below_if", "below_try", "below_except", "outer")),
        *(
            (name, False)
            for name in ("value", "alias", "sqrt", "numpy", "numpy.load", "Room", "Room.inside", "local", "outer.local")
        ),
    ],
)
def test_only_functions_that_the_source_defines_count(tmp_path, name, defined):
    (tmp_path / "sky.py").write_text(SOURCE)
    with nullcontext() if defined else pytest.raises(CalculatorError):
        hash_module_source(tmp_path / "sky.py", name)


@pytest.mark.parametrize("text", ["def f(:", "x = \0"])
def test_what_is_not_python_is_told(tmp_path, text):
    (tmp_path / "sky.py").write_text(text)
    with pytest.raises(CalculatorError, match=r"sky\.py is not Python"):
        hash_module_source(tmp_path / "sky.py", "f")
