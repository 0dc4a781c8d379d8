"""Unpacks gz, bz2 and zst data piece by piece, so that a compression bomb is stopped at the limit. Knows no model."""

from __future__ import annotations

import bz2
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import zstandard

from batchlp_cli.errors import ReadError
from batchlp_cli.files.inputs import Compression

PIECE_BYTES = 1 << 20
ZST_WINDOW_BYTES = 1 << 30  # frames that ask for a larger window are refused


class _Decoder(Protocol):
    """What the three libraries' decoders have in common."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...


@dataclass(frozen=True, slots=True)
class _Format:
    """How to unpack one format: its first bytes, a decoder for one member, and how a chunk is fed to it in bounded pieces.

    chunk_bytes bounds what one call can yield where the library knows no limit (zstandard: 32768-fold).
    """

    magics: tuple[bytes, ...]
    decoder: Callable[[], _Decoder]
    feed: Callable[..., Iterator[bytes]]
    chunk_bytes: int


def decompress(data: bytes, compression: Compression, limit_bytes: int, name: str) -> bytes:
    """Returns the unpacked data: all members or frames one after the other, as they are after `cat a.gz b.gz`.

    Raises ReadError that begins with name where the data are in another format, cut off, damaged, or larger than the limit.
    """
    if compression is Compression.NONE:
        return _unpacked(data, name)
    if not data.startswith(_FORMATS[compression].magics):
        found = data[:4].hex(" ") or "nothing"
        raise ReadError(f"{name}: this is no {compression} file (it begins with {found}); rename it to what it is")
    pieces, size = [], 0
    try:
        for piece in _members(data, _FORMATS[compression]):
            size += len(piece)
            if size > limit_bytes:
                raise ReadError(
                    f"{name}: more than {limit_bytes} bytes after decompression of {len(data)}; raise --max-file-size"
                )
            pieces.append(piece)
    except EOFError as error:
        raise ReadError(f"{name}: the {compression} data are cut off after {len(data)} bytes; fetch the file again") from error
    except (zlib.error, OSError, zstandard.ZstdError) as error:
        raise ReadError(f"{name}: the {compression} data are damaged: {error}; fetch the file again") from error
    return _unpacked(b"".join(pieces), name)


def _unpacked(data: bytes, name: str) -> bytes:
    """Returns the data; raises ReadError where their first bytes say that they are still packed."""
    for kind, form in _FORMATS.items():
        if data.startswith(form.magics):
            raise ReadError(f"{name}: the data are packed with {kind}, which the name does not tell; add .{kind} to it")
    return data


def _members(data: bytes, form: _Format) -> Iterator[bytes]:
    position = 0
    while position < len(data):
        decoder = form.decoder()
        while not decoder.eof:
            if position >= len(data):
                raise EOFError
            chunk = data[position : position + form.chunk_bytes]
            position += len(chunk)
            yield from form.feed(decoder, chunk)
        position -= len(decoder.unused_data)
        if not data[position:].strip(b"\0"):  # tapes pad with zeros
            return


def _feed_gz(decoder: zlib._Decompress, chunk: bytes) -> Iterator[bytes]:
    while True:
        piece = decoder.decompress(chunk, PIECE_BYTES)
        yield piece
        chunk = decoder.unconsumed_tail
        if decoder.eof or (not chunk and len(piece) < PIECE_BYTES):
            return


def _feed_bz2(decoder: bz2.BZ2Decompressor, chunk: bytes) -> Iterator[bytes]:
    yield decoder.decompress(chunk, PIECE_BYTES)
    while not decoder.eof and not decoder.needs_input:
        yield decoder.decompress(b"", PIECE_BYTES)


def _feed_zst(decoder: zstandard.ZstdDecompressionObj, chunk: bytes) -> Iterator[bytes]:
    yield decoder.decompress(chunk)


def _gz_decoder() -> _Decoder:
    return zlib.decompressobj(wbits=31)


def _zst_decoder() -> _Decoder:
    decoder: _Decoder = zstandard.ZstdDecompressor(max_window_size=ZST_WINDOW_BYTES).decompressobj()
    return decoder


_SKIPPABLE = tuple(bytes([low, 0x2A, 0x4D, 0x18]) for low in range(0x50, 0x60))
_FORMATS = {
    Compression.GZ: _Format((b"\x1f\x8b",), _gz_decoder, _feed_gz, 1 << 16),
    Compression.BZ2: _Format((b"BZh",), bz2.BZ2Decompressor, _feed_bz2, 1 << 16),
    Compression.ZST: _Format((b"\x28\xb5\x2f\xfd", *_SKIPPABLE), _zst_decoder, _feed_zst, 1 << 12),
}
