"""The catalog classes: what they are made of, what attributes and which sources they have. Only `files` reads files."""
