"""Requests of every kind to the pages of an archive: none of them ends in a failure of the server."""

import json
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.parse import quote, urlencode

from hypothesis import strategies as st

import provenn
from provenn.web import create_app
from provenn.web.guarding import guard_app
from provenn.web.jobs import Jobs
from tests.fuzz.texts import ODD, texts
from tests.fuzz.trying import Tried, try_all
from tests.web.survey import ODD as NAMES

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # starlette would rather have another httpx
    import schemathesis
    from schemathesis import GenerationMode
    from schemathesis.checks import negative_data_rejection, positive_data_acceptance
    from starlette.testclient import TestClient

__all__ = ["opened", "try_anything", "try_operations"]

_BASE = "http://127.0.0.1"
_INSIDE = (
    "Traceback",
    "site-packages",
    "sqlalchemy",
    'File "',
    "provenn/database",
    "provenn/data",
    "provenn/web",
    ".py:",
)
# A text may be no statement, however well its length fits; and any value is a text, once it is in an address.
_NOT_ASKED = [positive_data_acceptance, negative_data_rejection]
_KNOWN = ("stars", "bright", "faint", "galaxies", *NAMES)


@contextmanager
def opened(folder: Path) -> Iterator[TestClient]:
    """Give a client of an archive's pages. Jobs are taken, and never computed: that is Spark's to do."""
    with (
        provenn.open(folder, who="ada", progress=False) as archive,
        patch.object(Jobs, "_carry_out", lambda *_: None),
        TestClient(
            guard_app(create_app(archive)), base_url=_BASE, follow_redirects=False, raise_server_exceptions=False
        ) as client,
    ):
        yield client


def try_operations(client: TestClient, folder: Path, cases: int) -> Tried:
    """Try what the description of the API allows, and what it does not; answers are as the description says."""
    schema = schemathesis.openapi.from_dict(client.get("/api/openapi.json").json())
    known = [operation.ok() for operation in schema.get_all_operations()]
    asked = st.one_of([item.as_strategy(generation_mode=mode) for item in known for mode in GenerationMode])

    def accept(case: Any) -> bool:
        request = case.as_transport_kwargs(base_url=_BASE)
        del request["cookies"]
        if isinstance(request.get("data"), str | bytes):
            request["content"] = request.pop("data")
        answer = client.request(**request)
        case.validate_response(answer, excluded_checks=_NOT_ASKED)
        return _sound(answer, folder)

    return try_all(asked, accept, cases)


def try_anything(client: TestClient, folder: Path, cases: int) -> Tried:
    """Try any method, path, query, header and body."""
    paths = list(client.get("/api/openapi.json").json()["paths"])
    pages = [
        *paths,
        *(path.removeprefix("/api") for path in paths),
        "/",
        "/api",
        "/static/style.css",
        "/api/openapi.json",
    ]
    value = st.one_of(st.sampled_from([*_KNOWN, *ODD, *_VALUES]), texts())

    def accept(asked: tuple[str, str, str, dict[str, list[str]], dict[str, str], bytes]) -> bool:
        method, page, name, query, headers, body = asked
        path = page.replace("{which}", name).replace("{number}", name)
        answer = client.request(
            method,
            "/" + quote(path.lstrip("/"), safe="/%", errors="surrogatepass"),
            params=urlencode(query, doseq=True, errors="surrogatepass"),
            headers={
                name: header.encode(errors="surrogatepass").translate(None, b"\r\n") for name, header in headers.items()
            },
            content=body,
        )
        return _sound(answer, folder)

    asked = st.tuples(
        st.sampled_from(["GET", "GET", "GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "FOO"]),
        st.one_of(st.sampled_from(pages), st.tuples(st.sampled_from(pages), value).map("".join), value),
        value,
        st.dictionaries(st.sampled_from(_NAMES.split()), st.lists(value, min_size=1, max_size=3), max_size=5),
        st.dictionaries(st.sampled_from(_HEADERS), value, max_size=3),
        st.one_of(st.just(b""), st.binary(max_size=200), _bodies(value)),
    )
    return try_all(asked, accept, cases)


_VALUES = (
    *("0", "-1", "1e9", "99999999999999999999", "true", "bright <= stars", "vmag < 6", "vmag", "(" * 900, "%00", "%"),
)
_NAMES = """
sources attributes more where missing keep a b c ask page sort kind population attribute owner text depth most direction
look state origin catalog format named
"""
_HEADERS = (
    *("host", "origin", "sec-fetch-site", "content-type", "content-length", "transfer-encoding", "accept", "cookie"),
    *("authorization", "range", "if-none-match", "x-forwarded-for", "accept-encoding"),
)


def _bodies(value: st.SearchStrategy[str]) -> st.SearchStrategy[bytes]:
    job = st.fixed_dictionaries(
        {"sources": value, "attributes": st.lists(value, max_size=3)}, optional={"where": value, "format": value}
    )
    anything = st.recursive(st.one_of(st.none(), st.integers(), st.floats(), value), st.lists, max_leaves=5)
    deep = st.integers(1, 50_000).map(lambda depth: b"[" * depth)
    return st.one_of(st.one_of(job, anything).map(lambda item: json.dumps(item).encode()), deep)


def _sound(answer: Any, folder: Path) -> bool:
    """Check an answer: no failure of the server, nothing of its inside; tell whether what was asked for was good."""
    assert answer.status_code < 500, (answer.status_code, answer.text[:500])
    assert answer.headers["x-content-type-options"] == "nosniff" or answer.status_code == 400  # not our host
    if answer.status_code >= 400:  # what there is to see may tell where files are; a refusal has no reason to
        assert not [
            catalog
            for catalog in (*_INSIDE, str(folder))
            if catalog in answer.text and catalog not in str(answer.request.url)
        ]
    kind = answer.headers.get("content-type", "")
    if kind.startswith("application/json") and answer.content:
        answer.json()
    return bool(answer.status_code < 400)
