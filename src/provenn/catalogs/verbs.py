"""The verbs that define catalogs from catalogs, and the table of all catalog classes.

The layers above define catalogs with these verbs, and ask a catalog instead of its class. A new class is added here.
"""

from __future__ import annotations

from provenn.catalogs.base import Base
from provenn.catalogs.catalog import Catalog
from provenn.catalogs.combine_attributes import CombineAttributes
from provenn.catalogs.concat_sources import ConcatSources
from provenn.catalogs.cross_match import CrossMatch
from provenn.catalogs.derive_attributes import DeriveAttributes
from provenn.catalogs.exclude_sources import ExcludeSources
from provenn.catalogs.explode_arrays import ExplodeArrays
from provenn.catalogs.first_sources import FirstSources
from provenn.catalogs.group_sources import GroupSources
from provenn.catalogs.having_sources import HavingSources
from provenn.catalogs.keep_attributes import KeepAttributes
from provenn.catalogs.lookup_attributes import LookupAttributes
from provenn.catalogs.matched_sources import MatchedSources, define_unmatched
from provenn.catalogs.opaque_query import OpaqueQuery
from provenn.catalogs.opaque_selection import OpaqueSelection
from provenn.catalogs.rename_attributes import RenameAttributes
from provenn.catalogs.restrict_sources import RestrictSources
from provenn.catalogs.sample_sources import SampleSources
from provenn.catalogs.select_sources import SelectSources

__all__ = [
    "CLASSES",
    "combine",
    "concat",
    "concat_proved",
    "crossmatch",
    "derive",
    "exclude",
    "explode",
    "first",
    "group",
    "having",
    "keep",
    "lookup",
    "matched",
    "query_opaque",
    "rename",
    "restrict",
    "sample",
    "select",
    "select_opaque",
    "unmatched",
    "without",
]

select = SelectSources.of
restrict = RestrictSources.of
exclude = ExcludeSources.of
sample = SampleSources.of
keep = KeepAttributes.of
rename = RenameAttributes.of
derive = DeriveAttributes.of
combine = CombineAttributes.of
concat = ConcatSources.of
concat_proved = ConcatSources.prove
crossmatch = CrossMatch.of
matched = MatchedSources.of
unmatched = define_unmatched
lookup = LookupAttributes.of
having = HavingSources.of
without = HavingSources.without
group = GroupSources.of
first = FirstSources.of
explode = ExplodeArrays.of
select_opaque = OpaqueSelection.of
query_opaque = OpaqueQuery.of

CLASSES: dict[str, type[Catalog]] = {
    catalog_class.kind: catalog_class
    for catalog_class in (
        Base,
        SelectSources,
        RestrictSources,
        ExcludeSources,
        SampleSources,
        KeepAttributes,
        RenameAttributes,
        DeriveAttributes,
        CombineAttributes,
        ConcatSources,
        CrossMatch,
        MatchedSources,
        LookupAttributes,
        HavingSources,
        GroupSources,
        FirstSources,
        ExplodeArrays,
        OpaqueSelection,
        OpaqueQuery,
    )
}
"""The catalog classes, by name."""
