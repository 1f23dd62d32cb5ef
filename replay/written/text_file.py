"""The text of a file that people hand in, whatever program wrote it.

UTF-8 is read, with or without a byte order mark; UTF-16 and UTF-32 are read where they begin with
one, as Windows programs write them. Anything else is named in the error.
"""

import codecs
from typing import Final

from shoeproof.replay.errors import RoundTextError

_MARKED: Final = (
    # The mark of UTF-32, little end first, begins with that of UTF-16: so it is looked for first.
    (codecs.BOM_UTF32_LE, "utf-32", "UTF-32"),
    (codecs.BOM_UTF32_BE, "utf-32", "UTF-32"),
    (codecs.BOM_UTF16_LE, "utf-16", "UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16", "UTF-16"),
    (codecs.BOM_UTF8, "utf-8-sig", "UTF-8"),
)
_BINARY: Final = (
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF", "a PDF file"),
    (b"PK\x03\x04", "a ZIP archive or an office document"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"SQLite format 3\x00", "an SQLite database"),
)


def decode_text(content: bytes) -> str:
    """Return the text of a file's bytes, without a byte order mark.

    Raises RoundTextError, in one line, for bytes that are not text, or in an encoding that cannot
    be told for certain.
    """
    for mark, codec, name in _MARKED:
        if content == mark:
            raise RoundTextError(f"this is not UTF-8 text but an empty {name} file")
        if content.startswith(mark):
            return _decoded(content, codec, name)
    for magic, what in _BINARY:
        if content.startswith(magic):
            raise RoundTextError(f"this is {what}: write the round down as text, one move a line")
    if b"\x00" in content:
        raise RoundTextError(_with_zero_bytes(content))
    return _decoded(content, "utf-8", "UTF-8")


def _decoded(content: bytes, codec: str, name: str) -> str:
    try:
        return content.decode(codec)
    except UnicodeDecodeError as error:
        # The codec may have taken the mark away: the place is one in the bytes it tells.
        line = error.object.count(b"\n", 0, error.start) + 1
        byte = error.object[error.start]
        raise RoundTextError(
            f"this is not {name} text: byte 0x{byte:02x} in line {line} cannot be read; "
            "save the file as UTF-8"
        ) from None


def _with_zero_bytes(content: bytes) -> str:
    """Name the kind of a file with zero bytes, which no UTF-8 text has."""
    start = content[:64]
    for codec, name in (("utf-32-le", "UTF-32"), ("utf-32-be", "UTF-32"),
                        ("utf-16-le", "UTF-16"), ("utf-16-be", "UTF-16")):  # fmt: skip
        whole = start[: len(start) // 4 * 4]
        try:
            text = whole.decode(codec)
        except UnicodeDecodeError:
            continue
        if text and all(letter.isascii() and (letter.isprintable() or letter in "\t\r\n")
                        for letter in text):  # fmt: skip
            return f"this is {name} text without a byte order mark: save the file as UTF-8"
    return "this is not text but a binary file: write the round down as text, one move a line"
