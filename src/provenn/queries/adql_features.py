"""The optional features of ADQL that the translator has, as services declare them (TAPRegExt)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["ADQL_FEATURES", "GEOMETRY_GROUP", "STRING_GROUP", "UDF_GROUP", "AdqlFeature", "list_function_names"]

GEOMETRY_GROUP: Final = "adqlgeo"
STRING_GROUP: Final = "adql-string"
UDF_GROUP: Final = "udf"


@dataclass(frozen=True, slots=True)
class AdqlFeature:
    """An optional feature of ADQL.

    Parameters
    ----------
    group
        The group to which the standard assigns the feature.
    form
        A word of the language; for a function beyond ADQL its signature.
    description
        What a function beyond ADQL does.
    """

    group: str
    form: str
    description: str = ""

    @property
    def word(self) -> str:
        """The word of the language, in lower case.

        >>> AdqlFeature("udf", "MOC(cells VARCHAR) -> REGION").word
        'moc'
        """
        return self.form.partition("(")[0].lower()


# COALESCE, in the group adql-conditional, is read but not declared: STILTS 3.4 takes this younger group for an
# error, and its validator must find none.
_FORMS: Final = {
    GEOMETRY_GROUP: "AREA BOX CENTROID CIRCLE CONTAINS COORD1 COORD2 DISTANCE INTERSECTS POINT POLYGON",
    STRING_GROUP: "ILIKE LOWER UPPER",
    "adql-common-table": "WITH",
    "adql-sets": "EXCEPT INTERSECT UNION",
    "adql-type": "CAST",
    "adql-unit": "IN_UNIT",
    "adql-offset": "OFFSET",
}
_CELL: Final = "The number of the HEALPix cell of an order, in the nested scheme, that holds a position in degrees."

ADQL_FEATURES: Final = (
    *(AdqlFeature(group, form) for group, forms in _FORMS.items() for form in forms.split()),
    AdqlFeature(
        UDF_GROUP,
        "ivo_healpix_index(hpxOrder INTEGER, ra DOUBLE PRECISION, dec DOUBLE PRECISION) -> BIGINT",
        f"{_CELL} The order is a constant.",
    ),
    AdqlFeature(
        UDF_GROUP, "ivo_healpix_index(hpxOrder INTEGER, position POINT) -> BIGINT", f"{_CELL} The order is a constant."
    ),
    AdqlFeature(
        UDF_GROUP,
        "MOC(cells VARCHAR) -> REGION",
        "A coverage map as a region, from its cells as a constant text: MOC('3/304 5/4000-4500').",
    ),
)
"""All optional features, in the order in which services declare them."""


def list_function_names(*groups: str) -> frozenset[str]:
    """Return the words of the features of some groups, in lower case.

    >>> sorted(list_function_names(UDF_GROUP))
    ['ivo_healpix_index', 'moc']
    """
    return frozenset(feature.word for feature in ADQL_FEATURES if feature.group in groups)
