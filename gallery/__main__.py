"""Make pictures of the documentation: ``python -m gallery`` records a session, ``… pages`` photographs the explorer."""

import sys
from pathlib import Path

from gallery.session import draw_session, record_session

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"

if __name__ == "__main__":
    if sys.argv[1:] == ["pages"]:
        from gallery.pages import photograph_pages

        photograph_pages(PICTURES)
    else:
        (PICTURES / "session.svg").write_text(draw_session(record_session()), encoding="utf-8")
