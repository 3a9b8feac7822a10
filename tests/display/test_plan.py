"""Plans as text, SVG and HTML, given plain values."""

from provenn.display.plan import PlanArgument, PlanNode, PlanPicture, plan_html, plan_svg, plan_text
from provenn.display.row_counts import Rows
from tests.display.svg import parsed, tagged

READ = PlanNode("compute", "read A", Rows.exactly(10), "read from the files")
TREE = PlanNode("skip", "join", Rows(), "nobody needs it", (READ, PlanNode("skip", "calculate z", inputs=(READ,))))
REUSED = PlanNode("partial reuse (3 of 4)", "concatenate", Rows.exactly(4), "", (PlanNode("reuse", "#1"), READ), 0.75)
PLAN = PlanPicture("z of B", TREE, REUSED, (("Proved", ("B <= A: it is so",)),))


def test_trees_stand_beside_each_other_where_there_is_room_and_else_below_each_other():
    wide, narrow = plan_text(PLAN, 120).split("\n"), plan_text(PLAN, 60).split("\n")
    assert wide[2].split("  ")[0] == narrow[2] == "As defined"
    assert wide[2].endswith("As computed")
    assert "As computed" in narrow[3:]
    assert max(map(len, narrow)) <= 60


def test_the_tree_of_a_plan():
    assert plan_text(PLAN, 60).split("\n")[2:11] == [
        "As defined",
        "skip: join",
        "│     nobody needs it",
        "├─ compute: read A",
        "│           10 sources; read from the files",
        "└─ skip: calculate z",
        "   └─ compute: read A",
        "               10 sources; read from the files",
        "",
    ]


def test_what_becomes_of_a_step_is_a_shape_and_a_word_not_a_colour_alone():
    root = parsed(plan_svg(PLAN))
    borders = [node for node in tagged(root, "rect") if node.get("fill") == "none"]
    assert sum(border.get("stroke-dasharray") is not None for border in borders) == 2, "skipped"
    texts = [node.text for node in tagged(root, "text")]
    assert texts.count("skip") == 2
    assert "partial reuse (3 of 4)" in texts
    filled = [node for node in tagged(root, "rect") if node.get("fill-opacity") == "0.16"]
    assert len(filled) == 2, "reused, and partly reused"


def test_equal_steps_are_drawn_once_below_nothing_and_above_what_is_made_from_them():
    texts = [node.text for node in tagged(parsed(plan_svg(PLAN)), "text")]
    assert texts.count("read A") == 2, "once before and once after"


def test_a_step_that_occurs_again_is_the_same_box_with_all_it_reads():
    first = PlanNode("compute", "read id, g of A", step=7)
    more = PlanNode("compute", "read id, g, r of A", step=7)
    once = PlanNode("compute", "select", inputs=(first,), step=8)
    twice = PlanNode(
        "compute", "join", inputs=(once, PlanNode("compute", "calculate", inputs=(more,), step=9)), step=10
    )
    again = PlanNode("compute", "union", inputs=(twice, PlanNode("compute", "join", step=10, again=True)), step=11)
    texts = [node.text for node in tagged(parsed(plan_svg(PlanPicture("x", again, READ))), "text")]
    assert [text for text in texts if text.startswith("read id")] == ["read id, g, r of A"]
    assert texts.count("join") == 1
    assert "└─ compute: join: see above" in plan_text(PlanPicture("x", again, READ), 60)


def test_wide_plans_stand_below_each_other():
    wide = PlanNode("compute", "union", inputs=tuple(PlanNode("compute", f"read a long name {i}") for i in range(8)))
    narrow, broad = (parsed(plan_svg(PlanPicture("x", root, root))) for root in (READ, wide))
    assert float(broad.get("width")) < 2000
    assert float(broad.get("height")) > 2 * float(narrow.get("height"))


def test_a_picture_is_described_and_brings_its_own_paper_for_dark_screens():
    svg = plan_svg(PLAN)
    assert "skip: join. compute: read A (10 sources)." in svg
    assert "prefers-color-scheme: dark" in svg
    assert "prefers-color-scheme" not in plan_svg(PLAN, inline=True)


def test_names_cannot_steer_a_terminal_or_break_the_markup():
    odd = PlanPicture("<b>\x1b[2J", PlanNode("compute", "<i>\x1b[2J"), READ, (("Proved", ("<u>\x1b",)),))
    assert "\x1b" not in plan_text(odd)
    assert parsed(plan_svg(odd)).get("role") == "img"
    html = plan_html(odd, [PlanArgument("because <b>", ("A <= B",), ("A == B",)), PlanArgument("no proof", (), ())])
    assert "<b>" not in html
    assert html.count("<details>") == 1
