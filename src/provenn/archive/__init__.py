"""The public objects of provenn: archives and their catalogs. This package is thin: it combines the packages below."""

from provenn.archive.archive import Archive
from provenn.archive.bounds import Bounds, KnownCount
from provenn.archive.comparison import Comparison, RegionKnown
from provenn.archive.description import Description
from provenn.archive.handle import Catalog
from provenn.archive.implications import Declared, Implied
from provenn.archive.lineage_tree import Lineage
from provenn.archive.neighbourhood import Neighbourhood
from provenn.archive.notices import Notice
from provenn.archive.opening import DATABASE, open_archive
from provenn.archive.proof import Proof
from provenn.archive.provenance import BaseFiles, Calculation, Provenance
from provenn.archive.relation import Relation
from provenn.archive.repairing import Soundness
from provenn.archive.run_history import Ran
from provenn.archive.stored_fragments import Stored
from provenn.archive.target import Target
from provenn.archive.witnesses import Witness
from provenn.words.vocabulary import Reason

__all__ = [
    "DATABASE",
    "Archive",
    "BaseFiles",
    "Bounds",
    "Calculation",
    "Catalog",
    "Comparison",
    "Declared",
    "Description",
    "Implied",
    "KnownCount",
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
    "Witness",
    "open_archive",
]
