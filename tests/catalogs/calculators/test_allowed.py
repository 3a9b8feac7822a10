"""Code runs only if the user has allowed it; an archive cannot."""

import sys

import pytest

from provenn.catalogs import PythonCalculator, calculator_from
from provenn.catalogs.calculators import allowed
from provenn.catalogs.calculators.allowed import allow, check_allowed, forbid
from provenn.errors import CalculatorError
from tests.catalogs.calculators import example


@pytest.fixture(autouse=True)
def nothing_allowed(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("PROVENN_CALCULATORS", raising=False)


def referred_to(function):
    """A calculator as it comes out of an archive."""
    calculator = PythonCalculator.of(example.photo_z, inputs=["g"], outputs={"z": "double"})
    return calculator_from(calculator.definition() | {"function": function})


@pytest.mark.parametrize("function", ["os:system", "shutil:rmtree", "subprocess:run", "tests.unheard_of:run"])
def test_code_that_an_archive_names_is_not_imported(function):
    with pytest.raises(CalculatorError, match=r"have not allowed(.|\n)*provenn allow"):
        check_allowed(referred_to(function))
    assert "tests.unheard_of" not in sys.modules


def test_a_function_that_was_handed_over_may_run_in_this_process():
    check_allowed(referred_to("tests.catalogs.calculators.example:photo_z"))


@pytest.mark.parametrize(
    ("named", "module", "may"),
    [
        ("sky", "sky", True),
        ("sky", "sky.photo.z", True),
        ("sky.photo", "sky", False),
        ("sky", "skyline", False),
        ("*", "anything", True),
    ],
)
def test_a_module_is_allowed_with_all_that_is_in_it(named, module, may, monkeypatch):
    item = referred_to(f"{module}:f")
    allow(named)
    if may:
        check_allowed(item)
    forbid(named)
    assert allowed.read_permits() == set()
    monkeypatch.setenv("PROVENN_CALCULATORS", f"other, {named}")
    if may:
        check_allowed(item)
    else:
        with pytest.raises(CalculatorError):
            check_allowed(item)


def test_a_list_that_cannot_be_read_or_written_allows_nothing(tmp_path):
    (tmp_path / "provenn").write_text("a file, where a folder should be")
    allow("sky")
    assert allowed.read_permits() == set()
