"""The tutorial on real stars is a notebook: it runs, and shows what it showed when it was written."""

import re
from pathlib import Path

from tests.conftest import ROOT
from tests.waiting import LIMIT

PLACE = "docs/tutorial/real-stars.ipynb"
CHANGING = {  # what is another on every machine or day, and what it is in the tutorial
    r"(?<![0-9a-f])[0-9a-f]{12}(?![0-9a-f])": "0123456789ab",
    r"table\d{9,}": "table1",
    r"\d{4}-\d\d-\d\d by you": "2026-11-16 by you",
}


def test_the_tutorial_shows_what_it_says(tmp_path: Path, monkeypatch, golden):
    import nbformat  # noqa: PLC0415 - slow to import, in every process of the tests
    from nbclient import NotebookClient  # noqa: PLC0415

    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("PROVENN_USER", "you")
    notebook = nbformat.read(ROOT / PLACE, as_version=4)
    place = {"metadata": {"path": str(tmp_path)}}
    options = {"kernel_name": "python3", "record_timing": False, "coalesce_streams": True}
    NotebookClient(notebook, timeout=int(LIMIT), resources=place, **options).execute()
    notebook.metadata.pop("language_info", None)
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            if "text/html" in output.get("data", {}):
                del output.data["text/plain"]
    text = nbformat.writes(notebook) + "\n"
    for changing, shown in CHANGING.items():
        text = re.sub(changing, shown, text)
    golden(PLACE, text)
