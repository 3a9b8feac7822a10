from provenn.display.figure import (
    Figure,
    draw_text,
    estimate_text_width,
    render_document,
    shorten_label,
    stack_horizontally,
    stack_vertically,
)
from tests.display.svg import parsed, tagged


def test_beside_adds_widths_and_above_adds_heights():
    first, other = Figure(10, 20), Figure(30, 5)
    assert (stack_horizontally([first, other], gap=2).width, stack_horizontally([first, other], gap=2).height) == (
        42,
        20,
    )
    assert (stack_vertically([first, other], gap=2).width, stack_vertically([first, other], gap=2).height) == (30, 27)


def test_nothing_beside_nothing_has_no_size():
    assert stack_horizontally([]) == stack_vertically([]) == Figure(0, 0)


def test_a_picture_is_titled_described_and_an_image_for_screen_readers():
    root = parsed(render_document(draw_text("x"), title="T", description="D"))
    assert root.get("role") == "img"
    names = [tagged(root, tag)[0] for tag in ("title", "desc")]
    assert [name.text for name in names] == ["T", "D"]
    assert root.get("aria-labelledby") == " ".join(str(name.get("id")) for name in names)


def test_a_file_brings_ink_and_paper_for_light_and_dark_screens():
    svg = render_document(draw_text("x"), title="T", description="D")
    (style,) = tagged(parsed(svg), "style")
    assert "prefers-color-scheme: dark" in str(style.text)
    assert len(tagged(parsed(svg), "rect", "paper")) == 1


def test_inside_a_page_the_colours_are_those_of_the_page():
    root = parsed(render_document(draw_text("x"), title="T", description="D", inline=True))
    assert not tagged(root, "style")
    assert not tagged(root, "rect", "paper")
    assert root.get("color") is None
    assert root.get("fill") == "currentColor"


def test_the_styles_of_a_picture_apply_to_it_alone():
    svg = render_document(draw_text("x"), title="T", description="D")
    name = parsed(svg).get("class")
    (style,) = tagged(parsed(svg), "style")
    rules = str(style.text).replace("@media (prefers-color-scheme: dark) {", "").split("}")
    assert all(rule.strip().startswith(f".{name} ") for rule in rules if rule.strip())


def test_different_pictures_have_different_ids_and_the_same_picture_the_same():
    first, again, second = (
        render_document(draw_text(text), title="T", description="D") for text in ("one", "one", "two")
    )
    assert first == again
    assert {e.get("id") for e in parsed(first).iter() if e.get("id")}.isdisjoint(
        {e.get("id") for e in parsed(second).iter()}
    )


def test_wide_characters_need_more_room_and_combining_ones_none():
    assert estimate_text_width("星", 10) > estimate_text_width("s", 10)
    assert estimate_text_width("e\u0301", 10) == estimate_text_width("e", 10)


def test_a_label_that_fits_is_not_shortened():
    assert shorten_label("x" * 12, 12) == "x" * 12
    assert len(shorten_label("x" * 13, 12)) == 12
