"""The archive of `tests.web.survey`, made once."""

from tests.web.conftest import made

__all__ = ["made"]
