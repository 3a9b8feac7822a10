"""The ways of a user through the pages: by mouse, by keyboard, astray, and without any script."""

import re
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from tests.repetitions import repeat_a_few
from tests.web.survey import ODD

AT_HOME = ("\"quoted\" & 'single'", "telescope \N{TELESCOPE}", "Robert'); DROP TABLE catalogs;--", "{{ 7 * 7 }}")
"""Odd names with which a server alone could go wrong: what it answers of them is tested in `tests/web`."""


def view_box(page):
    return [float(word) for word in page.locator("#graph svg").get_attribute("viewBox").split()]


def test_a_catalog_is_found_by_name_and_attribute_and_opened(visitor):
    page = visitor.open("/")
    page.get_by_label("Name or definition").fill("near")
    page.get_by_label("Attribute").fill("near")
    page.get_by_role("button", name="Search").click()
    expect(page.get_by_role("status")).to_have_text("1 catalog")
    page.get_by_role("link", name="near", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("near DeriveAttributes")
    expect(page.get_by_text("1000 / plx", exact=True)).to_be_visible()


def test_a_search_that_finds_nothing_leads_back_to_all(visitor):
    page = visitor.open("/catalogs")
    page.get_by_label("Name or definition").fill("'; DROP TABLE catalogs;-- <script>alert(1)</script>")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_have_text("0 catalogs")
    page.get_by_role("link", name="Show all catalogs").click()
    expect(page.get_by_role("status")).to_have_text(re.compile(r"^[1-9]\d+ catalogs\b"))


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.campaign if name in AT_HOME else []) for name in ODD]
)
def test_a_catalog_of_an_odd_name_is_opened_compared_and_asked_for(visitor, name):
    page = visitor.open("/catalogs?sort=name")
    page.get_by_role("link", name=name, exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(name)
    page.get_by_role("link", name="Compare with stars").click()
    expect(page.get_by_role("heading", name=f"{name} lies inside stars")).to_be_visible()
    page.locator("p").get_by_role("link", name=name, exact=True).click()
    page.get_by_role("link", name="Request attributes").click()
    page.get_by_label("vmag", exact=True).check()
    page.get_by_role("button", name="Plan").click()
    expect(page.get_by_role("heading", level=2)).to_have_text(f"vmag of {name}")


def test_one_walks_through_a_lineage_by_clicks(visitor):
    page = visitor.open("/catalogs/both")
    page.locator("#graph").get_by_role("link", name=re.compile("^bright")).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("bright")
    page.get_by_role("link", name="Full lineage").click()
    page.get_by_label("Direction").select_option("up")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("status")).to_contain_text("2 catalogs")
    page.locator("#graph").get_by_role("link", name=re.compile("^stars")).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("stars Base")


def test_one_walks_through_a_lineage_by_keyboard(visitor):
    page = visitor.open("/catalogs/bright")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    visitor.tab_to(page.locator("#graph"))
    page.keyboard.press("0")
    whole = view_box(page)
    page.keyboard.press("+")
    page.keyboard.press("+")
    closer = view_box(page)
    assert closer[2] == pytest.approx(whole[2] / 1.25**2)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    moved = view_box(page)
    assert moved[0] > closer[0]
    assert moved[1] > closer[1]
    page.keyboard.press("-")
    assert view_box(page)[2] == pytest.approx(closer[2] * 1.25)
    page.keyboard.press("0")
    assert view_box(page) == pytest.approx(whole)
    visitor.tab_to(page.locator("#graph").get_by_role("link", name=re.compile("^stars")))
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("stars Base")


def test_a_link_that_gets_the_focus_comes_into_view(visitor):
    page = visitor.open("/catalogs/stars/lineage")
    visitor.tab_to(page.locator("#graph"))
    for _ in range(8):
        page.keyboard.press("+")
    for _ in range(page.locator("#graph a").count()):
        page.keyboard.press("Tab")
        seen = page.evaluate("""() => {
            const one = document.activeElement.getBoundingClientRect();
            const room = document.querySelector("#graph svg").getBoundingClientRect();
            const x = (one.left + one.right) / 2, y = (one.top + one.bottom) / 2;
            return x >= room.left && x <= room.right && y >= room.top && y <= room.bottom;
        }""")
        assert seen, page.evaluate("document.activeElement.outerHTML.slice(0, 200)")


