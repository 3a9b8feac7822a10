"""All that pages are for works without any script."""

import re

import pytest
from playwright.sync_api import expect


@pytest.fixture
def visitor(visit):
    return visit(java_script_enabled=False)


def test_search_open_and_walk(visitor):
    page = visitor.open("/")
    page.get_by_label("Name or definition").fill("both")
    page.get_by_role("button", name="Search").click()
    page.get_by_role("link", name="both", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("both")
    expect(page.get_by_role("button", name="Zoom in")).to_be_hidden()
    expect(page.get_by_text("Drag to move")).to_be_hidden()
    page.locator("#graph").get_by_role("link", name=re.compile("^tenth")).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("tenth SampleSources")


def test_compare_and_ask(visitor):
    page = visitor.open("/compare")
    page.get_by_label("First catalog").fill("bright")
    page.get_by_label("Second catalog").fill("stars")
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("heading", name="bright lies inside stars")).to_be_visible()
    page.get_by_label("A statement about catalogs").fill("nonempty(bright)")
    page.get_by_role("button", name="Prove").click()
    expect(page.locator("#answer")).to_contain_text("proved")
    expect(page.get_by_role("heading", name="bright lies inside stars")).to_be_visible()


def test_plan(visitor):
    page = visitor.open("/target")
    page.get_by_label("Sources of").fill("bright")
    page.get_by_role("button", name="Choose attributes").click()
    page.get_by_label("vmag", exact=True).check()
    page.get_by_role("button", name="Plan").click()
    expect(page.get_by_role("region", name="The plan, before and after")).to_contain_text("reuse")
    page.locator("summary", has_text="As text").click()
    expect(page.locator("details pre")).to_be_visible()
