"""Content hashes: canonical, pinned, and nothing that JSON cannot say."""

import math

import pytest

from provenn.digests import canonical_json, content_digest


def test_digests_are_pinned():
    """They name everything that is stored, so they may never change."""
    assert content_digest("catalog", {}) == "17a4a4c6aaac617ae7ae9f591f183d5718c54459b09c5379aaa2776e0d5a929a"
    assert (
        content_digest("attribute", ["é", 1, 1.5, None, True])
        == "51a9191b03765f2f3602464d2155b288b78e46beed4d1b99e4bd3136870f69f2"
    )


def test_the_order_of_keys_and_the_kind_of_sequence_do_not_matter():
    assert content_digest("x", {"a": 1, "b": [1, 2]}) == content_digest("x", {"b": (1, 2), "a": 1})
    assert canonical_json({"b": [1, 2], "a": "é"}) == '{"a":"é","b":[1,2]}'


def test_kind_and_content_matter():
    assert len({content_digest(kind, content) for kind in "xy" for content in (1, 1.0, "1", [1], None, True)}) == 12


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_json_cannot_say_is_refused(value: float):
    with pytest.raises(ValueError, match="not JSON compliant"):
        content_digest("x", {"a": [value]})
    with pytest.raises(TypeError):
        content_digest("x", {"a": {1, 2}})