def test_a_picture_is_zoomed_and_dragged_and_a_drag_is_no_click(visitor):
    page = visitor.open("/catalogs/stars/lineage")
    graph = page.locator("#graph")
    page.get_by_role("button", name="Fit").click()
    whole = view_box(page)
    for _ in range(4):
        page.get_by_role("button", name="Zoom in").click()
    closer = view_box(page)
    assert closer[2] == pytest.approx(whole[2] / 1.25**4)
    page.get_by_role("button", name="Zoom out").click()
    assert view_box(page)[2] == pytest.approx(closer[2] * 1.25)
    page.get_by_role("button", name="Full size").click()
    page.get_by_role("button", name="Zoom in").click()
    graph.scroll_into_view_if_needed()
    box = graph.get_by_role("link", name=re.compile("^stars")).bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    before = view_box(page)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 40, y - 30, steps=4)
    page.mouse.up()
    after = view_box(page)
    assert (after[0] > before[0], after[1] > before[1]) == (True, True)
    assert page.url.endswith("/lineage"), "it was dragged by a link, which is not to be followed"
    graph.focus()
    page.mouse.wheel(0, -100)
    page.wait_for_function(f"document.querySelector('#graph svg').viewBox.baseVal.width < {after[2] - 1}")
    page.get_by_role("button", name="Full size").click()
    assert view_box(page)[2] == pytest.approx(page.locator("#graph svg").evaluate("one => one.clientWidth"))


def test_a_picture_is_saved(visitor):
    page = visitor.open("/catalogs/bright/lineage")
    with page.expect_download() as saved:
        page.get_by_role("link", name="Save the picture").click()
    assert saved.value.suggested_filename == "bright.svg"
    assert saved.value.path().read_text().startswith("<svg")


def test_two_catalogs_then_three_are_compared_and_proofs_lead_to_catalogs(visitor):
    page = visitor.open("/catalogs/bright")
    page.get_by_role("link", name="Compare with …").click()
    page.get_by_label("Second catalog").fill("faint")
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("heading", name="bright shares no source with faint")).to_be_visible()
    regions = page.get_by_role("region", name="Known about each region")
    expect(regions.get_by_role("row", name="bright and faint")).to_contain_text("must be empty")
    expect(page.get_by_role("region", name="Venn diagram").get_by_role("img")).to_be_visible()
    page.get_by_label("Third, if any").fill("stars")
    page.keyboard.press("Enter")
    expect(regions.locator("tbody tr")).to_have_count(8)
    expect(page.get_by_role("heading", name="faint lies inside stars")).to_be_visible()
    page.locator("ol.chain").get_by_role("link", name="bright").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("bright SelectSources")


@pytest.mark.parametrize(
    ("statement", "verdict"),
    [
        ("empty(bright)", "refuted"),
        ("faint <= tenth", "unknown"),
        pytest.param("bright <= stars", "proved", marks=pytest.mark.campaign),  # shown as a refutation is
    ],
)
def test_a_statement_is_proved_refuted_or_unknown(visitor, statement, verdict):
    page = visitor.open("/compare")
    visitor.tab_to(page.get_by_label("A statement about catalogs"))
    page.keyboard.type(statement)
    page.keyboard.press("Enter")
    answer = page.locator("#answer")
    expect(answer).to_contain_text(verdict)
    expect(answer).to_contain_text(statement)
    if verdict == "unknown":
        expect(page.get_by_role("region", name="A possible world in which it is false")).to_be_visible()
    else:
        expect(page.locator("ol.chain li").first).to_be_visible()


@pytest.mark.parametrize("statement", repeat_a_few(["bright <= ", "brihgt <= stars", "bright <= galaxies"], 1))
def test_a_statement_that_cannot_be_read_is_told_beside_it_and_mended(visitor, statement):
    page = visitor.open("/compare")
    field = page.get_by_label("A statement about catalogs")
    field.fill(statement)
    with visitor.refused():
        page.get_by_role("button", name="Prove").click()
        expect(page.get_by_role("alert")).to_be_visible()
    expect(field).to_have_value(statement)
    expect(field).to_have_attribute("aria-describedby", re.compile("problem-ask"))
    field.fill("bright <= stars")
    page.get_by_role("button", name="Prove").click()
    expect(page.locator("#answer")).to_contain_text("proved")


