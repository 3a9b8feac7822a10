"""Pictures of provenn for its documentation, each made by a command: ``python -m gallery``."""
