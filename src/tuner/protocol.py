"""The frames between a pool and a worker: what they hold and how they are cut from a stream of bytes; no I/O.

A frame is one byte for its kind, eight for the length of its body (little-endian), and the body. Frames about a
job begin with the job's ticket, so that a late frame of one job is never taken for the next one's.
"""

from __future__ import annotations

import enum
import struct
from collections.abc import Iterator

LARGEST = 1 << 32
"""No frame is longer (bytes): a length beyond is noise, not a promise to allocate memory for."""

_HEAD = struct.Struct("<BQ")
_TICKET = struct.Struct("<Q")
_SIZES = struct.Struct("<II")


class ProtocolError(ValueError):
    """Bytes that are no frame, or a frame that has no place there."""


class Frame(enum.IntEnum):
    """What a frame says; the first four go to a worker, the others come from it."""

    SETUP = 0xA1  # how to become ready: see `worker.Setup`
    PLACE = 0xA2  # the parent's sys.path and working directory
    SHARE = 0xA3  # a number, and the pickled value that jobs refer to by it
    JOB = 0xA4  # ticket, and the pickled function and arguments
    READY = 0xB1  # process id, and resident KiB
    STAGE = 0xB2  # ticket, and the name of the stage that begins
    RESULT = 0xB3  # ticket, worn, and the pickled result
    LOADED = 0xB5  # ticket: the function and its arguments are there, and the function is called
    FAILURE = 0xB4  # ticket, worn, and the pickled (kind, cause, traceback)


_KINDS = {kind.value: kind for kind in Frame}


def encode(kind: Frame, body: bytes = b"") -> bytes:
    """Return one whole frame."""
    return _HEAD.pack(kind, len(body)) + body


def encode_job(kind: Frame, ticket: int, body: bytes = b"") -> bytes:
    """Return one whole frame about the job `ticket`."""
    return _HEAD.pack(kind, _TICKET.size + len(body)) + _TICKET.pack(ticket) + body


def split_ticket(body: bytes) -> tuple[int, bytes]:
    """Return the ticket that a body begins with, and the rest; ProtocolError where there is none."""
    if len(body) < _TICKET.size:
        raise ProtocolError(f"a frame about a job has {len(body)} bytes, fewer than a ticket")
    return _TICKET.unpack_from(body)[0], body[_TICKET.size :]


def encode_ready(process: int, resident: int) -> bytes:
    """Return the frame that says that process `process`, with `resident` KiB in memory, takes jobs."""
    return encode(Frame.READY, _SIZES.pack(process, resident))


def split_ready(body: bytes) -> tuple[int, int]:
    """Return the process id and the resident KiB of a READY frame."""
    if len(body) != _SIZES.size:
        raise ProtocolError(f"a READY frame has {_SIZES.size} bytes, got {len(body)}")
    process, resident = _SIZES.unpack(body)
    return process, resident


class Decoder:
    """Cuts a stream of bytes into frames: `feed` it what came, iterate over what is whole."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def __len__(self) -> int:
        """Return the number of bytes that wait for the rest of their frame."""
        return len(self._bytes)

    def feed(self, data: bytes) -> None:
        """Take what came."""
        self._bytes += data

    def __iter__(self) -> Iterator[tuple[Frame, bytes]]:
        """Take out every whole frame; ProtocolError at the first byte that cannot be part of one."""
        while self._bytes:
            kind = _kind(self._bytes[0])
            if len(self._bytes) < _HEAD.size:
                return
            length = _HEAD.unpack_from(self._bytes)[1]
            if length > LARGEST:
                raise ProtocolError(f"a frame of {length} bytes; the longest has {LARGEST}")
            end = _HEAD.size + length
            if len(self._bytes) < end:
                return
            body = bytes(memoryview(self._bytes)[_HEAD.size : end])
            del self._bytes[:end]
            yield kind, body


def _kind(byte: int) -> Frame:
    kind = _KINDS.get(byte)
    if kind is None:
        raise ProtocolError(f"no frame begins with {byte:#04x}")
    return kind
