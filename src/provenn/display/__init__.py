"""Pictures of values, as text, SVG and HTML: pure functions of plain values such as labels and NumPy arrays."""

from typing import TYPE_CHECKING

from provenn.offered_names import offer_names

if TYPE_CHECKING:
    from provenn.display.array import array_svg, array_text
    from provenn.display.hypercube import hypercube_svg
    from provenn.display.knowledge_picture import OPEN_UNIVERSE, classification_html, explanation_html, knowledge_html
    from provenn.display.relationship import relationship_html, relationship_svg, relationship_text
    from provenn.display.text import hypercube_text
    from provenn.display.venn import RegionState, venn_states_svg, venn_svg
    from provenn.display.world import world_html, world_svg, world_text

__all__ = [
    "OPEN_UNIVERSE",
    "RegionState",
    "array_svg",
    "array_text",
    "classification_html",
    "explanation_html",
    "hypercube_svg",
    "hypercube_text",
    "knowledge_html",
    "relationship_html",
    "relationship_svg",
    "relationship_text",
    "venn_states_svg",
    "venn_svg",
    "world_html",
    "world_svg",
    "world_text",
]

__getattr__, __dir__ = offer_names(
    __name__,
    {
        "provenn.display.array": "array_svg array_text",
        "provenn.display.hypercube": "hypercube_svg",
        "provenn.display.knowledge_picture": "OPEN_UNIVERSE classification_html explanation_html knowledge_html",
        "provenn.display.relationship": "relationship_html relationship_svg relationship_text",
        "provenn.display.text": "hypercube_text",
        "provenn.display.venn": "RegionState venn_states_svg venn_svg",
        "provenn.display.world": "world_html world_svg world_text",
    },
)
