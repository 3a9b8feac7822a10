"""Uploaded tables: refused early if they are too large, refused if they are hostile, and gone after the query."""

import http.client
import http.server
import socket
import threading
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import httpx
import pytest
from astropy.table import Table

from provenn.data.leftovers import JOBS
from provenn.errors import TapError
from provenn.processes import make_holder
from provenn.tap.fetching import fetch_table, is_public_address
from provenn.tap.upload import convert_upload
from tests.tap.test_sync import error_of

HEAD = '<VOTABLE version="1.4" xmlns="http://www.ivoa.net/xml/VOTable/v1.3"><RESOURCE><TABLE>'
TAIL = "</TABLE></RESOURCE></VOTABLE>"
FIELD = '<FIELD name="a" datatype="int"/>'
ROWS = "<DATA><TABLEDATA><TR><TD>1</TD></TR></TABLEDATA></DATA>"
LAUGHS = (
    '<!DOCTYPE lolz [<!ENTITY a "lol">'
    + "".join(f'<!ENTITY {after} "{f"&{before};" * 10}">' for before, after in zip("abcdefgh", "bcdefghi", strict=True))
    + "]>"
)

HOSTILE = {
    "laughs": LAUGHS + HEAD + FIELD + "<DATA><TABLEDATA><TR><TD>&i;</TD></TR></TABLEDATA></DATA>" + TAIL,
    "a file": '<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]>' + HEAD + FIELD + ROWS + TAIL,
    "a link": HEAD + FIELD + '<DATA><BINARY2><STREAM href="http://127.0.0.1/x"/></BINARY2></DATA>' + TAIL,
    "a claim": HEAD + '<FIELD name="a" datatype="double" arraysize="99999999"/>' + ROWS + TAIL,
    "a cut": HEAD + FIELD + "<DATA><TABLEDATA><TR><TD>1",
    "no table": "<VOTABLE><RESOURCE/></VOTABLE>",
    "another format": "a,b\n1,2\n",
    "nothing": "",
    "a twin": HEAD + FIELD + FIELD + ROWS + TAIL,
    "a wrong value": HEAD + FIELD + "<DATA><TABLEDATA><TR><TD>x</TD></TR></TABLEDATA></DATA>" + TAIL,
}


def upload(client: Any, content: bytes, query: str = "SELECT * FROM TAP_UPLOAD.mine", **parameters: str) -> Any:
    data = {"LANG": "ADQL", "QUERY": query, "UPLOAD": "mine,param:table", "RESPONSEFORMAT": "json", **parameters}
    return client.post("/tap/sync", data=data, files={"table": ("mine.vot", content, "application/x-votable+xml")})


def list_job_files() -> set[Path]:
    """Return the files and folders of jobs of this process; others run tests, too."""
    own = [folder for folder in Path(gettempdir()).glob(f"{JOBS}*") if _is_own(folder)]
    return {path for folder in own for path in folder.glob("*/*")}


def _is_own(folder: Path) -> bool:
    process = make_holder().rpartition("/")[0]
    return any(process in mark.read_text() for mark in folder.glob("*") if mark.is_file())


def votable_of(table: Table) -> bytes:
    stream = BytesIO()
    table.write(stream, format="votable")
    return stream.getvalue()


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_table_is_refused(client, kind):
    answer = upload(client, HOSTILE[kind].encode())
    assert answer.status_code == 400
    message = error_of(answer)
    assert "the uploaded table mine" in message
    assert gettempdir() not in message, "paths of the server stay private"


def test_moments_units_and_missing_values_survive(client):
    text = (
        HEAD + '<FIELD name="t" datatype="char" arraysize="*" xtype="timestamp"/>'
        '<FIELD name="x" datatype="double" unit="mag" ucd="phot.mag"/><DATA><TABLEDATA>'
        "<TR><TD>2026-11-18T12:00:00Z</TD><TD>1.5</TD></TR><TR><TD/><TD/></TR></TABLEDATA></DATA>" + TAIL
    )
    document = upload(client, text.encode()).json()
    assert document["rows"] == [["2026-11-18T12:00:00.000000", 1.5], [None, None]]
    assert document["columns"][0]["xtype"] == "timestamp"
    assert (document["columns"][1]["unit"], document["columns"][1]["ucd"]) == ("mag", "phot.mag")


def test_a_table_may_come_in_a_part_without_a_file_name(client):
    table = HEAD + FIELD + ROWS + TAIL
    data = {
        "LANG": "ADQL",
        "QUERY": "SELECT a FROM TAP_UPLOAD.mine",
        "UPLOAD": "mine,param:table",
        "RESPONSEFORMAT": "csv",
    }
    for form in (
        {"files": {name: (None, value) for name, value in {**data, "table": table}.items()}},
        {"data": {**data, "table": table}},
    ):
        answer = client.post("/tap/sync", **form)
        assert (answer.status_code, answer.text.split()) == (200, ["a", "1"]), answer.text
    made = client.post("/tap/async", files={name: (None, value) for name, value in {**data, "table": table}.items()})
    assert "VOTABLE" not in client.get(f"{made.headers['location']}/parameters").text, "the table is not a parameter"


def test_the_remedy_for_a_claim_is_one_that_a_client_has(client):
    answer = upload(client, HOSTILE["a claim"].encode())
    assert "in memory" in error_of(answer)
    assert "provenn allow" not in answer.text


def test_a_part_that_is_not_there_is_named(client):
    data = {"LANG": "ADQL", "QUERY": "SELECT * FROM TAP_UPLOAD.mine", "UPLOAD": "mine,param:absent"}
    assert "the request has no part 'absent'" in error_of(client.post("/tap/sync", data=data))


