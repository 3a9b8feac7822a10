"""What a calculator reaches that means harm: nothing that leads to the database of the archive."""

import json
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import psycopg
import pytest

import provenn
from provenn.database.secrets import hide_process
from provenn.spark.class_archive import choose_archive_stem, find_complete_archive
from provenn.spark.java import find_java
from tests.archive.samples import write_parquet
from tests.isolation import hostile
from tests.postgres import new_schema, postgres_server
from tests.waiting import LIMIT

PASSWORD = "zq7-Krypton-ninety"  # noqa: S105 - of a server that is gone after the tests
ROOT = Path(__file__).parents[2]
NOBODY = "nobody"

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can run processes as somebody else")


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """A PostgreSQL server that asks ada for a password."""
    hide_process()  # the workers are children of this process, which knows the password, too
    with postgres_server() as address:
        with psycopg.connect(address, autocommit=True) as connection:
            (rules,) = connection.execute("SHOW hba_file").fetchone()
            Path(rules).write_text("local all ada scram-sha-256\n" + Path(rules).read_text())
            connection.execute(f"CREATE ROLE ada LOGIN SUPERUSER PASSWORD '{PASSWORD}'")
            connection.execute("SELECT pg_reload_conf()")
        until = time.monotonic() + LIMIT
        while _lets_in(address.replace("postgres@", "ada@", 1)):
            assert time.monotonic() < until
            time.sleep(0.05)
        yield address


