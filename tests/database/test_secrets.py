"""Passwords of databases stay inside the process that uses them."""

import os
import subprocess
import sys

import pytest

from provenn.database.secrets import remove_secrets

linux = pytest.mark.skipif(sys.platform != "linux", reason="other systems show processes in other ways")

SHOWN = """
import sys
from pathlib import Path
from provenn.database.secrets import hide_address
before = list(sys.argv)
hide_address(sys.argv[1].removeprefix("--archive="))
assert sys.argv == before, "the process itself still knows what it was told"
print(Path("/proc/self/cmdline").read_bytes().split(bytes(1))[3:-1])
"""


@linux
@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ("postgresql://ada:s3cret@host/db", "postgresql://ada:******@host/db"),
        ("--archive=postgresql+psycopg://ada:s%40c@host/db", "--archive=postgresql+psycopg://ada:*****@host/db"),
        ("postgresql://ada@host/db?password=abc&x=1", "postgresql://ada@host/db?password=***&x=1"),
        ("postgresql://ada@host/db?sslpassword=abc", "postgresql://ada@host/db?sslpassword=***"),
        ("postgresql://ada:été@host/db", "postgresql://ada:*****@host/db"),
        ("postgresql://ada@host/db", "postgresql://ada@host/db"),
    ],
)
def test_the_arguments_of_a_process_do_not_show_a_password(arguments, shown):
    done = subprocess.run([sys.executable, "-c", SHOWN, arguments, "a"], capture_output=True, check=True, text=True)
    assert done.stdout.strip() == repr([shown.encode(), b"a"])


DUMPABLE = """
import ctypes
from provenn.database.secrets import hide_process
hide_process()
print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))
"""


@linux
@pytest.mark.parametrize(("variable", "shown"), [("", "0"), ("yes", "1")])
def test_a_process_that_hides_cannot_be_looked_into_unless_that_is_wanted(variable, shown):
    environment = {**os.environ, "PROVENN_DUMPABLE": variable}
    done = subprocess.run([sys.executable, "-c", DUMPABLE], env=environment, capture_output=True, check=True, text=True)
    assert done.stdout.strip() == shown


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PGPASSWORD", "x"),
        ("PGPASSFILE", "/home/ada/.pgpass"),
        ("PGSERVICE", "survey"),
        ("PROVENN_ARCHIVE", "survey"),
        ("CATALOGS", "postgresql://ada:x@host/survey"),
        ("DATABASE_URL", "postgres://ada:x@host/survey?sslmode=require"),
        ("CONNECTION", "host=db user=ada password=x"),
    ],
)
def test_java_does_not_get_variables_that_lead_to_a_database(name, value):
    assert remove_secrets({"PATH": "/bin", name: value}) == {"PATH": "/bin"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("JAVA_HOME", "/opt/java"),
        ("AWS_SECRET_ACCESS_KEY", "needed by Java to read the store"),
        ("https_proxy", "http://proxy:3128"),
        ("CATALOGS", "postgresql://ada@host/survey"),
    ],
)
def test_java_gets_all_other_variables(name, value):
    assert remove_secrets({name: value}) == {name: value}
