"""The audit of what is installed finds what it is there to find, and the inventory is what others can read."""

import hashlib
import json
from base64 import urlsafe_b64encode
from datetime import date
from pathlib import Path

import pytest

from supply_chain import checks
from supply_chain.__main__ import main
from supply_chain.installed import installed_in
from supply_chain.inventory import inventory, inventory_text

ROOT = Path(__file__).parent.parent.parent
ADVISORIES = ROOT / "supply_chain" / "advisories.json"


def install(folder: Path, name: str, version: str, *, licence: str = "MIT", code: str = "x = 1\n") -> None:
    """Install a distribution of one module, as pip would."""
    module = folder / f"{name}.py"
    module.write_text(code, encoding="utf-8")
    info = folder / f"{name}-{version}.dist-info"
    info.mkdir()
    metadata = f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\nLicense-Expression: {licence}\n"
    (info / "METADATA").write_text(metadata, encoding="utf-8")
    digest = urlsafe_b64encode(hashlib.sha256(code.encode()).digest()).rstrip(b"=").decode()
    record = f"{name}.py,sha256={digest},{len(code)}\n{info.name}/METADATA,,\n{info.name}/RECORD,,\n"
    (info / "RECORD").write_text(record, encoding="utf-8")


@pytest.fixture
def folder(tmp_path):
    install(tmp_path, "alpha", "1.0")
    install(tmp_path, "beta", "2.5", licence="Apache-2.0 OR BSD-3-Clause")
    return tmp_path


def test_what_is_as_it_should_be_passes(folder):
    installed = installed_in([folder])
    assert [(item.name, item.version) for item in installed] == [("alpha", "1.0"), ("beta", "2.5")]
    assert checks.check_pins(installed, checks.read_pins("alpha==1.0\nbeta==2.5 ; python_version > '3'\n")) == []
    assert checks.check_files(installed) == []
    assert checks.check_licences(installed) == []
    none = checks.Advisories(date(2026, 1, 1), "", (("beta", "<2.5", "CVE-1"), ("gamma", "<9", "CVE-2")))
    assert checks.check_advisories(installed, none) == []


@pytest.mark.parametrize(
    ("pins", "problem"),
    [
        ("alpha==1.0", "beta 2.5 is installed, and constraints.txt does not pin it"),
        ("alpha==1.0\nbeta==2.4", "beta 2.5 is installed, and constraints.txt pins 2.4"),
        ("alpha==1.0\nbeta==2.5 ; python_version < '3'", "beta 2.5 is installed, and constraints.txt does not pin it"),
    ],
)
def test_what_no_pin_chose_is_found(folder, pins, problem):
    assert checks.check_pins(installed_in([folder]), checks.read_pins(pins)) == [problem]


def test_a_file_that_was_changed_and_one_that_is_gone_are_found(folder):
    (folder / "alpha.py").write_text("x = 2\n", encoding="utf-8")
    (folder / "beta.py").unlink()
    problems = checks.check_files(installed_in([folder]))
    assert problems == ["alpha: alpha.py is not what was installed", "beta: beta.py is missing"]


def test_a_distribution_without_a_record_is_found(folder):
    (folder / "alpha-1.0.dist-info" / "RECORD").unlink()
    assert checks.check_files(installed_in([folder])) == ["alpha 1.0 has no RECORD of its files"]


@pytest.mark.parametrize("licence", ["GPL-3.0-only", "MIT AND AGPL-3.0-only", "LicenseRef-Secret"])
def test_a_licence_that_is_not_allowed_is_found(folder, licence):
    install(folder, "gamma", "3", licence=licence)
    (problem,) = checks.check_licences(installed_in([folder]))
    assert problem.startswith(f"gamma 3 has the licence '{licence}'")


def test_a_version_that_is_known_to_be_vulnerable_is_found(tmp_path):
    install(tmp_path, "jinja2", "3.1.5")
    problems = checks.check_advisories(installed_in([tmp_path]), checks.read_advisories(ADVISORIES))
    assert problems == ["jinja2 3.1.5 is affected by CVE-2025-27516 (versions <3.1.6)"]


def test_the_list_of_advisories_says_where_it_is_from_and_until_when():
    advisories = checks.read_advisories(ADVISORIES)
    assert advisories.source
    assert advisories.known
    assert advisories.as_of <= date.today()  # noqa: DTZ011 - a day, and no moment


def test_this_environment_is_pinned_licensed_and_not_known_to_be_vulnerable():
    installed = installed_in()
    pins = checks.read_pins((ROOT / "constraints.txt").read_text(encoding="utf-8"))
    assert checks.check_pins(installed, pins) == []
    assert checks.check_licences(installed) == []
    assert checks.check_advisories(installed, checks.read_advisories(ADVISORIES)) == []


def test_the_inventory_is_valid_cyclonedx_and_names_all_that_is_installed():
    installed = installed_in()
    text = inventory_text(installed)
    from cyclonedx.schema import SchemaVersion  # noqa: PLC0415 - slow to import, in every process of the tests
    from cyclonedx.validation.json import JsonStrictValidator  # noqa: PLC0415

    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    assert inventory_text(installed_in()) == text
    content = json.loads(text)
    named = {component["name"] for component in content["components"]} | {content["metadata"]["component"]["name"]}
    assert named == {item.name for item in installed}
    needed = {dependency["ref"]: dependency["dependsOn"] for dependency in content["dependencies"]}
    (own,) = (ref for ref in needed if ref.startswith("pkg:pypi/provenn@"))
    assert any(item.startswith("pkg:pypi/sqlalchemy@") for item in needed[own])


def test_an_inventory_without_provenn_is_valid_too(folder):
    assert [component["name"] for component in inventory(installed_in([folder]))["components"]] == ["alpha", "beta"]


def test_a_command_that_there_is_not_is_refused(capsys):
    assert main(["nonsense"]) == 2
    assert "usage" in capsys.readouterr().err
