"""The page bounds: how many sources a set has, and why."""

import pytest

from tests.web.reading import read
from tests.web.survey import ODD


def get(client, **query):
    page, json = client.get("/bounds", params=query), client.get("/api/bounds", params=query)
    assert page.status_code == json.status_code
    read(page.text)
    assert "Traceback" not in page.text
    return page, json.json()


def test_bounds_are_shown_with_what_proves_them(client):
    page, found = get(client, expression="bright & faint")
    assert (found["bounds"]["low"], found["bounds"]["high"]) == (0, 0)
    assert found["bounds"]["words"] in page.text.replace("&amp;", "&")
    assert found["bounds"]["lines"]
    assert get(client)[1]["bounds"] is None


@pytest.mark.parametrize("name", ODD)
def test_a_catalog_of_any_name_can_be_asked_for(client, name):
    assert get(client, catalog=name)[1]["bounds"]["high"] is not None


def test_what_is_wrong_is_told_beside_the_field(client):
    page, found = get(client, expression="brigth & faint")
    assert page.status_code == 404
    assert "bright" in found["error"]["hint"]
    assert get(client, expression="bright &")[0].status_code == 400
