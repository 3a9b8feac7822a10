"""Hints on pages: a hint that names a page is a link to it, and its words are escaped like all others."""

import ast
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pyarrow as pa
import pytest

import provenn
from provenn.errors import DefinitionError, UnknownCatalogError
from provenn.hints import Hint, find_page_target
from provenn.web.asking import make_problem
from provenn.web.rendering import render
from tests.web.reading import read

SOURCE = Path(provenn.__file__).parent
HOSTILE = "<script>alert(\"x\")</script> & 'quoted'"


def targets() -> list[tuple[str, str]]:
    """Return file and target of each hint in the source that leads to a page."""
    texts = {path: path.read_text() for path in sorted(SOURCE.rglob("*.py"))}
    return [
        (path.relative_to(SOURCE).as_posix(), word.value.value)
        for path, text in texts.items()
        if "Hint(" in text and "target=" in text  # all other files are not parsed: every process does this
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "Hint"
        for word in node.keywords
        if word.arg == "target" and isinstance(word.value, ast.Constant)
    ]


@pytest.mark.parametrize(("file", "target"), targets())
def test_every_target_is_a_page(client, file, target):
    assert client.get(target).status_code == 200, file


def test_the_targets_are_found():
    assert len(targets()) >= 5


@pytest.mark.parametrize(
    ("address", "text", "target"),
    [
        ("/catalogs/zzzzzzzzzzzzzz", "see the list of catalogs", "/catalogs"),
        ("/nowhere", "start from the list of catalogs", "/catalogs"),
        ("/jobs/0", "old jobs are removed, and all jobs when the server stops: see your jobs", "/jobs"),
    ],
)
def test_a_hint_that_names_a_page_is_a_link(reader, address, text, target):
    answer = reader.get(address)
    assert answer.status_code == 404
    assert read(answer.text).links[text] == target
    assert reader.get(f"/api{address}").json()["error"]["hint"] == text


def test_a_suggested_name_is_a_link_to_the_catalogs_with_this_name(reader):
    hint = reader.get("/api/catalogs/brigth").json()["error"]["hint"]
    assert hint.startswith("did you mean bright")
    links = read(reader.get("/catalogs/brigth").text).links
    assert links[hint] == "/catalogs?text=bright"
    assert "bright" in read(reader.get(links[hint]).text).links


@pytest.mark.parametrize("name", ["a/b & c", '"quoted" <name>', "50 % ?x=1#y"])
def test_a_link_to_a_suggested_name_is_encoded(tmp_path, name):
    with provenn.open(tmp_path / "archive") as archive:
        stars = archive.ingest("stars", pa.table({"hip": [1]}), key="hip", population="star")
        stars.select("hip > 0", name=name)
        with pytest.raises(UnknownCatalogError) as caught:
            archive[name + "x"]
    address = urlsplit(find_page_target(caught.value.hint))
    assert (address.scheme, address.netloc, address.path, address.fragment) == ("", "", "/catalogs", "")
    assert parse_qs(address.query, strict_parsing=True) == {"text": [name]}


def test_a_hint_that_names_no_page_is_no_link(reader):
    page = read(reader.get("/target?sources=bright&attributes=vmagg").text)
    assert "did you mean vmag" in page.text
    assert not any("did you mean" in text for text in page.links)


@pytest.mark.parametrize("target", ["https://example.org", "//example.org", "/\\example.org", "javascript:alert(1)"])
def test_a_hint_leads_to_a_page_of_the_server_only(target):
    with pytest.raises(ValueError, match="expected a path on the server"):
        Hint("a", target=target)


@pytest.mark.parametrize("target", ["", "/catalogs", '/catalogs"onclick="alert(1)'])
def test_the_words_and_the_target_of_a_hint_are_escaped(target):
    values = {"phrase": "Not Found", "message": "no", "hint": HOSTILE, "target": target}
    answer = render("failure.html", values, 404)
    page = read(bytes(answer.body).decode())
    assert HOSTILE in page.text
    assert page.links.get(HOSTILE, "") == target


def test_a_problem_of_a_form_keeps_the_target_of_its_hint():
    problem = make_problem("name", DefinitionError("no", hint=Hint("a", page="see the facts", target="/knowledge")))
    assert (problem.hint, problem.target) == ("see the facts", "/knowledge")
    assert make_problem("name", DefinitionError("no", hint="try again")).target == ""
    assert find_page_target("plain text") == ""


def test_the_json_of_an_error_has_the_same_keys_as_ever(reader):
    assert set(reader.get("/api/catalogs/zzzzzzzzzzzzzz").json()["error"]) == {"message", "hint"}
