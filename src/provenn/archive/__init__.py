"""What a user imports: archives and the catalogs in them. Thin: it brings together the rooms below."""

from provenn.archive.archive import Archive
from provenn.archive.comparison import Comparison, RegionKnown
from provenn.archive.description import Description
from provenn.archive.fragments import Stored
from provenn.archive.handle import Catalog
from provenn.archive.implications import Declared, Implied
from provenn.archive.lineage import Lineage
from provenn.archive.neighbourhood import Neighbourhood
from provenn.archive.notices import Notice
from provenn.archive.opening import DATABASE, open_archive
from provenn.archive.proof import Proof
from provenn.archive.provenance import BaseFiles, Calculation, Provenance
from provenn.archive.relation import Relation
from provenn.archive.runs import Ran
from provenn.archive.soundness import Soundness
from provenn.archive.target import Target
from provenn.archive.words import Reason

__all__ = [
    "DATABASE",
    "Archive",
    "BaseFiles",
    "Calculation",
    "Catalog",
    "Comparison",
    "Declared",
    "Description",
    "Implied",
    "Lineage",
    "Neighbourhood",
    "Notice",
    "Proof",
    "Provenance",
    "Ran",
    "Reason",
    "RegionKnown",
    "Relation",
    "Soundness",
    "Stored",
    "Target",
    "open_archive",
]
