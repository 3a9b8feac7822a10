"""The picture of the house and the tables of rooms say what the source says."""

import doctest
import re
from collections.abc import Callable
from itertools import combinations, pairwise
from xml.etree import ElementTree as ET

import pytest

from architecture import layout, picture
from architecture.layout import HouseLayout, arrange_house
from architecture.picture import arrange_rooms, draw_room_text, house_svg
from architecture.rooms import FLOORS, PACKAGE, ROOT, Floor, measure_sizes, read_layers, read_rooms, read_sizes
from architecture.tables import PAGES, fill_page, make_table
from architecture.way import COMMAND, WAY, Stop
from provenn.display.figure import draw_text

Golden = Callable[[str, str], None]


def test_the_floors_are_the_layers_in_their_order():
    assert tuple(name for floor in FLOORS for name in floor.rooms) == read_layers()


def test_every_folder_and_every_module_is_a_room():
    names = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert names - {"__init__", "__main__", "_version"} == set(read_layers())


def test_every_room_says_in_a_sentence_what_it_holds():
    for room in read_rooms(measure_sizes()):
        assert re.fullmatch(r"[A-Z].*\.", room.sentence), room.name
        assert len(room.sentence) <= 120, room.name


def test_the_picture_is_of_this_house(golden: Golden):
    golden("docs/pictures/house.svg", house_svg(read_rooms(read_sizes()), FLOORS, WAY, COMMAND))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_tables_are_of_this_house(golden: Golden, page):
    table = make_table(read_rooms(measure_sizes()), FLOORS)
    golden(str(page.relative_to(ROOT)), fill_page(page.read_text(encoding="utf-8"), table))


def test_the_sizes_in_the_picture_are_about_right():
    """Each within a third, or a few modules, so that the picture does not change with every line."""
    drawn, measured = read_sizes(), measure_sizes()
    assert drawn.keys() == measured.keys()
    for name, size in measured.items():
        remedy = f"{name} has grown or shrunk: python -m architecture"
        assert abs(size.modules - drawn[name].modules) <= max(drawn[name].modules / 3, 4), remedy
        assert abs(size.lines - drawn[name].lines) <= max(drawn[name].lines / 3, 100), remedy


def test_the_words_of_a_room_fit_into_it():
    rooms = {room.name: room for room in read_rooms(read_sizes())}
    for box in arrange_rooms(rooms, FLOORS, WAY).boxes:
        words = draw_room_text(rooms[box.name], box.width)
        assert words.width <= box.width - 12, box.name
        assert words.height <= box.height - 12, box.name
        for mark in box.marks:
            word = draw_text(mark.stop.word, size=11, bold=True)
            assert box.x < mark.x - 9, box.name
            assert mark.x + 14 + word.width < box.x + box.width, box.name


@pytest.mark.parametrize("module", [layout, picture], ids=lambda module: module.__name__)
def test_the_examples_in_docstrings_are_right(module):
    failed, tried = doctest.testmod(module)
    assert tried
    assert not failed


def test_a_page_without_a_place_for_the_table_is_refused():
    with pytest.raises(ValueError, match="expected"):
        fill_page("# A page\n", "| room | |")


def test_the_picture_is_well_formed_and_describes_itself():
    svg = house_svg(read_rooms(read_sizes()), FLOORS, WAY, COMMAND)
    root = ET.fromstring(svg)  # noqa: S314 - drawn above
    text = "".join(root.itertext())
    for room in read_rooms(read_sizes()):
        assert room.sentence in text
    for stop in WAY:
        assert stop.function in text


def arrange(*rooms: str) -> HouseLayout:
    floors = [Floor("upper", ("a", "b", "c")), Floor("middle", ("d", "e")), Floor("lower", ("f",))]
    return arrange_house(
        floors,
        [Stop(f"{room}.function", "word", "A sentence.") for room in rooms],
        width=400.0,
        top=50.0,
        measure_stop=lambda _: 50.0,
        measure_room=lambda *_: 80.0,
        padding=10.0,
        ceiling=20.0,
        strip=30.0,
    )


WAYS = ["ab", "abab", "aff", "fa", "cdfabedc", "faebdcfaebdc"]


@pytest.mark.parametrize("method", WAYS)
def test_a_line_crosses_no_room_but_from_its_lower_border_to_a_number(method):
    house = arrange(*method)
    for route in house.routes:
        inner = route[1:-1]
        for (x, y), (end_x, end_y) in pairwise(inner):
            assert x == end_x or y == end_y
            for box in house.boxes:
                beside = max(x, end_x) <= box.x or min(x, end_x) >= box.x + box.width
                above = max(y, end_y) <= box.y or min(y, end_y) >= box.y + box.height
                assert beside or above, box.name


@pytest.mark.parametrize("method", WAYS)
def test_rooms_are_apart_and_lines_share_no_stretch(method):
    house = arrange(*method)
    for box, other in combinations(house.boxes, 2):
        beside = box.x + box.width < other.x or other.x + other.width < box.x
        assert beside or box.y + box.height < other.y or other.y + other.height < box.y
    stretches = [
        (y, min(x, end_x), max(x, end_x))
        for route in house.routes
        for (x, y), (end_x, end_y) in pairwise(route)
        if y == end_y
    ]
    for (y, low, high), (other_y, other_low, other_high) in combinations(stretches, 2):
        assert y != other_y or high < other_low or other_high < low
