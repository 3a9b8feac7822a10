"""Messages between the server and its worker processes: JSON with a body of bytes, each with its length before it."""

import asyncio
import json
import struct
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["Message", "encode_message", "read_message"]

_LENGTHS: Final = struct.Struct("!II")
_LARGEST: Final = 1 << 28
"""Maximum bytes of each part of a message."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message.

    Parameters
    ----------
    values
        Values that JSON can hold.
    body
        Bytes, such as a page.
    """

    values: dict[str, Any]
    body: bytes = b""


def encode_message(message: Message) -> bytes:
    """Return a message as bytes."""
    head = json.dumps(message.values).encode()
    return _LENGTHS.pack(len(head), len(message.body)) + head + message.body


async def read_message(reader: asyncio.StreamReader) -> Message | None:
    """Return the next message; None at the end.

    Raises
    ------
    ValueError
        If the bytes are no message.
    """
    try:
        head_length, body_length = _LENGTHS.unpack(await reader.readexactly(_LENGTHS.size))
        if max(head_length, body_length) > _LARGEST:
            raise ValueError(f"a message has {head_length + body_length} bytes")
        head = await reader.readexactly(head_length)
        return Message(json.loads(head), await reader.readexactly(body_length))
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
