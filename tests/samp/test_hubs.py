"""A hub runs in this process, and leaves the process as it was."""

import gc
import os
import warnings
from pathlib import Path

import pytest
from astropy import log

from provenn.errors import SampError
from provenn.samp.hubs import connect_to_hub, run_hub


@pytest.mark.parametrize("setting", [None, "std-lockurl:file:///nowhere/lock"])
def test_a_hub_leaves_the_environment_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: str | None):
    """A folder with a space in its name serves as well: the lock file is where the caller said."""
    monkeypatch.delenv("SAMP_HUB", raising=False)
    if setting is not None:
        monkeypatch.setenv("SAMP_HUB", setting)
    folder = tmp_path / "my hub"
    folder.mkdir()
    lock, level, seen = folder / "lock", log.level, []

    def look() -> None:
        seen.append(os.environ.get("SAMP_HUB"))
        with connect_to_hub("watcher", str(lock)) as client:
            seen.append(client.get_subscribed_clients("samp.hub.event.shutdown"))

    run_hub(str(lock), ready=seen.append, wait=look)
    assert seen[:2] == [str(lock), setting]
    assert os.environ.get("SAMP_HUB") == setting
    assert log.level == level
    assert not lock.exists()


def test_a_hub_that_cannot_write_its_lock_file_leaves_no_port_open(tmp_path: Path):
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        for lock in (tmp_path, tmp_path / "nowhere" / "lock"):
            with pytest.raises(SampError, match="the hub cannot write"):
                run_hub(str(lock), ready=print, wait=gc.collect)
        gc.collect()
    assert [str(warning.message) for warning in noted if warning.category is ResourceWarning] == []
