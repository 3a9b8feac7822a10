import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from provenn.display import array_svg, array_text
from provenn.errors import HypercubeError, PictureError
from tests.display.svg import parsed, tagged


@given(st.integers(0, 5).flatmap(lambda n: arrays(np.bool_, (2,) * n)))
@settings(max_examples=40, deadline=None)
def test_one_box_for_each_cell_in_the_order_of_the_array(cube):
    root = parsed(array_svg("ABCDE"[: cube.ndim], cube))
    states = [box.get("class") for box in tagged(root, "rect") if box.get("class") != "paper"]
    assert states == ["full" if cell else "open" for cell in cube.flat]


@given(st.integers(1, 4).flatmap(lambda n: arrays(np.bool_, (2,) * n)))
def test_text_is_read_back_by_numpy(cube):
    assert (eval(array_text(cube), {"array": np.array, "True": True, "False": False}) == cube).all()  # noqa: S307


def test_a_large_array_is_written_whole():
    assert array_text(np.ones((2,) * 11, dtype=bool)).count("True") == 2048


def test_every_set_is_named_as_often_as_it_divides_a_side():
    root = parsed(array_svg("ABC", np.ones((2, 2, 2), dtype=bool)))
    names = [text.text for text in tagged(root, "text") if text.text != "True"]
    assert {name: names.count(name) for name in names} == {
        "∉ A": 1, "∈ A": 1, "∉ B": 1, "∈ B": 1, "∉ C": 2, "∈ C": 2,
    }  # fmt: skip


def test_bad_arrays_are_refused():
    with pytest.raises(HypercubeError):
        array_svg("A", np.ones((2, 2), dtype=bool))
    with pytest.raises(PictureError):
        array_svg("ABCDEFG", np.ones((2,) * 7, dtype=bool))
