"""Reading a page as a browser does, to see what is in it; and whether anything is that should not be."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

__all__ = ["Page", "read"]

_TAGS = """
html head meta title link script body a header nav ul ol li main footer h1 h2 h3 h4 img p form label input select
figure figcaption option button textarea fieldset legend datalist div section span small strong code pre s br dl dt dd
table caption thead tbody tr th td progress details summary noscript svg g path text tspan rect circle ellipse line
polygon polyline clippath desc defs use pattern
"""
_VOID = frozenset({"meta", "link", "input", "br", "img"})


@dataclass
class Page(HTMLParser):
    """What is in a page: elements with their attributes, links by text, and all the text there is."""

    elements: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    links: dict[str, str] = field(default_factory=dict)
    text: str = ""

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._open: list[str] = []
        self._link: str | None = None
        self._said = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        assert len(found) == len(attrs), f"{tag} has an attribute twice"
        self.elements.append((tag, found))
        if tag not in _VOID:
            self._open.append(tag)
        if tag == "a":
            self._link, self._said = found.get("href", ""), ""

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag, f"{tag} is closed, but not the last that was opened"
        if tag == "a" and self._link is not None:
            self.links[" ".join(self._said.split())] = self._link
            self._link = None

    def handle_data(self, data: str) -> None:
        self.text += data
        self._said += data

    def named(self, tag: str) -> list[dict[str, str]]:
        """Return the attributes of all elements of a kind."""
        return [found for one, found in self.elements if one == tag]

    def finished(self) -> None:
        """Check that all is closed, and that there is nothing but what templates and pictures write."""
        assert not self._open
        ids = [found["id"] for _, found in self.elements if "id" in found]
        assert len(ids) == len(set(ids)), "an id is there twice"
        assert len(self.named("h1")) == 1
        for tag, found in self.elements:
            assert tag in _TAGS.split(), f"who wrote <{tag}>?"
            assert not [name for name in found if name.startswith("on") or name == "style"], (tag, found)
            for name in ("href", "src", "action"):
                assert found.get(name, "/").startswith(("/", "#", "?")), (tag, found)
                assert not found.get(name, "").startswith("//"), (tag, found)
        assert all(found.get("src", "").startswith("/static/") for found in self.named("script"))
        assert not [one for one in self.text if ord(one) < 32 and one not in "\n\t"]


def read(html: str) -> Page:
    """Return a page that was read, once it is found to be sound."""
    page = Page()
    page.feed(html)
    page.close()
    page.finished()
    return page
