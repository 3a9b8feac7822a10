"""The page runs: what ran, for whom, how long, and what was saved."""

import pytest

from provenn.data import run_records
from tests.web.reading import read


def get(client, **query):
    page, json = client.get("/runs", params=query), client.get("/api/runs", params=query)
    assert page.status_code == json.status_code
    read(page.text)
    assert "Traceback" not in page.text
    return page, json.json()


def test_runs_are_those_of_the_archive(client, archive):
    page, found = get(client)
    (one,) = archive.runs()
    (shown,) = found["runs"]
    assert (shown["target"], shown["by"], shown["outcome"], shown["rows"]) == ("vmag of bright", "ada", "done", 2)
    assert shown["computed"] == list(one.computed)
    assert found["seconds"] == 2.5
    assert "vmag of bright" in page.text


def test_what_was_saved_is_summed_up(client, archive):
    bright = archive["bright"].definition
    vmag = bright.schema["vmag"]
    for saved in (1.5, 120.0):
        with archive.context.database.writing() as writing:
            number = run_records.begin_run(writing, "<b>vmag</b>", catalog=bright.digest)
            reused = {vmag.identity: "vmag"}
            run_records.end_run(writing, number, "done", seconds=0.5, rows=2, reused=reused, fragments=[1], saved=saved)
    page, found = get(client, catalog="bright")
    assert [one["saved"] for one in found["runs"]][:2] == [120.0, 1.5]
    assert found["saved"] == 121.5
    assert found["runs"][0]["reused"] == ["vmag"]
    assert "saved <strong>~2 min</strong>" in page.text
    assert "<b>vmag</b>" not in page.text
    assert len(get(client, most=1)[1]["runs"]) == 1


def test_where_nothing_ran_the_page_says_so(client):
    page, found = get(client, catalog="faint")
    assert found["runs"] == []
    assert "No runs yet" in page.text


@pytest.mark.parametrize(
    ("query", "status"), [({"catalog": "nobody"}, 404), ({"most": 0}, 422), ({"most": 10**9}, 422)]
)
def test_bad_input_is_told(client, query, status):
    page, found = get(client, **query)
    assert page.status_code == status
    assert found["error"]["message"]
