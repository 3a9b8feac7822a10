"""The catalog classes: their definitions, sources and attributes. Only base files are I/O."""

from provenn.catalogs import verbs
from provenn.catalogs.base import Base, list_bases
from provenn.catalogs.calculators import Calculator, PythonCalculator, SqlCalculator, calculator_from
from provenn.catalogs.catalog import Catalog
from provenn.catalogs.combine_attributes import CombineAttributes
from provenn.catalogs.concat_sources import (
    ConcatSources,
    differing_attributes,
    list_joined_bases,
    list_version_bases,
)
from provenn.catalogs.cross_match import CrossMatch
from provenn.catalogs.derive_attributes import DeriveAttributes
from provenn.catalogs.exclude_sources import ExcludeSources
from provenn.catalogs.explode_arrays import ExplodeArrays
from provenn.catalogs.extent import Extent
from provenn.catalogs.first_sources import FirstSources
from provenn.catalogs.group_sources import GroupSources
from provenn.catalogs.having_sources import HavingSources
from provenn.catalogs.keep_attributes import KeepAttributes
from provenn.catalogs.lookup_attributes import LookupAttributes
from provenn.catalogs.matched_sources import MatchedSources
from provenn.catalogs.opaque_query import OpaqueQuery, ResultColumn
from provenn.catalogs.opaque_selection import OpaqueSelection
from provenn.catalogs.population import Population, key_position
from provenn.catalogs.rename_attributes import RenameAttributes
from provenn.catalogs.restoring import cone, definition_digest, facts_of, restore
from provenn.catalogs.restrict_sources import RestrictSources
from provenn.catalogs.sample_sources import SampleSources
from provenn.catalogs.schema import Attribute, Schema
from provenn.catalogs.select_sources import SelectSources
from provenn.files.file_set import Files

__all__ = [
    "Attribute",
    "Base",
    "Calculator",
    "Catalog",
    "CombineAttributes",
    "ConcatSources",
    "CrossMatch",
    "DeriveAttributes",
    "ExcludeSources",
    "ExplodeArrays",
    "Extent",
    "Files",
    "FirstSources",
    "GroupSources",
    "HavingSources",
    "KeepAttributes",
    "LookupAttributes",
    "MatchedSources",
    "OpaqueQuery",
    "OpaqueSelection",
    "Population",
    "PythonCalculator",
    "RenameAttributes",
    "RestrictSources",
    "ResultColumn",
    "SampleSources",
    "Schema",
    "SelectSources",
    "SqlCalculator",
    "calculator_from",
    "cone",
    "definition_digest",
    "differing_attributes",
    "facts_of",
    "key_position",
    "list_bases",
    "list_joined_bases",
    "list_version_bases",
    "restore",
    "verbs",
]
