"""FaCT++ (Debian: fact++): sets as concepts, in the Lisp syntax that its command reads; it reads no OWL."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from subprocess import DEVNULL, run
from tempfile import TemporaryDirectory

from benchmarks.lineages import Lineage, Operation
from benchmarks.peers.peer import Hierarchy, missing_command

__all__ = ["FactPlusPlus"]

_FORMS = {
    Operation.BASE: "(defprimconcept c{0})",
    Operation.SELECTION: "(defprimconcept c{0} c{1})",
    Operation.EQUAL: "(defconcept c{0} c{1})",
    Operation.INTERSECTION: "(defconcept c{0} (and c{1} c{2}))",
    Operation.UNION: "(defconcept c{0} (or c{1} c{2}))",
    Operation.DIFFERENCE: "(defconcept c{0} (and c{1} (not c{2})))",
}

# FaCT++ refuses a configuration without these sections and the empty lines between them.
_CONFIGURATION = """\
[LeveLogger]
 file = reasoning.log
 allowedLevel = 0

[Tuning]

[Query]
 TBox = in.lisp
"""


class FactPlusPlus:
    """Classification by tableaux; start-up, and reading the taxonomy back, are included."""

    name = "FaCT++"

    def missing(self) -> str:
        """Return how FaCT++ could be installed, or an empty string."""
        return missing_command("FaCT++", "fact++")

    def classify(self, lineage: Lineage) -> Hierarchy:
        """Let FaCT++ write its taxonomy, and read that."""
        with TemporaryDirectory() as folder:
            Path(folder, "in.lisp").write_text("\n".join(_concepts(lineage)))
            Path(folder, "in.conf").write_text(_CONFIGURATION)
            run(["FaCT++", "in.conf"], cwd=folder, stdout=DEVNULL, stderr=DEVNULL, check=True)
            taxonomy = Path(folder, "Taxonomy.log").read_text()
        return _hierarchy(len(lineage), taxonomy)


def _concepts(lineage: Lineage) -> Iterator[str]:
    for number, (operation, left, right) in enumerate(lineage.rows()):
        yield _FORMS[Operation(operation)].format(number, left, right)


def _hierarchy(size: int, taxonomy: str) -> Hierarchy:
    """Read lines such as ``("c1"="c3") {1: "c0"} {1: "BOTTOM"}``: equal concepts, parents, children."""
    classes, parents, empty = [], {}, []
    for line in taxonomy.splitlines():
        if not line.startswith(('"', '("')):
            continue
        names, above, _ = line.split("{")
        members = [int(number) for number in re.findall(r'"c(\d+)"', names)]
        if '"BOTTOM"' in names:
            empty = members
        elif members:
            classes.append(members)
            parents[members[0]] = [int(number) for number in re.findall(r'"c(\d+)"', above)]
    return Hierarchy.of(size, classes, parents, empty)
