"""A notebook in a real kernel, with a function that is typed in it. One test: it starts a kernel, and Spark in it."""

from pathlib import Path
from typing import Any

import provenn
from provenn.catalogs import PythonCalculator
from tests.archive.samples import write_parquet
from tests.waiting import LIMIT

CELLS = {
    "archive": """
import sys, provenn
archive = provenn.open("survey")
stars = archive.ingest("stars", "stars.parquet", key="hip", population="star")
bright = stars.select("vmag < 6", name="bright")
near = stars.derive(dist_pc="1000 / plx", name="near")
both = bright.combine(near, name="both")
archive""",
    "catalog": "both",
    "relation": "archive.relate(bright, both)",
    "plan": "both.plan()",
    "before": '"pyspark" in sys.modules',
    "run": 'archive.target("bright", ["dist_pc"], where="plx > 10").to_pandas()',
    "after": '"pyspark" in sys.modules',
    "define": """
import numpy as np
FACTOR = 3.0
def thrice(batch):
    return batch.assign(thrice=np.multiply(batch["plx"], FACTOR))[["thrice"]]""",
    "register": """
archive.calculator("thrice", thrice, inputs=["plx"], outputs={"thrice": "double"})
archive.target("bright", ["thrice"]).to_pandas()""",
    "close": "archive.close()",
}
SAID = {
    "archive": "Newest names",
    "catalog": "the attributes of bright and near, for the sources common to all",
    "relation": "bright has the same sources as both",
    "plan": "As computed",
    "run": "dist_pc",
    "register": "<td>300.0</td>",
}


def watched() -> type[Any]:
    """Return a class that runs a notebook, and remembers each line that is displayed, also those that are rewritten."""
    from nbclient import NotebookClient  # noqa: PLC0415 - slow to import, in every process of the tests

    class Watched(NotebookClient):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            self.lines: list[str] = []

        def process_message(self, msg, cell, cell_index):
            if msg["msg_type"] in {"display_data", "update_display_data"}:
                self.lines.append(msg["content"]["data"].get("text/plain", ""))
            return super().process_message(msg, cell, cell_index)

    return Watched


def test_values_show_themselves_before_spark_is_loaded_and_a_run_shows_its_progress(tmp_path: Path, monkeypatch):
    from nbformat.v4 import new_code_cell, new_notebook  # noqa: PLC0415 - slow, too

    write_parquet(tmp_path / "stars.parquet")
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "runtime"))
    notebook = new_notebook(cells=[new_code_cell(source.strip()) for source in CELLS.values()])
    client = watched()(
        notebook, timeout=int(LIMIT), kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()

    cells = dict(zip(CELLS, notebook.cells, strict=True))
    results = {
        name: output.data
        for name, cell in cells.items()
        for output in cell.outputs
        if output.output_type == "execute_result"
    }
    assert [name for name, said in SAID.items() if said not in results[name]["text/html"]] == []
    assert all(results[name]["text/plain"] for name in SAID), "there is a text too, where HTML is not shown"
    assert (results["before"]["text/plain"], results["after"]["text/plain"]) == ("False", "True")

    assert any(line.endswith(" s") for line in client.lines), client.lines
    lines = [output.data["text/plain"] for output in cells["run"].outputs if output.output_type == "display_data"]
    assert lines
    assert set(lines) == {""}, "the line of a run is empty when it is over"
    left = {one.name for one in tmp_path.iterdir()} - {"runtime", "ipython"}
    assert left == {"stars.parquet", "survey"}, "nothing else is left behind"
    _check_captured(tmp_path)


def _check_captured(folder: Path) -> None:
    """The function of the notebook is in the archive as source, and allowed to whoever typed it."""
    with provenn.open(folder / "survey") as archive:
        calculator = archive.find_calculator("thrice")
    assert isinstance(calculator, PythonCalculator)
    assert calculator.code == "import numpy as np\nFACTOR = 3.0\n\n\n" + CELLS["define"].partition("3.0\n")[2] + "\n"
    noted = (folder / "runtime" / "provenn" / "calculators").read_text().split()
    assert noted == [f"sha256:{calculator.source}"]
    assert not calculator.given, "nobody has handed it over in this process"
