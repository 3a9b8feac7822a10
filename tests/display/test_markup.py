from hypothesis import given
from hypothesis import strategies as st

from provenn.display.markup import ElementReference, make_element, make_printable, render
from tests.display.svg import parsed


@given(st.text(st.characters()), st.text(st.characters()))
def test_any_text_and_attribute_give_well_formed_xml_that_reads_back(text, value):
    root = parsed(render(make_element("p", text, title=value)))
    assert (root.text or "") == make_printable(text)
    assert root.get("title") == make_printable(value)


@given(st.text(st.characters()))
def test_shown_text_has_no_control_characters_and_stays_as_long(text):
    shown = make_printable(text)
    assert len(shown) == len(text)
    assert not any(ord(character) < 32 or 127 <= ord(character) < 160 for character in shown)


def test_text_that_could_move_the_cursor_or_turn_the_text_is_made_harmless():
    assert make_printable("\x1b[31mred\u202e\n") == "␛[31mred\ufffd␊"


def test_emoji_accents_and_quotes_are_kept():
    assert make_printable("👩‍🚀 é <&>\"'") == "👩‍🚀 é <&>\"'"


def test_ids_and_references_get_the_same_prefix():
    svg = render(make_element("g", make_element("path", fill=ElementReference("-hatch")), id="-hatch"), "p1")
    assert 'id="p1-hatch"' in svg
    assert 'fill="url(#p1-hatch)"' in svg
