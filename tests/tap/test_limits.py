"""The limits of the service are options of the server, are stated by the capabilities, and are kept."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any
from xml.etree import ElementTree as ET

import httpx
import pytest

import provenn
from provenn.tap.service_limits import ServiceLimits
from provenn.web.serving import ServerLimits
from tests.tap.conftest import fill_archive
from tests.tap.test_sync import error_of
from tests.waiting import LIMIT
from tests.web.running import running

FIELDS = {
    "outputLimit": ("rows", "most_rows"),
    "executionDuration": ("seconds", "most_seconds"),
    "retentionPeriod": ("kept_seconds", "most_kept_seconds"),
    "uploadLimit": ("upload", "upload"),
}
"""The elements of the capabilities, with the limits that they state."""


def read_stated_limits(document: str) -> dict[str, int]:
    """Return the limits that capabilities state."""
    root = ET.fromstring(document)  # noqa: S314 - of our own server
    stated = {}
    for tag, (usual, most) in FIELDS.items():
        (element,) = root.iter(tag)
        values = {child.tag: int(child.text or "") for child in element}
        stated |= {usual: values["default"], most: values["hard"]}
    return stated


@pytest.fixture(scope="module")
def narrow(tmp_path_factory) -> Iterator[str]:
    """The address of a service with narrow limits, which needs no Spark for what is asked here."""
    tap = ServiceLimits(3, 5, 7, 9, 60, 120, upload=1_200_000, jobs=2)
    folder = tmp_path_factory.mktemp("narrow") / "survey"
    with (
        pytest.MonkeyPatch.context() as patch,
        provenn.open(folder, who="ada", progress=False, notify=False) as archive,
    ):
        patch.delenv("PROVENN_ENGINE", raising=False)
        fill_archive(archive)
        with running(archive, limits=ServerLimits(seconds=LIMIT, tap=tap)) as server:
            yield f"{server}tap"


def ask(address: str, query: str = "SELECT hip FROM stars", **parameters: str) -> Any:
    return httpx.get(f"{address}/sync", params={"LANG": "ADQL", "QUERY": query, "RESPONSEFORMAT": "json", **parameters})


def test_the_options_of_the_server_are_stated(tmp_path):
    with provenn.open(tmp_path / "survey", progress=False, notify=False) as archive:
        fill_archive(archive)
    options = {"rows": "50", "rows-most": "70", "seconds": "9999", "seconds-most": "80", "hours-most": "2"}
    arguments = [text for name, value in options.items() for text in (f"--tap-{name}", value)]
    command = [sys.executable, "-m", "provenn", "serve", "--port", "0", "--json", "--tap-upload", "5 MB", *arguments]
    with subprocess.Popen(
        [*command, "--archive", str(tmp_path / "survey")], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            address = json.loads(process.stdout.readline())["tap"]
            stated = read_stated_limits(httpx.get(f"{address}/capabilities", timeout=LIMIT).text)
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(LIMIT)
    assert stated == {
        "rows": 50,
        "most_rows": 70,
        "upload": 5_000_000,
        "seconds": 80,
        "most_seconds": 80,
        "kept_seconds": 7200,
        "most_kept_seconds": 7200,
    }


def test_the_capabilities_state_the_limits(narrow):
    stated = read_stated_limits(httpx.get(f"{narrow}/capabilities").text)
    assert ServiceLimits(**stated, jobs=2) == ServiceLimits(3, 5, 7, 9, 60, 120, upload=1_200_000, jobs=2)


@pytest.mark.parametrize(("most", "rows"), [(None, 3), ("4", 4), ("5", 5), ("1000", 5)])
def test_rows_are_limited(narrow, most, rows):
    answer = ask(narrow, **({} if most is None else {"MAXREC": most})).json()
    assert (answer["status"], len(answer["rows"])) == ("OVERFLOW", rows)


def test_metadata_have_the_same_limit(narrow):
    answer = ask(narrow, "SELECT * FROM TAP_SCHEMA.columns").json()
    assert (answer["status"], len(answer["rows"])) == ("OVERFLOW", 3)


def test_an_upload_beyond_the_limit_is_refused(narrow):
    data = {"LANG": "ADQL", "QUERY": "SELECT * FROM TAP_UPLOAD.mine", "UPLOAD": "mine,param:table"}
    refused = httpx.post(f"{narrow}/sync", data=data, files={"table": ("mine.vot", b" " * 2_300_000)})
    assert refused.status_code == 413
    assert "more than 2,200,000 bytes" in error_of(refused)
    assert "upload a smaller table" in error_of(refused)


def test_jobs_have_the_limits(narrow):
    jobs = []
    for _ in range(2):
        created = httpx.post(f"{narrow}/async", data={"LANG": "ADQL", "QUERY": "SELECT hip FROM stars"})
        jobs.append(created.headers["location"])
    refused = httpx.post(f"{narrow}/async", data={"LANG": "ADQL", "QUERY": "SELECT hip FROM stars"})
    assert refused.status_code == 429
    assert "2 of your jobs are waiting or running" in error_of(refused)
    assert httpx.get(f"{jobs[0]}/executionduration").text == "7"
    httpx.post(f"{jobs[0]}/executionduration", data={"EXECUTIONDURATION": "1000"})
    assert httpx.get(f"{jobs[0]}/executionduration").text == "9"
    root = ET.fromstring(httpx.get(jobs[0]).content)  # noqa: S314 - of our own server
    created, destruction = (
        datetime.fromisoformat(root.findtext(f"{{http://www.ivoa.net/xml/UWS/v1.0}}{tag}") or "")
        for tag in ("creationTime", "destruction")
    )
    assert destruction - created == timedelta(seconds=60)
    for job in jobs:
        assert httpx.delete(job).status_code == 303
