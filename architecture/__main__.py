"""``python -m architecture``: measure the rooms, draw the house, and write the tables of rooms."""

from __future__ import annotations

import json
import sys
from dataclasses import astuple

from architecture.picture import house_svg
from architecture.rooms import FLOORS, ROOT, SIZES, measure_sizes, read_rooms
from architecture.tables import PAGES, fill_page, make_table
from architecture.way import COMMAND, WAY

__all__ = ["main"]

PICTURE = ROOT / "docs" / "pictures" / "house.svg"


def main() -> int:
    """Write the sizes, the picture and the tables; name the files that changed."""
    sizes = measure_sizes()
    rooms = read_rooms(sizes)
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(astuple(size))}" for name, size in sizes.items())
    texts = {SIZES: f"{{\n{lines}\n}}\n", PICTURE: house_svg(rooms, FLOORS, WAY, COMMAND)}
    table = make_table(rooms, FLOORS)
    texts |= {page: fill_page(page.read_text(encoding="utf-8"), table) for page in PAGES}
    for path, text in texts.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            sys.stdout.write(f"{path.relative_to(ROOT)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
