"""What `make install` shows of pip: large downloads, what is wrong, how long it took, and the exit status."""

import sys

import pytest

from supply_chain.installing import choose_output, choose_warning, install_packages

PIP = """
import sys
print("Collecting pyspark")
print("  Downloading https://example.org/packages/pyspark-4.3.0.tar.gz (434.1 MB)")
print("Downloading six-1.0-py3-none-any.whl (11 kB)")
print("WARNING: Location 'file:///srv/packages/six' is ignored: it is neither a file nor a directory.", file=sys.stderr)
print("ERROR: no such version", file=sys.stderr)
print("Successfully installed a-1 b-2 c-3")
sys.exit(int(sys.argv[1]))
"""


@pytest.mark.parametrize(("status", "word"), [(0, "installed"), (3, "failed")])
def test_what_matters_is_shown_and_the_status_is_that_of_pip(capsys, status, word):
    assert install_packages([sys.executable, "-c", PIP, str(status)], "three packages", "a moment") == status
    shown = capsys.readouterr()
    first, *lines, last = shown.out.splitlines()
    assert first == "installing three packages: a moment"
    assert lines == ["  pyspark-4.3.0.tar.gz, 434 MB", "  3 packages"]
    assert last.startswith(f"{word} after ")
    assert shown.err == "ERROR: no such version\n"


@pytest.mark.parametrize("line", ["WARNING: Location /x is odd\n", "ERROR: x\n", "WARNING: pip is old\n", "\n"])
def test_of_warnings_only_ignored_locations_are_left_out(line):
    assert choose_warning(line) == line


@pytest.mark.parametrize("line", ["Collecting x", "Downloading x.whl (5.0 MB)", "Using cached x.whl (700 kB)", ""])
def test_small_steps_are_not_shown(line):
    assert choose_output(line) == ""
