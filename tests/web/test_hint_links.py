"""Hints on pages: a hint that names a page is a link to it, and its words are escaped like all others."""

import ast
from pathlib import Path

import pytest

import provenn
from provenn.errors import DefinitionError
from provenn.hints import Hint, find_page_target
from provenn.web.asking import make_problem
from provenn.web.rendering import render
from tests.web.reading import read

SOURCE = Path(provenn.__file__).parent
HOSTILE = "<script>alert(\"x\")</script> & 'quoted'"


def targets() -> list[tuple[str, str]]:
    """Return file and target of each hint in the source that leads to a page."""
    return [
        (path.relative_to(SOURCE).as_posix(), word.value.value)
        for path in sorted(SOURCE.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
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


def test_a_hint_that_names_no_page_is_no_link(reader):
    page = read(reader.get("/catalogs/brigth").text)
    assert "did you mean bright" in page.text
    assert not any("did you mean" in text for text in page.links)


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
