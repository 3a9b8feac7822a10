"""Targets that are run from the browser: watched, downloaded, cancelled, failed; with a real Spark."""

import re

import pyarrow.csv
from playwright.sync_api import expect

from tests.waiting import LIMIT

PATIENCE = 1000 * LIMIT
"""Milliseconds: the first job starts Spark."""


def ask(visitor, *attributes, **chosen):
    """Choose attributes of the faint stars, and run that."""
    page = visitor.open("/target?sources=faint")
    for name in attributes:
        page.get_by_label(name, exact=True).check()
    page.get_by_role("button", name="Plan").click()
    for label, value in chosen.items():
        page.get_by_label(label).select_option(value)
    page.get_by_role("button", name="Run").click()
    return page


def test_a_target_is_run_watched_and_downloaded(visitor):
    page = ask(visitor, "vmag", "twice", File="csv")
    expect(page.get_by_role("heading", level=1)).to_have_text("vmag, twice of faint")
    expect(page.get_by_role("progressbar", name="Progress of the job")).to_be_visible()
    expect(page.locator("#details")).to_have_text(re.compile("starting|stage|file"))
    page.evaluate("window.watched = true")
    expect(page.locator("p.job-done")).to_be_visible(timeout=PATIENCE)
    assert page.evaluate("window.watched === undefined"), "the page was shown anew, by its script"
    rows = page.get_by_role("region", name="First rows")
    expect(rows.locator("tbody tr")).to_have_count(3)
    visitor.look("job-done")
    with page.expect_download() as saved:
        page.get_by_role("link", name="Download faint.csv").click()
    assert saved.value.suggested_filename == "faint.csv"
    table = pyarrow.csv.read_csv(saved.value.path()).sort_by("hip").to_pydict()
    assert table == {"hip": [3, 4, 6], "vmag": [6.0, 11.0, 7.5], "twice": [12.0, 22.0, 15.0]}
    page.get_by_role("link", name="Jobs of this server").click()
    expect(page.get_by_role("row", name="vmag, twice of faint").first).to_contain_text("done")
    visitor.look("jobs-some")
    page.get_by_role("link", name="All runs of the archive").click()
    expect(page.locator("td.run-done").first).to_be_visible()
    visitor.look("runs-some")


def test_a_job_is_cancelled_by_keyboard(visitor):
    page = ask(visitor, "late")
    expect(page.locator("#status")).to_have_text(re.compile("^running"), timeout=PATIENCE)
    visitor.look("job-running")
    visitor.tab_to(page.get_by_role("button", name="Cancel"))
    page.keyboard.press("Enter")
    expect(page.locator("p.job-cancelled")).to_be_visible(timeout=PATIENCE)
    expect(page.get_by_role("link", name="Download")).to_have_count(0)


def test_a_job_that_fails_says_why(visitor):
    page = ask(visitor, "never")
    expect(page.locator("p.job-failed")).to_be_visible(timeout=PATIENCE)
    expect(page.locator(".failure")).to_contain_text("no luck with <b>1</b> column")
    visitor.look("job-failed")
    page.get_by_role("link", name="The plan").click()
    expect(page.get_by_role("heading", level=2)).to_have_text("never of faint")


def test_a_target_is_run_and_seen_to_end_without_scripts(visit):
    page = ask(visit(java_script_enabled=False), "vmag", "near")
    expect(page.locator("p.job-done")).to_be_visible(timeout=PATIENCE)
    with page.expect_download() as saved:
        page.get_by_role("link", name="Download faint.parquet").click()
    assert saved.value.path().read_bytes()[:4] == b"PAR1"
