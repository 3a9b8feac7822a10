"""A server that asks for tokens: an archive with something private, and what people need to use it."""

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import provenn
from provenn.archive.tokens import issue_token
from provenn.web.serving import build_server_app

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # starlette would rather have another httpx
    from starlette.testclient import TestClient

__all__ = ["HIDDEN", "Team", "form_of", "serving_team"]

HIDDEN = "top secret"
"""A name that only ada sees."""

PEOPLE = {"ada": "admin", "ben": "author", "cleo": "reader"}


@dataclass(slots=True)
class Team:
    """A server, the archive behind it, and a token for each of ada (admin), ben (author) and cleo (reader)."""

    archive: provenn.Archive
    client: TestClient
    secrets: dict[str, str]
    numbers: dict[str, int]
    hidden: str = field(default="")

    def ask(self, who: str | None, path: str, method: str = "GET", **rest: Any) -> Any:
        """Ask as a program of somebody; None sends no token."""
        given = {} if who is None else {"Authorization": f"Bearer {self.secrets.get(who, who)}"}
        self.client.cookies.clear()
        return self.client.request(method, path, headers=given | rest.pop("headers", {}), **rest)

    def log_in(self, who: str) -> Any:
        """Log in as a browser does, which keeps the cookie."""
        self.client.cookies.clear()
        return self.client.post("/login", data={"token": self.secrets[who], "next": "/catalogs"})


@contextmanager
def serving_team(archive: provenn.Archive, **options: Any) -> Iterator[Team]:
    """Serve an archive of ada's, in which something is private."""
    made = archive["stars"].select("vmag < 2.5")
    archive.name(made, HIDDEN, visibility="private")
    tokens = {who: issue_token(archive, who, role) for who, role in PEOPLE.items()}
    app = build_server_app(archive, tokens=True, **options)
    with TestClient(app, base_url="http://127.0.0.1", follow_redirects=False) as client:
        yield Team(
            archive,
            client,
            {who: secret for who, (_, secret) in tokens.items()},
            {who: token.number for who, (token, _) in tokens.items()},
            made.digest,
        )


def form_of(page: str) -> str:
    """Return what the forms of a page bring."""
    found = re.search(r'name="form" value="([^"]+)"', page)
    assert found, page
    return found[1]