def test_attributes_are_chosen_and_the_plan_and_its_proofs_unfolded_by_keyboard(visitor):
    page = visitor.open("/target")
    visitor.tab_to(page.get_by_label("Sources of"))
    page.keyboard.type("bright")
    page.keyboard.press("Enter")
    for name in ("vmag", "dist_pc"):
        visitor.tab_to(page.get_by_label(name, exact=True))
        page.keyboard.press("Space")
    visitor.tab_to(page.get_by_role("button", name="Plan"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=2)).to_have_text("vmag, dist_pc of bright")
    plan = page.get_by_role("region", name="The plan, before and after")
    expect(plan).to_contain_text("As defined")
    expect(plan).to_contain_text("As computed")
    reason = page.locator("details.reason").first
    expect(reason.locator("li").first).to_be_hidden()
    visitor.tab_to(reason.locator("summary"))
    page.keyboard.press("Enter")
    expect(reason.locator("li").first).to_be_visible()


def test_an_attribute_that_nobody_has_is_told_and_nothing_can_be_run(visitor):
    with visitor.refused():
        page = visitor.open(f"/target?sources=stars&attributes=vmag&where={quote('vmag <')}", 400)
    expect(page.get_by_role("alert")).to_contain_text("vmag <")
    expect(page.get_by_role("button", name="Run")).to_have_count(0)


def test_a_selection_is_checked_while_it_is_typed_previewed_and_defined(visitor):
    page = visitor.open("/define")
    section = page.get_by_role("region", name="Select sources")
    section.get_by_label("Sources of").fill("stars")
    section.get_by_label("Where").press_sequentially("vmag < 3")
    expect(section.get_by_role("status")).to_contain_text("lies inside")
    section.get_by_label("Where").fill("vmagg < 3")
    expect(section.get_by_role("status")).to_contain_text("did you mean vmag?")
    section.get_by_label("Where").fill("vmag < 3")
    section.get_by_role("button", name="Preview").click()
    expect(section.get_by_role("link", name="bright", exact=True)).to_be_visible()
    section.locator("form.bar").get_by_label("Name").fill("brilliant by browser")
    section.get_by_role("button", name="Define").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("brilliant by browser")
    page.goto(f"{visitor.address}/define")
    page.get_by_label("Catalog", exact=True).press_sequentially("brilliant by")
    expect(page.locator("#catalogs option[value='brilliant by browser']")).to_have_count(1)


def test_a_fact_is_declared_and_retracted(visitor):
    page = visitor.open("/knowledge")
    page.get_by_text("Declare a fact").click()
    page.get_by_label("Fact to declare").press_sequentially("tenth <= ten")
    expect(page.locator("[data-live]")).to_contain_text("no catalog is named 'ten'")
    page.get_by_label("Fact to declare").fill("nonempty(stars)")
    page.locator("form[action='/knowledge/declare']").get_by_label("Reason").fill("seen")
    page.get_by_role("button", name="Declare").click()
    row = page.get_by_role("row").filter(has_text="nonempty(stars)").filter(has_text="declared")  # one may be observed
    row.get_by_text("Retract", exact=True).click()
    row.get_by_role("button").click()
    expect(row).to_contain_text("retracted")


def test_forms_fold_on_a_phone_and_tables_scroll_inside(visitor):
    page = visitor.open("/knowledge")
    expect(page.get_by_label("About a catalog")).to_be_visible()
    page.set_viewport_size({"width": 390, "height": 740})
    expect(page.get_by_label("About a catalog")).to_be_hidden()
    page.get_by_text("Filter", exact=True).click()
    expect(page.get_by_label("About a catalog")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.set_viewport_size({"width": 1280, "height": 800})


def test_facts_are_filtered_and_lead_to_catalogs(visitor):
    page = visitor.open("/knowledge")
    page.get_by_label("State").select_option("suspended")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("region", name="Facts").locator("tbody tr")).to_have_count(1)
    expect(page.get_by_text("None.", exact=True)).to_be_visible()
    page.get_by_label("State").select_option("any")
    page.get_by_label("About a catalog").fill("tenth")
    page.keyboard.press("Enter")
    page.get_by_role("region", name="Facts").get_by_role("link", name="tenth").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("tenth SampleSources")


