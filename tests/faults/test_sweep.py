"""Every file call of an operation that fails: it is told, nothing is lost or half done, and it can be repeated.

`make test` tries one call of each operation, and another of each, so that several kinds of faults occur, and repeats
every second operation in the same process; `make campaign` tries all of them.
"""

import errno
from pathlib import Path

import pytest

from tests.faults.supervisor import Fault, Supervisor, is_supported
from tests.faults.sweep import Swept, swept, swept_together
from tests.faults.works import WORKS

pytestmark = pytest.mark.skipif(not is_supported(), reason="this machine lets nobody supervise a process")


@pytest.fixture(scope="module")
def sweeps() -> dict[str, Swept]:
    """A call of each operation."""
    return swept_together([*WORKS], 1)


@pytest.mark.parametrize("name", WORKS)
def test_a_file_call_of_an_operation_fails_and_nothing_is_lost(sweeps, name):
    sweep = sweeps[name]
    assert sweep.wrong == ()
    assert sweep.points > 100


def test_nearly_all_of_these_calls_were_made_and_failed_in_several_ways(sweeps):
    assert sum(sweep.struck for sweep in sweeps.values()) >= len(WORKS) - 1, "one of the last may not be made again"
    assert len({kind for sweep in sweeps.values() for kind in sweep.kinds}) > 3


@pytest.mark.campaign
@pytest.mark.parametrize("name", WORKS)
def test_each_file_call_of_an_operation_fails_and_nothing_is_lost(name):
    result = swept(name, 0)
    assert result.wrong == ()
    assert result.struck > 0.95 * result.points
    assert result.refused > 0.1 * result.points


# --- the supervisor itself ---


def write_file(folder: Path, say) -> None:
    """Write 8 bytes to a file, unbuffered, and say what happens."""
    try:
        with (folder / "a").open("wb", buffering=0) as file:
            say(str(file.write(b"12345678")).encode())
            say(str(file.write(b"abcd")).encode())
    except OSError as error:
        say(errno.errorcode[error.errno].encode())


def supervise(folder: Path, fault: Fault | None) -> tuple[list[bytes], bool, bytes | None, list[str]]:
    supervisor = Supervisor(folder, fault)
    text, killed = supervisor.run(lambda say: write_file(folder, say))
    left = (folder / "a").read_bytes() if (folder / "a").exists() else None
    return text.split(), killed, left, [call.name for call in supervisor.calls if call.name != "statx"]


def test_the_supervisor_sees_every_call_and_changes_nothing_by_itself(tmp_path):
    message, killed, left, calls = supervise(tmp_path, None)
    assert (message, killed, left) == ([b"8", b"4"], False, b"12345678abcd")
    assert calls == ["openat", "write", "write"]


@pytest.mark.parametrize(
    ("fault", "message", "left"),
    [
        (Fault(1, "EIO"), [b"EIO"], None),
        (Fault(1, "killed"), [], None),
        (Fault(2, "ENOSPC"), [b"ENOSPC"], b""),
        (Fault(2, "short"), [b"4", b"4"], b"1234abcd"),
        (Fault(2, "torn"), [], b"1234"),
        (Fault(3, "killed"), [b"8"], b"12345678"),
    ],
    ids=str,
)
def test_the_supervisor_fails_shortens_or_stops_one_call(tmp_path, fault, message, left):
    heard, killed, result, _ = supervise(tmp_path, fault)
    assert (heard, result) == (message, left)
    assert killed == (fault.kind in ("killed", "torn"))


def test_files_elsewhere_are_left_alone(tmp_path):
    supervisor = Supervisor(tmp_path / "inside", Fault(1, "EIO"))
    text, _ = supervisor.run(lambda say: write_file(tmp_path, say))
    assert text.split() == [b"8", b"4"]
    assert not supervisor.struck
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
