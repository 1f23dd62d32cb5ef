"""Bytes that parsers stumble over: whole files of them, and mutations of sound files."""

import re
from collections.abc import Iterator, Sequence

from hypothesis import strategies as st

DEEP = 3_000

NASTY = {
    "nothing": b"",
    "nul": b"\0",
    "not utf-8": b"\xff",
    "surrogate in utf-8": b"\xed\xa0\x80",
    "escaped surrogate": b"\\ud800",
    "byte order mark": b"\xef\xbb\xbf",
    "right-to-left override": "\u202e".encode(),
    "beyond the basic plane": "\U0001f0a1".encode(),
    "control": b"\x1b[2J",
    "one-character control": "\x9b".encode(),
    "line feed": b"\n",
    "empty line": b"\n\n",
    "carriage return": b"\r\n",
    "digits": b"9" * 5_000,
    "digits in another script": "\u0663\u0663".encode(),
    "2^53": b"9007199254740993",
    "2^64": b"18446744073709551616",
    "minus": b"-1",
    "zero": b"0",
    "leading zero": b"01",
    "float": b"1.5",
    "endless float": b"1e999",
    "nan": b"NaN",
    "null": b"null",
    "true": b"true",
    "quote": b'"',
    "text": b'"x"',
    "list": b"[]",
    "object": b"{}",
    "brackets": b"[" * DEEP,
    "braces": b'{"a":' * DEEP,
    "nested lists": b"[" * DEEP + b"]" * DEEP,
    "nested objects": b'{"a":' * DEEP + b"1" + b"}" * DEEP,
    "nested tables": b"x = " + b"{a = " * DEEP + b"1" + b"}" * DEEP,
    "dotted key": b"a." * DEEP + b"a = 1\n",
    "long line": b"A" * 200_000,
    "many lines": b"a\n" * 50_000,
    "padding": b"=" * 9,
}
"""By what it is; put where a whole file or a single value is expected."""

_value = re.compile(rb'"(?:[^"\\]|\\.)*"|[A-Za-z0-9+/=_.:-]+|\S').finditer


def whole_files(seeds: Sequence[bytes]) -> Iterator[tuple[str, bytes]]:
    """Yield files, each with its name: nasty ones, and sound ones encoded or cut otherwise."""
    yield from NASTY.items()
    for number, seed in enumerate(seeds):
        for name, text in {
            "cut in half": seed[: len(seed) // 2],
            "without its last byte": seed[:-1],
            "twice": seed * 2,
            "after a mark": b"\xef\xbb\xbf" + seed,
            "with carriage returns": seed.replace(b"\n", b"\r\n"),
            "in utf-16": seed.decode("latin-1").encode("utf-16"),
            "nul at its end": seed + b"\0",
        }.items():
            yield f"seed {number} {name}", text


def with_a_value_replaced(seed: bytes, most: int) -> Iterator[tuple[str, bytes]]:
    """Yield a sound file with single values of it, `most` of them, replaced by each nasty one."""
    values = [match.span() for match in _value(seed)]
    for start, end in values[:: max(1, len(values) // most)]:
        for name, nasty in NASTY.items():
            yield f"{name} at {start}", seed[:start] + nasty + seed[end:]


@st.composite
def mutated(draw: st.DrawFn, seeds: Sequence[bytes]) -> bytes:
    """A sound file with some spans of it replaced by a few bytes, a nasty piece or another span."""
    data = draw(st.sampled_from(seeds))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.sampled_from((0, 1, 2, 8, 64))))
        if draw(st.booleans()):
            values = [match.span() for match in _value(data[:4_000])]
            start, end = draw(st.sampled_from(values)) if values else (start, end)
        other = draw(st.integers(0, len(data)))
        piece = draw(
            st.one_of(
                st.sampled_from(list(NASTY.values())),
                st.binary(max_size=8),
                st.just(data[other : other + 40]),
            )
        )
        data = data[:start] + piece + data[end:]
    return data
