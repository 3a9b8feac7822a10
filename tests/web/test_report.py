"""Reports: complete, self-contained, escaped, bounded, and readable offline in a real browser."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright
from starlette.testclient import TestClient

import provenn
from provenn.archive import Catalog
from provenn.catalogs import CombineAttributes, SelectSources
from provenn.errors import TargetError, UnknownCatalogError
from provenn.web.standalone_report import make_report, render_report
from tests.archive.samples import write_parquet
from tests.chromium import chromium
from tests.web.survey import ODD

SECTIONS = ("Attributes", "Lineage", "Files", "Calculators", "Relations", "Facts", "Plan", "Stored")


class Document(HTMLParser):
    """The texts of a report, a line each, and all attributes; styles and pictures apart."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.lines: list[str] = []
        self._inside: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        self._inside += [tag] if tag in {"svg", "style"} else []

    def handle_endtag(self, tag):
        if self._inside and self._inside[-1] == tag:
            self._inside.pop()

    def handle_data(self, data):
        if data.strip() and not self._inside:
            self.lines.append(" ".join(data.split()))


def made(archive: provenn.Archive, name: str) -> tuple[str, Document]:
    text = render_report(make_report(archive, name))
    return text, Document(text)


def test_a_report_says_all_there_is(archive, golden):
    """As text, with what differs from day to day left out."""
    _, found = made(archive, "wide")
    told = "\n".join(found.lines)
    told = told.replace(str(Path(archive.place).parent), "FOLDER")
    told = re.sub(r"[0-9a-f]{64}", "DIGEST", told)
    told = re.sub(r"\b[0-9a-f]{12}\b", "DIGEST", told)
    told = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", "MOMENT", told)
    told = re.sub(r"\b\d+\.\d+\.\d+\b", "VERSION", told)
    told = re.sub(r"of /\S+stars.parquet", "of FOLDER/stars.parquet", told)
    told = re.sub(r"^/\S+stars.parquet", "FOLDER/stars.parquet", told, flags=re.MULTILINE)
    golden("tests/golden/report.txt", told + "\n")


@pytest.mark.parametrize("name", ["stars", "all", "far", "both", "rest", "tenth", "light", "renamed", *ODD])
def test_every_class_has_a_report_that_needs_nothing_else(archive, name):
    text, found = made(archive, name)
    assert all(section in found.lines for section in SECTIONS)
    assert not {"script", "link", "img", "iframe", "object", "base", "form"} & set(found.tags)
    assert not [one for one, _ in found.attributes if one.startswith("on") or one in {"href", "src", "xlink:href"}]
    assert set(re.findall(r"https?://[^\s\"'<]+", text)) == {"http://www.w3.org/2000/svg"}
    assert "@import" not in text
    assert set(re.findall(r"url\(([^)]*)\)", text)) <= set(re.findall(r"url\((#[^)]*)\)", text))
    assert name in " ".join(found.lines)
    assert found.tags.count("h1") == 1


def test_the_way_to_the_archive_is_not_told(archive, tmp_path):
    text, found = made(archive, "bright")
    assert archive.place not in text
    assert str(tmp_path) not in text, "it was made elsewhere: only the files' recorded place is told"
    assert "survey" in found.lines


def test_calculators_are_told_with_what_identifies_them(archive):
    (used,) = archive.provenance("far").calculations
    _, found = made(archive, "far")
    assert "tests.web.survey:distance" in found.lines
    assert used.hash in found.lines
    assert "not verified" in " ".join(found.lines), "nobody has read the keys"


def test_why_there_is_no_plan_is_told(archive, monkeypatch):
    def refuse(_):
        raise TargetError("nobody knows <how>")

    monkeypatch.setattr(Catalog, "plan", refuse)
    _, found = made(archive, "bright")
    assert "No plan: nobody knows <how>" in found.lines


def test_a_huge_lineage_has_a_report_of_bounded_size(tmp_path):
    with provenn.open(tmp_path / "survey") as archive:
        columns = {"hip": [1], **{f"a{number}": [0.0] for number in range(300)}}
        stars = archive.ingest("stars", write_parquet(tmp_path / "s.parquet", columns), key="hip", population="star")
        last = stars.definition
        for number in range(600):
            last = SelectSources.of(last, f"a{number % 300} < {number}")
        many = stars.concat(*(stars.select(f"a1 < {number}") for number in range(60)))
        archive.define(CombineAttributes.of(last, many.definition), "huge")
        found = make_report(archive, "huge")
    text = render_report(found)
    assert len(found.steps) == 663
    assert "… and 463 more" in text, "steps"
    assert "… and 101 more" in text, "attributes"
    assert "its lineage of 663 catalogs is too long for a plan in a report" in text
    assert "the same sources by construction." in text
    assert len(text) < 200_000


def test_the_server_gives_it_as_a_file(client: TestClient, archive):
    answer = client.get("/catalogs/bright/report")
    assert answer.status_code == 200
    assert answer.headers["content-disposition"].startswith("attachment; ")
    assert answer.headers["content-disposition"].endswith("filename*=UTF-8''bright.html")
    assert "the sources of stars where vmag &lt; 6" in answer.text
    odd = client.get(f"/catalogs/{archive[ODD[0]].digest}/report")
    assert odd.status_code == 200
    assert "<img" not in odd.text
    assert client.get("/catalogs/nothing/report").status_code == 404


def test_there_is_no_report_of_nothing(archive):
    with pytest.raises(UnknownCatalogError, match="brigth"):
        make_report(archive, "brigth")


def test_it_opens_offline_in_a_browser_and_fits_a_phone(archive, tmp_path):
    file = tmp_path / "report.html"
    file.write_text(made(archive, "wide")[0], encoding="utf-8")
    said: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        context = browser.new_context(offline=True, viewport={"width": 360, "height": 700})
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: said.append(request.url) if request.url != file.as_uri() else None)
        page.goto(file.as_uri())
        assert page.get_by_role("heading", level=1).inner_text().startswith("wide")
        assert page.locator("svg").count() == 2
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        assert page.pdf(format="A4").startswith(b"%PDF")
        browser.close()
    assert said == [], "no message, and nothing but the file was asked for"
