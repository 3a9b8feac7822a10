"""Konclude (Debian: konclude): sets as OWL classes, in functional syntax."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from subprocess import DEVNULL, run
from tempfile import TemporaryDirectory
from xml.etree.ElementTree import Element, parse

from benchmarks.lineages import Lineage, Operation
from benchmarks.peers.peer import Hierarchy, missing_command

__all__ = ["Konclude"]

_FORMS = {
    Operation.BASE: "Declaration(Class(:c{0}))",
    Operation.SELECTION: "SubClassOf(:c{0} :c{1})",
    Operation.EQUAL: "EquivalentClasses(:c{0} :c{1})",
    Operation.INTERSECTION: "EquivalentClasses(:c{0} ObjectIntersectionOf(:c{1} :c{2}))",
    Operation.UNION: "EquivalentClasses(:c{0} ObjectUnionOf(:c{1} :c{2}))",
    Operation.DIFFERENCE: "EquivalentClasses(:c{0} ObjectIntersectionOf(:c{1} ObjectComplementOf(:c{2})))",
}
_OWL = "{http://www.w3.org/2002/07/owl#}"
_SETS = "urn:lineage#c"
_NOTHING = "http://www.w3.org/2002/07/owl#Nothing"


class Konclude:
    """Classification by tableaux and saturation; start-up, and reading the classes back, are included."""

    name = "Konclude"

    def missing(self) -> str:
        """Return how Konclude could be installed, or an empty string."""
        return missing_command("Konclude", "konclude")

    def classify(self, lineage: Lineage) -> Hierarchy:
        """Let Konclude write the class hierarchy, and read that."""
        with TemporaryDirectory() as folder:
            Path(folder, "in.ofn").write_text("\n".join(_ontology(lineage)))
            # Two threads: with one, which is its default, Konclude 0.7.0 waits for itself and never ends.
            command = ["Konclude", "classification", "-w", "2", "-i", "in.ofn", "-o", "out.xml"]
            run(command, cwd=folder, stdout=DEVNULL, stderr=DEVNULL, check=True)
            ontology = parse(Path(folder, "out.xml")).getroot()  # noqa: S314 - Konclude wrote it just now
        return _hierarchy(len(lineage), ontology)


def _ontology(lineage: Lineage) -> Iterator[str]:
    yield "Prefix(:=<urn:lineage#>)"
    yield "Ontology(<urn:lineage>"
    for number, (operation, left, right) in enumerate(lineage.rows()):
        yield _FORMS[Operation(operation)].format(number, left, right)
    yield ")"


def _hierarchy(size: int, ontology: Element) -> Hierarchy:
    classes: list[list[int]] = []
    empty: list[int] = []
    for axiom in ontology.iter(f"{_OWL}EquivalentClasses"):
        names = [one.attrib["IRI"] for one in axiom]
        members = [int(name.removeprefix(_SETS)) for name in names if name.startswith(_SETS)]
        if _NOTHING in names:
            empty = members
        else:
            classes.append(members)
    parents: dict[int, list[int]] = {}
    for axiom in ontology.iter(f"{_OWL}SubClassOf"):
        below, above = (one.attrib["IRI"] for one in axiom)
        if below.startswith(_SETS) and above.startswith(_SETS):
            parents.setdefault(int(below.removeprefix(_SETS)), []).append(int(above.removeprefix(_SETS)))
    return Hierarchy.of(size, classes, parents, empty)
