"""A file that people hand in is read whatever wrote it, or named for what it is."""

import codecs

import pytest

from shoeproof.replay.errors import RoundTextError
from shoeproof.replay.written.round_text import read_round
from shoeproof.replay.written.text_file import decode_text

ROUND = (
    'format = "round/v1"\ngame = "nba"\nname = "Ä round"\n'
    'moves = ["deal s1 Kd", "deal dealer 7c", "deal s1 9h", "deal dealer Td down", "s1 stand"]\n'
    "[stakes]\ns1 = 1000\n"
)


@pytest.mark.parametrize(
    "content",
    [
        ROUND.encode(),
        codecs.BOM_UTF8 + ROUND.encode(),
        codecs.BOM_UTF16_LE + ROUND.encode("utf-16-le"),
        codecs.BOM_UTF16_BE + ROUND.encode("utf-16-be"),
        codecs.BOM_UTF32_LE + ROUND.encode("utf-32-le"),
        codecs.BOM_UTF32_BE + ROUND.encode("utf-32-be"),
        ROUND.replace("\n", "\r\n").encode(),
        codecs.BOM_UTF16_LE + ROUND.replace("\n", "\r\n").encode("utf-16-le"),
    ],
    ids=["utf-8", "utf-8-mark", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "crlf",
         "utf-16-crlf"],
)  # fmt: skip
def test_text_is_read_whatever_wrote_it(content: bytes) -> None:
    assert read_round(content) == read_round(ROUND.encode())


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (ROUND.encode("utf-16-le"), "UTF-16 text without a byte order mark"),
        (ROUND.encode("utf-16-be"), "UTF-16 text without a byte order mark"),
        (ROUND.encode("utf-32-le"), "UTF-32 text without a byte order mark"),
        (ROUND.encode("utf-32-be"), "UTF-32 text without a byte order mark"),
        (ROUND.encode("latin-1"), "not UTF-8 text: byte 0xc4 in line 3"),
        (codecs.BOM_UTF16_LE, "an empty UTF-16 file"),
        (codecs.BOM_UTF16_LE + b"\x00\xd8", "not UTF-16 text"),
        (codecs.BOM_UTF8 + b"\xff", "not UTF-8 text: byte 0xff in line 1"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "a PNG image"),
        (b"\xff\xd8\xff\xe0\x00\x10JFIF", "a JPEG image"),
        (b"%PDF-1.7\n%\xe2\xe3", "a PDF file"),
        (b"PK\x03\x04\x14\x00", "a ZIP archive"),
        (b"\x7fELF\x02\x01\x01\x00", "a binary file"),
        (b"\x00" * 64, "a binary file"),
        (b"\x00", "a binary file"),
        (b"\x00\x00\x00", "a binary file"),
    ],
)
def test_what_is_no_text_is_named_in_one_line(content: bytes, said: str) -> None:
    with pytest.raises(RoundTextError) as error:
        decode_text(content)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_an_empty_file_lacks_its_format() -> None:
    for content in (b"", codecs.BOM_UTF8 + b"\n"):
        with pytest.raises(RoundTextError, match="format is None"):
            read_round(content)
