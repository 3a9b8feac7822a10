"""The data of a catalog on its pages, by the ways of a user."""

import re

import pytest
from playwright.sync_api import expect


def test_a_catalog_opens_on_its_data(visitor):
    page = visitor.open("/catalogs")
    page.get_by_role("link", name="placed", exact=True).click()
    expect(page.get_by_text("16 sources counted")).to_be_visible()
    expect(page.get_by_role("region", name="Some rows").get_by_role("row")).to_have_count(11)
    expect(page.get_by_role("img", name="Histogram of gmag")).to_be_visible()
    picture = page.get_by_role("img", name=re.compile("^Sky map of placed: 16 sources"))
    expect(picture).to_be_visible()
    assert picture.evaluate("image => image.complete && image.naturalWidth > 0")


def test_light_curves_are_seen_on_the_page(visitor):
    """Arrays of the first sources are drawn, without Spark and without a script."""
    page = visitor.open("/catalogs/curves")
    picture = page.get_by_role("img", name=re.compile("^gmags against mjd of curves"))
    expect(picture).to_be_visible()
    expect(picture.locator("text", has_text="id 0: 40 points")).to_be_visible()
    expect(page.get_by_role("img", name=re.compile("^flux against position of curves"))).to_be_visible()


def test_a_cell_of_the_map_leads_to_its_sources(visitor):
    page = visitor.open("/catalogs/placed")
    page.get_by_role("link", name=re.compile("^Sky map of placed")).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("placed on the sky")
    page.locator("svg a").first.click()
    expect(page.get_by_role("heading", name=re.compile("^Sources in the cell"))).to_be_visible()
    expect(page.get_by_role("region", name=re.compile("^Sources in the cell")).get_by_role("row")).not_to_have_count(0)
    page.get_by_role("link", name="The whole map").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("placed on the sky")


def test_another_catalog_is_drawn_over_the_map_by_keyboard(visitor):
    page = visitor.open("/catalogs/placed/sky")
    visitor.tab_to(page.get_by_label("Draw over it"))
    page.keyboard.type("northern")
    page.keyboard.press("Enter")
    expect(page.get_by_text("northern: 6 sources", exact=True)).to_be_visible()


def test_what_only_spark_can_compute_leads_to_a_request_that_keeps_it(visitor):
    page = visitor.open("/catalogs/far")
    page.get_by_role("link", name="compute and keep").click()
    expect(page.get_by_role("combobox", name="Sources of")).to_have_value("far")
    assert "keep=always" in page.url


def test_a_look_proves_what_was_unknown(visitor):
    page = visitor.open("/compare?a=never_looked_at&b=faint_placed")
    expect(page.get_by_text("never_looked_at may or may not overlap with faint_placed").first).to_be_visible()
    page.get_by_role("button", name="Look").click()
    expect(page.get_by_text("never_looked_at shares sources with faint_placed").first).to_be_visible()
    expect(page.get_by_role("button", name="Look")).to_have_count(0)
    expect(page.get_by_role("region", name="Known about each region")).to_contain_text("must hold something")


def test_a_lineage_is_unfolded_and_folded_by_mouse_and_keyboard(visitor):
    page = visitor.open("/catalogs/bright")
    page.get_by_role("link", name="Explore lineage").click()
    expect(page.get_by_role("link", name="near: ")).to_have_count(0)
    page.get_by_role("link", name="Unfold what wide is made from").click()
    expect(page.get_by_role("link", name="near: ")).to_be_visible()
    visitor.tab_to(page.get_by_role("link", name="Fold what wide is made from", exact=True))
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="near: ")).to_have_count(0)


def test_a_path_between_two_catalogs_is_found_and_the_panel_shows_its_end(visitor):
    page = visitor.open("/catalogs/bright/explore")
    page.get_by_label("Find, and show the path to").fill("near")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("status")).to_contain_text("path: bright – stars – near")
    expect(page.get_by_role("heading", name="near DeriveAttributes")).to_be_visible()


def test_what_is_clicked_in_a_long_lineage_stays_where_it_was_and_keeps_the_focus(visitor):
    """The picture begins at its catalog, and does not jump to its beginning with every click."""
    visitor.page.set_viewport_size({"width": 1280, "height": 500})
    page = visitor.open("/catalogs/stars/explore")
    frame = page.locator("[data-explorer]")
    room = frame.bounding_box()
    box = page.locator("a[aria-current=true]").bounding_box()
    assert room["y"] < box["y"] < room["y"] + room["height"], "the catalog is seen at once"
    handle = page.get_by_role("link", name="Unfold what is made from bright", exact=True)
    visitor.tab_to(handle)
    before = handle.bounding_box()
    page.keyboard.press("Enter")
    handle = page.get_by_role("link", name="Fold what is made from bright", exact=True)
    expect(handle).to_be_focused()
    assert handle.bounding_box()["y"] == pytest.approx(before["y"], abs=2)
