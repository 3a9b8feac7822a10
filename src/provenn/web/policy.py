"""The content security policies of answers."""

import re
from base64 import b64encode
from hashlib import sha256
from typing import Final

from starlette.responses import Response

__all__ = ["POLICY", "make_picture", "picture_policy"]

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""The default policy: no inline script or style runs, and nothing is loaded from other sites."""

_STYLE: Final = re.compile(r"<style>([^<&]*)</style>")


def picture_policy(svg: str) -> str:
    """Return the policy of a standalone SVG picture: only its own inline styles are permitted.

    >>> picture_policy("<svg><style>a{}</style></svg>")[:60]
    "default-src 'none'; style-src 'sha256-X1RutGBrXCt9KkSaXMK7tH"
    """
    styles = [b64encode(sha256(style.encode()).digest()).decode() for style in _STYLE.findall(svg)]
    allowed = " ".join(f"'sha256-{digest}'" for digest in styles) or "'none'"
    return f"default-src 'none'; style-src {allowed}; base-uri 'none'; frame-ancestors 'none'"


def make_picture(svg: str) -> Response:
    """Return the answer with a standalone SVG picture."""
    return Response(svg, media_type="image/svg+xml", headers={"Content-Security-Policy": picture_policy(svg)})
