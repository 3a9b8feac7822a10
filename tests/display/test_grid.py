from provenn.display.figure import Figure
from provenn.display.grid import Cell, grid_figure, grid_text


def test_cells_over_several_columns_are_centred_between_the_lines_they_span():
    text = grid_text([[Cell("x", 2), Cell("y")], [Cell("aaa"), Cell("b"), Cell("c")]])
    assert text.split("\n") == ["┌─────┬─┐", "│  x  │y│", "├───┬─┼─┤", "│aaa│b│c│", "└───┴─┴─┘"]


def test_a_wide_cell_widens_the_columns_it_spans():
    lines = grid_text([[Cell("wide heading", 2)], [Cell("a"), Cell("b")]]).split("\n")
    assert {len(line) for line in lines} == {14}


def test_a_block_of_lines_keeps_its_shape_and_short_cells_are_filled_up():
    text = grid_text([[Cell(" o\no o\n o"), Cell("x")], [Cell("12345"), Cell("y")]])
    assert text.split("\n")[1:4] == ["│  o  │x│", "│ o o │ │", "│  o  │ │"]


def test_a_figure_is_as_wide_and_high_as_its_cells_and_padding():
    grid = grid_figure([[Cell(Figure(50, 10), 2)], [Cell(Figure(10, 20)), Cell(Figure(20, 20))]], padding=1)
    assert (grid.width, grid.height) == (52, 34)