def test_runs_of_a_catalog_are_shown(visitor):
    page = visitor.open("/runs")
    page.get_by_label("Of a catalog").fill("bright")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="vmag of bright").last.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("bright")


def test_a_report_is_downloaded_and_stands_alone(visitor, tmp_path):
    page = visitor.open("/catalogs/bright")
    with page.expect_download() as saved:
        page.get_by_role("link", name="Report").click()
    assert saved.value.suggested_filename == "bright.html"
    saved.value.save_as(tmp_path / "bright.html")
    visitor.address = tmp_path.as_uri()  # whatever it asks for elsewhere is an offence
    page = visitor.context.new_page()
    page.goto(f"{visitor.address}/bright.html")
    expect(page.get_by_role("heading", level=1)).to_contain_text("bright")
    expect(page.locator("svg").first).to_be_visible()
    visitor.page = page
    visitor.look("report")


@pytest.mark.parametrize(
    "path", repeat_a_few(["/catalogs/%3Cscript%3Ealert(1)%3C/script%3E", "/jobs/ffff", "/catalogs/nobody"], 2)
)
def test_whoever_goes_astray_is_told_and_finds_back(visitor, path):
    page = visitor.open(path, 404)
    expect(page.get_by_role("heading", level=1)).to_have_text("Not Found")
    page.get_by_role("link", name="Catalogs", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Catalogs")


def test_programs_are_told_what_they_can_ask_for(visitor):
    page = visitor.open("/catalogs")
    page.get_by_role("link", name="For programs").click()
    expect(page.get_by_role("rowheader", name="GET /api/catalogs/{which}", exact=True)).to_be_visible()
    page.get_by_role("link", name="OpenAPI").click()
    assert '"openapi"' in page.content()
    page.goto(visitor.address + "/catalogs/bright")
    page.get_by_role("link", name="This page as JSON").click()
    assert '"SelectSources"' in page.content()


class TestWithoutScripts:
    """All that pages are for works without any script."""

    @pytest.fixture
    def visitor(self, visit):
        return visit(java_script_enabled=False)

    def test_search_open_and_walk(self, visitor):
        page = visitor.open("/")
        page.get_by_label("Name or definition").fill("both")
        page.get_by_role("button", name="Search").click()
        page.get_by_role("link", name="both", exact=True).click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("both")
        expect(page.get_by_role("button", name="Zoom in")).to_be_hidden()
        expect(page.get_by_text("Drag to move")).to_be_hidden()
        page.locator("#graph").get_by_role("link", name=re.compile("^tenth")).click()
        expect(page.get_by_role("heading", level=1)).to_have_text("tenth SampleSources")

    def test_compare_and_ask(self, visitor):
        page = visitor.open("/compare")
        page.get_by_label("First catalog").fill("bright")
        page.get_by_label("Second catalog").fill("stars")
        page.get_by_role("button", name="Compare").click()
        expect(page.get_by_role("heading", name="bright lies inside stars")).to_be_visible()
        page.get_by_label("A statement about catalogs").fill("nonempty(bright)")
        page.get_by_role("button", name="Prove").click()
        expect(page.locator("#answer")).to_contain_text("proved")
        expect(page.get_by_role("heading", name="bright lies inside stars")).to_be_visible()

    def test_plan(self, visitor):
        page = visitor.open("/target")
        page.get_by_label("Sources of").fill("bright")
        page.get_by_role("button", name="Choose attributes").click()
        page.get_by_label("vmag", exact=True).check()
        page.get_by_role("button", name="Plan").click()
        expect(page.get_by_role("region", name="The plan, before and after")).to_contain_text("reuse")
        page.locator("summary", has_text="As text").click()
        expect(page.locator("details pre")).to_be_visible()