def test_an_upload_of_a_gigabyte_is_refused_before_it_arrives(address):
    """The answer comes although no byte of the body is ever sent."""
    head = "POST /tap/sync HTTP/1.1\r\nHost: {host}\r\nContent-Type: multipart/form-data; boundary=x\r\n"
    url = httpx.URL(address)
    with socket.create_connection((url.host, url.port)) as connection:
        connection.sendall((head.format(host=url.netloc.decode()) + "Content-Length: 1000000000\r\n\r\n").encode())
        with http.client.HTTPResponse(connection) as answer:
            answer.begin()
            assert answer.status == 413
            assert "33,000,000 bytes" in answer.read().decode()


def test_a_table_of_some_megabytes_is_taken(client):
    table = Table({"n": range(200_000), "x": [0.5] * 200_000})
    content = votable_of(table)
    assert len(content) > 2_000_000
    assert upload(client, content, "SELECT COUNT(*) AS n FROM TAP_UPLOAD.mine").json()["rows"] == [[200_000]]


def test_nothing_of_an_upload_is_left(client, archive):
    assert upload(client, votable_of(Table({"a": [1, 2]}))).status_code == 200
    catalogs, files = len(archive), list_job_files()
    assert upload(client, votable_of(Table({"a": [1, 2]}))).status_code == 200
    assert any(map(_is_own, Path(gettempdir()).glob(f"{JOBS}*")))
    assert len(archive) == catalogs
    assert list_job_files() <= files


@pytest.fixture
def web() -> Iterator[str]:
    """A web server on this machine with a VOTable."""
    content = votable_of(Table({"a": [7]}))

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(302 if self.path == "/moved" else 200)
            self.send_header("Location", "http://127.0.0.1/x")
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_table_elsewhere_is_fetched_from_public_addresses_alone(client, web, tmp_path):
    data = {"LANG": "ADQL", "QUERY": "SELECT * FROM TAP_UPLOAD.mine", "UPLOAD": f"mine,{web}/x"}
    assert "does not fetch tables from 127.0.0.1" in error_of(client.post("/tap/sync", data=data))
    for address in (
        "http://localhost/x",
        "http://[::1]/x",
        "http://169.254.169.254/latest",
        "http://10.0.0.1:80/",
        "https://0.0.0.0/x",
    ):
        with pytest.raises(TapError, match="does not fetch"):
            fetch_table(address, 1000)
    for address in ("ftp://example.org/x", "http:///x", "http://a:b@127.0.0.1/x", "http://127.0.0.1:99999/"):
        with pytest.raises(TapError, match="expected an address"):
            fetch_table(address, 1000)
    assert not is_public_address("::ffff:127.0.0.1", 80)
    assert not is_public_address("93.184.216.34", 22)

    def anywhere(*_: object) -> bool:
        return True

    content = fetch_table(f"{web}/table", 1_000_000, anywhere)
    (tmp_path / "x").write_bytes(content)
    assert convert_upload("x", tmp_path / "x", tmp_path).schema.names[0] == "a"
    with pytest.raises(TapError, match="more than 10 bytes"):
        fetch_table(f"{web}/table", 10, anywhere)
    with pytest.raises(TapError, match="status 302"):
        fetch_table(f"{web}/moved", 1000, anywhere)


@pytest.mark.parametrize("path", ["/tap/async", "/tap/sync"])
@pytest.mark.parametrize(
    ("kind", "body", "problem"),
    [
        (
            "multipart/form-data; boundary=X",
            b'--X\r\nContent-Disposition: form-data; name="LANG"\r\n\r\nAD',
            "breaks off",
        ),
        ("multipart/form-data; boundary=X", b"", "breaks off"),
        ("multipart/form-data; boundary=X", b"LANG=ADQL&QUERY=SELECT+1", "cannot be read"),
        ("multipart/form-data", b"--X--", "cannot be read"),
        ("application/json", b'{"LANG": "ADQL"}', "'application/json'"),
        ("", b"LANG=ADQL&QUERY=SELECT+1", "without a type"),
    ],
)
def test_a_broken_form_is_refused_and_makes_no_job(client, path, kind, body, problem):
    before = client.get("/tap/async").content
    headers = {"content-type": kind} if kind else {}
    answer = client.post(path, content=body, headers=headers)
    assert answer.status_code == 400
    assert problem in error_of(answer)
    assert client.get("/tap/async").content == before


@pytest.mark.parametrize(
    ("query", "has_upload", "hint"),
    [
        ("SELECT a FROM TAP_UPLOAD.mien", True, "did you mean mine?"),
        ("SELECT a FROM TAP_UPLOAD.elsewhere", True, "the uploaded tables are mine"),
        ('SELECT m.a FROM TAP_UPLOAD.mine AS m JOIN tap_upload."Mime" AS n ON m.a = n.a', True, "did you mean mine?"),
        ("SELECT a FROM TAP_UPLOAD.mine", False, "no table came with this query: send it with UPLOAD=mine"),
        ("SELECT COUNT(*) AS n FROM TAP_UPLOAD.mine", False, "no table came with this query"),
    ],
)
def test_an_unknown_uploaded_table_is_refused_with_similar_names(client, query, has_upload, hint):
    data = {"LANG": "ADQL", "QUERY": query}
    files = {"table": ("mine.vot", (HEAD + FIELD + ROWS + TAIL).encode())} if has_upload else None
    answer = client.post("/tap/sync", data={**data, "UPLOAD": "mine,param:table"} if has_upload else data, files=files)
    assert answer.status_code == 400
    assert "there is no uploaded table" in error_of(answer)
    assert hint in error_of(answer)
