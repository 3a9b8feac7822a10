"""The house: provenn's rooms read from the source, drawn with the way of a target, and listed for newcomers.

``python -m architecture`` writes the picture, and the tables in `CONTRIBUTING.md` and in the page about the house.
"""
