"""The public objects of provenn: archives and their catalogs. This thin package combines the packages below."""

from typing import TYPE_CHECKING

from provenn.offered_names import offer_names

if TYPE_CHECKING:
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
    from provenn.words.proof_chains import Reason

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

__getattr__, __dir__ = offer_names(
    __name__,
    {
        "provenn.archive.archive": "Archive",
        "provenn.archive.bounds": "Bounds KnownCount",
        "provenn.archive.comparison": "Comparison RegionKnown",
        "provenn.archive.description": "Description",
        "provenn.archive.handle": "Catalog",
        "provenn.archive.implications": "Declared Implied",
        "provenn.archive.lineage_tree": "Lineage",
        "provenn.archive.neighbourhood": "Neighbourhood",
        "provenn.archive.notices": "Notice",
        "provenn.archive.opening": "DATABASE open_archive",
        "provenn.archive.proof": "Proof",
        "provenn.archive.provenance": "BaseFiles Calculation Provenance",
        "provenn.archive.relation": "Relation",
        "provenn.archive.repairing": "Soundness",
        "provenn.archive.run_history": "Ran",
        "provenn.archive.stored_fragments": "Stored",
        "provenn.archive.target": "Target",
        "provenn.archive.witnesses": "Witness",
        "provenn.words.vocabulary": "Reason",
    },
)