def _lets_in(address: str) -> bool:
    try:
        psycopg.connect(address).close()
    except psycopg.OperationalError:
        return False
    return True


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that everybody can look into, unlike those of pytest."""
    with tempfile.TemporaryDirectory(prefix="hostile") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture
def place(server, folder) -> tuple[str, str]:
    """The address of an archive with a hostile catalog, with a password and without."""
    bare = new_schema(server).replace("postgres@", "ada@", 1)
    full = bare.replace("ada@", f"ada:{PASSWORD}@", 1)
    (folder / "pgpass").write_text(f"*:*:*:ada:{PASSWORD}\n")
    (folder / "pgpass").chmod(0o600)
    (folder / "store").mkdir()
    with provenn.open(database=full, store=folder / "store", who="ada") as archive:
        stars = archive.ingest("stars", write_parquet(folder / "stars.parquet"), key="hip", population="star")
        sought = {"backwards": PASSWORD[::-1], "folder": str(folder), "memory": True}
        report = archive.calculator(
            "report", hostile.report, inputs=["hip"], outputs={"report": "string"}, parameters=sought
        )
        message = archive.calculator(
            "message",
            hostile.leave_message,
            inputs=["hip"],
            outputs={"done": "boolean"},
            parameters={"path": str(folder / "message")},
        )
        stars.derive(message).derive(report).keep("hip", "report", "done", name="reported")
        stars.select("hip > 0", name="honest")
    return full, bare


def command(address: str, folder: Path, *, python: str = sys.executable, identity=None, **variables: str) -> dict:
    """Have the command line compute the hostile catalog; return the report, and what the process wrote."""
    packages = str(Path(find_spec("pyspark").origin).parents[1])
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("PG")},
        "SPARK_DRIVER_MEMORY": "600m",
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src"), packages]),
        "PYSPARK_PYTHON": python,
        "PROVENN_CALCULATORS": "tests",
        "PROVENN_CLASS_ARCHIVE": os.environ.get("PROVENN_CLASS_ARCHIVE", ""),
        **variables,
    }
    arguments = ["head", "reported", "--most", "1", "--json", "--archive", address, "--spark", "local[1]"]
    done = subprocess.run(
        [python if identity else sys.executable, "-m", "provenn", *arguments],
        env=environment,
        capture_output=True,
        text=True,
        cwd=folder,
        check=False,
        **(identity or {}),
    )
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert not (folder / "message").exists(), "code of a worker was run in the process that started Spark"
    return json.loads(answer["rows"][0][1])


@pytest.fixture(scope="module")
def readable_python() -> str:
    """A Python that nobody can run, with the packages of this one; the test is skipped if there is none."""
    account = pwd.getpwnam(NOBODY)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    packages = str(Path(find_spec("pyspark").origin).parents[1])
    for python in (sys.executable, f"/usr/bin/{version}", f"/usr/local/bin/{version}"):
        try:
            subprocess.run(
                [python, "-c", "import pandas, pyarrow, pyspark, provenn.spark.batches"],
                env={"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src"), packages]), "PATH": os.defpath},
                check=True,
                capture_output=True,
                user=account.pw_uid,
                group=account.pw_gid,
                extra_groups=[],
                cwd="/",
            )
        except (OSError, subprocess.SubprocessError):
            continue
        return python
    pytest.skip("nobody can read no Python")


def test_a_calculator_of_the_same_user_finds_no_password_but_in_files(place, folder):
    """The password is in the arguments, in two variables and in the memory of the process; and in a file."""
    full, _ = place
    report = command(
        full,
        folder,
        PGPASSWORD=PASSWORD,
        PROVENN_ARCHIVE=full,
        AWS_SECRET_ACCESS_KEY="x",  # noqa: S106 - the key to nothing
        SWIRE_DATA="/data",
        PROVENN_CALCULATORS_ENVIRONMENT="SWIRE_*",
    )
    assert report["places"] == ["the file pgpass"], "what the same user can read is the limit of what is promised"
    assert report["environment"]["SWIRE_DATA"] == "/data"
    assert {"AWS_SECRET_ACCESS_KEY", "PGPASSWORD", "PROVENN_ARCHIVE"}.isdisjoint(report["environment"])
    assert report["imported_by"] == report["pid"]
    assert all(" socket:" in descriptor or int(descriptor.split()[0]) < 3 for descriptor in report["descriptors"]), (
        report["descriptors"]
    )
    assert report["status"]["NoNewPrivs"] == "1"
    assert int(report["status"]["CapEff"], 16) & ~0xF == 0
    assert not report["terminal"]


@needs_root
def test_a_calculator_of_another_user_finds_no_password_at_all(place, folder, readable_python):
    _, bare = place
    report = command(
        f"{bare}&passfile={folder / 'pgpass'}",
        folder,
        python=readable_python,
        PGPASSWORD=PASSWORD,
        PROVENN_CALCULATORS_AS=NOBODY,
    )
    assert report["places"] == []
    assert report["user"] == pwd.getpwnam(NOBODY).pw_uid
    assert int(report["status"]["CapEff"], 16) == int(report["status"]["CapBnd"], 16) == 0
    assert report["status"]["NoNewPrivs"] == "1"
    assert report["folder_mode"] == "0o700"
    assert report["environment"]["HOME"] == report["environment"]["TMPDIR"]
    assert not Path(report["environment"]["TMPDIR"]).exists(), "the folder of the workers goes with Spark"


def copy_class_archive(folder: Path) -> str:
    """Copy the class archive of this user to a cache; return whether there is one, as PROVENN_CLASS_ARCHIVE says it."""
    stem = choose_archive_stem(find_java(), Path(find_spec("pyspark").origin).parent)
    file = stem and find_complete_archive(stem)
    if not file:
        return "off"
    shutil.copyfile(file, folder / file.name)
    return ""


@needs_root
def test_a_calculator_finds_no_password_where_nobody_is_root(place, folder, readable_python):
    full, _ = place
    account = pwd.getpwnam(NOBODY)
    home = folder / "home"
    (home / "provenn").mkdir(parents=True)
    for own in (home, home / "provenn", folder / "store"):
        os.chown(own, account.pw_uid, account.pw_gid)
    identity = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
    own = dict.fromkeys(("HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "SPARK_LOCAL_DIRS"), str(home))
    own |= {
        "PROVENN_CLASS_ARCHIVE": copy_class_archive(home / "provenn"),
        "JDK_JAVA_OPTIONS": f"{os.environ['JDK_JAVA_OPTIONS']} -Djava.io.tmpdir={home}",
    }
    report = command(full, folder, python=readable_python, identity=identity, PGPASSWORD=PASSWORD, **own)
    assert report["places"] == []
    assert report["user"] == account.pw_uid
