"""A server as ``provenn serve`` starts it, and clients that mean harm: everybody else is still served."""

import html
import json
import re
import socket
import sqlite3
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlencode

import httpx
import pytest

from provenn.archive.tokens import issue_token
from provenn.database.transactions import Database
from tests.waiting import FOR_EVER, LIMIT
from tests.web.running import running

HEAVY = 45
"""How many requests of a hostile client are under way at once: more than a server has threads."""


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[str]:
    """Serve an archive from a process of its own; give its address."""
    command = [sys.executable, "-m", "provenn", "serve", "--port", "0", "--json", "--archive", str(folder), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            line = process.stdout.readline()
            assert line, "the server did not start"
            yield json.loads(line)["address"].rstrip("/")
        finally:
            process.kill()


def nest(form: str, depth: int) -> str:
    """Return a short criterion that doubles with every bracket, if it is worked out as it is written."""
    text = {"nullif": "vmag", "between": "vmag < 1", "case": "vmag"}[form]
    for number in range(depth):
        text = {
            "nullif": f"nullif({text}, {number})",
            "between": f"({text}) BETWEEN (vmag > {number}) AND (plx > {number})",
            "case": f"CASE {text} WHEN {number} THEN 1 WHEN {-number} THEN 2 ELSE plx END",
        }[form]
    return text if form == "between" else f"{text} < 6"


@pytest.fixture(scope="module")
def address(made: Path) -> Iterator[str]:
    """A server that all attack."""
    with serving(made) as item:
        yield item


@pytest.mark.parametrize("form", ["nullif", "between", "case"])
def test_short_criteria_that_expand_do_not_stop_a_server(address: str, form: str):
    """The hostile client hangs up after a moment; whoever asks afterwards is answered."""
    query = urlencode({"sources": "stars", "attributes": "vmag", "where": nest(form, 24)})
    with ThreadPoolExecutor(HEAVY) as pool:

        def attack(_number: int) -> None:
            with suppress(httpx.TimeoutException):
                httpx.get(f"{address}/target?{query}", timeout=3)

        list(pool.map(attack, range(HEAVY)))
        assert httpx.get(f"{address}/target?sources=stars&attributes=vmag", timeout=LIMIT).status_code == 200


def test_idle_connections_of_a_stranger_keep_nobody_out(address: str):
    url = httpx.URL(address)
    idle = []
    try:
        for _ in range(1005):
            with suppress(OSError):
                connection = socket.create_connection((url.host, url.port), LIMIT, source_address=("127.0.0.66", 0))
                idle.append(connection)
        assert httpx.get(f"{address}/api/catalogs", timeout=LIMIT).status_code == 200
    finally:
        for connection in idle:
            connection.close()


def test_the_limit_on_wrong_tokens_is_not_evaded_by_forged_addresses(archive, tmp_path: Path):
    """Over a socket of this machine, from where the server once believed the header."""
    issue_token(archive, "ada", "admin")
    with serving(tmp_path / "survey", "--tokens") as address, ThreadPoolExecutor(16) as pool:

        def guess(number: int) -> int:
            headers = {"Authorization": "Bearer wrong", "X-Forwarded-For": f"198.51.100.{number}"}
            return httpx.get(f"{address}/api/catalogs", headers=headers, timeout=LIMIT).status_code

        statuses = set(pool.map(guess, range(60)))
    assert statuses == {401, 429}


def test_a_reader_with_a_token_does_not_wait_for_a_writer(archive, tmp_path: Path, monkeypatch):
    """The use of a token is noted, but not while its owner waits; a writer would be waited for longer than a test."""
    _, secret = issue_token(archive, "cleo", "reader")
    write, given = Database.writing, {"Authorization": f"Bearer {secret}"}
    writer = sqlite3.connect(tmp_path / "survey" / "provenn.sqlite", isolation_level=None)
    with running(archive, tokens=True) as address:
        monkeypatch.setattr(
            Database,
            "writing",
            lambda self, *, patience=None: write(self, patience=FOR_EVER if patience is None else patience),
        )
        writer.execute("BEGIN IMMEDIATE")
        try:
            answer = httpx.get(f"{address}api/catalogs", headers=given, timeout=LIMIT)
        finally:
            writer.execute("ROLLBACK")
            writer.close()
    assert answer.status_code == 200


def test_no_picture_violates_the_policy_it_is_sent_with(reader):
    """A browser applies a style inside a picture only if the policy names its hash, and no style of an element."""
    answer = reader.get("/catalogs/bright/lineage.svg")
    policy = answer.headers["content-security-policy"]
    styles = re.findall(r"<style[^>]*>(.*?)</style>", answer.text, re.DOTALL)
    assert styles
    for style in styles:
        text = html.unescape(style).removeprefix("<![CDATA[").removesuffix("]]>")
        assert f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" in policy
    assert not re.search(r'\sstyle="', answer.text)
