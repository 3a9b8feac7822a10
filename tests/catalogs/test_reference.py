"""The reference of catalogs names what there is."""

import re
from pathlib import Path

from provenn import catalogs
from provenn.catalogs import Catalog
from provenn.catalogs.verbs import CLASSES

PAGE = (Path(__file__).parent.parent.parent / "docs/reference/catalogs.md").read_text(encoding="utf-8")


def unmentioned(names: list[str]) -> list[str]:
    return [name for name in names if not re.search(rf"`{name}\b", PAGE)]


def test_the_reference_names_everything_public():
    assert unmentioned(catalogs.__all__) == []
    assert unmentioned([part for part in dir(Catalog) if not part.startswith("_") and part not in INNER]) == []


INNER = {"restored", "facts_of", "local_statement"}  # of these `restore`, `facts_of` and `relationship` are made


def test_every_class_has_a_section_with_its_errors():
    for kind in CLASSES:
        section = re.search(rf"^### .*`{kind}`.*?(?=^##)", PAGE, re.MULTILINE | re.DOTALL)
        assert section, kind
        assert "Errors: " in section[0]
