"""``python -m provenn`` is ``provenn``."""

from provenn.cli import main

main()
