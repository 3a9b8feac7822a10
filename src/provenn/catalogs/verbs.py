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
from provenn.catalogs.keep_attributes import KeepAttributes
from provenn.catalogs.matched_sources import MatchedSources
from provenn.catalogs.rename_attributes import RenameAttributes
from provenn.catalogs.restrict_sources import RestrictSources
from provenn.catalogs.sample_sources import SampleSources
from provenn.catalogs.select_sources import SelectSources

__all__ = [
    "CLASSES",
    "combine",
    "concat",
    "crossmatch",
    "derive",
    "exclude",
    "keep",
    "matched",
    "rename",
    "restrict",
    "sample",
    "select",
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
crossmatch = CrossMatch.of
matched = MatchedSources.of

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
    )
}
"""The catalog classes, by name."""
