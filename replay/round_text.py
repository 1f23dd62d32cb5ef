"""The `.round` text format (round/v1): one round as TOML, one move a string, unsigned.

This module reads and writes the text and knows its grammar; what a round is worth is
`adjudicate.py`'s business. Text outside the grammar raises RoundTextError with the place.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

import msgspec

from replay.engine.cards import FACE_DOWN, VALUE
from replay.engine.hand import CASH_OUT, INSURANCE_ACTS, PLAY_ACTS, Act
from replay.engine.round import DEALER
from replay.errors import RoundTextError

FORMAT: Final = "round/v1"
MAX_MINOR: Final = 2**53 - 1

_HAND = re.compile(r"s[1-9](\.[12])?")
_SEAT = re.compile(r"s[1-9]")
_EXPECTED_BET = re.compile(r"(s[1-9](?:\.[12])?) ([a-z][a-z0-9_]*)")
_TEXT_FIELDS: Final = ("name", "source", "currency", "rules_digest")
_FIELDS: Final = {"format", "game", "moves", "stakes", "expect", *_TEXT_FIELDS}


class DealMove(msgspec.Struct, frozen=True):
    """One card to a hand or the dealer; `down` marks the hole card."""

    receiver: str
    card: str
    down: bool = False

    def __str__(self) -> str:
        """Return the move as it is written."""
        return f"deal {self.receiver} {self.card}{' down' if self.down else ''}"


class ActMove(msgspec.Struct, frozen=True):
    """A player's act; `shown_minor` is the value a cash-out button showed, None when not noted."""

    hand: str
    act: Act
    shown_minor: int | None = None

    def __str__(self) -> str:
        """Return the move as it is written."""
        shown = "" if self.shown_minor is None else f" {self.shown_minor}"
        return f"{self.hand} {self.act}{shown}"


Move: TypeAlias = DealMove | ActMove


class RoundText(msgspec.Struct, frozen=True):
    """A round as written down.

    `stakes` maps seats to bets to minor units, `expect` maps (hand, bet) to the amount paid.
    """

    game: str
    stakes: dict[str, dict[str, int]]
    moves: tuple[Move, ...]
    expect: dict[tuple[str, str], int]
    name: str | None = None
    source: str | None = None
    currency: str | None = None
    rules_digest: str | None = None


def read_round(text: bytes) -> RoundText:
    """Read a `.round` file's bytes; raise RoundTextError saying what is outside the grammar."""
    try:
        table = tomllib.loads(text.decode("utf-8"))
    except UnicodeDecodeError:
        raise RoundTextError("this is not UTF-8 text") from None
    except (ValueError, RecursionError) as error:
        # Besides TOML's own errors, integers of thousands of digits and nesting without end.
        raise RoundTextError(f"this is not TOML: {str(error)[:200]}") from None
    unknown = sorted(set(table) - _FIELDS)
    if unknown:
        raise RoundTextError(f"unknown field {unknown[0]!r}; is it above the tables?")
    if table.get("format") != FORMAT:
        raise RoundTextError(f"format is {table.get('format')!r}; this reads {FORMAT!r}")
    words = {field: _text(table, field) for field in _TEXT_FIELDS}
    game = table.get("game")
    if not isinstance(game, str):
        raise RoundTextError("game must name the rules, such as 'nba'")
    return RoundText(
        game=game,
        stakes=_stakes(table.get("stakes")),
        moves=_moves(table.get("moves")),
        expect=_expect(table.get("expect", {})),
        **words,
    )


def write_round(
    game: str,
    stakes: Mapping[str, Mapping[str, int]],
    moves: Sequence[Move],
    expect: Mapping[tuple[str, str], int],
    **words: str,
) -> str:
    """Write a round as `.round` text that `read_round` reads back to the same values.

    `words` are the optional text fields `name`, `source`, `currency`, `rules_digest`.
    """
    lines = [f'format = "{FORMAT}"', f"game = {_quoted(game)}"]
    lines += [f"{field} = {_quoted(value)}" for field, value in words.items()]
    lines += ["moves = [", *(f"    {_quoted(str(move))}," for move in moves), "]", "", "[stakes]"]
    for seat, bets in stakes.items():
        pairs = ", ".join(f"{bet} = {amount}" for bet, amount in bets.items())
        lines.append(f"{seat} = {{ {pairs} }}")
    if expect:
        lines += ["", "[expect]"]
        lines += [f'"{hand} {bet}" = {amount}' for (hand, bet), amount in expect.items()]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    # A TOML basic string escapes what a JSON string does, and DEL besides.
    return msgspec.json.encode(text).decode().replace("\x7f", "\\u007f")


def _text(table: Mapping[str, Any], field: str) -> str | None:
    value = table.get(field)
    if value is not None and not isinstance(value, str):
        raise RoundTextError(f"{field} must be text")
    return value


def _stakes(table: object) -> dict[str, dict[str, int]]:
    if not isinstance(table, dict) or not table:
        raise RoundTextError("[stakes] must name at least one seat, such as s1 = 1000")
    return {seat: _seat_stakes(seat, value) for seat, value in table.items()}


def _seat_stakes(seat: str, value: object) -> dict[str, int]:
    if not _SEAT.fullmatch(seat):
        raise RoundTextError(f"{seat!r} is no seat; seats are s1, s2, …")
    bets = value if isinstance(value, dict) else {"main": value}
    if not bets:
        raise RoundTextError(f"{seat} has no stake")
    return {bet: _minor(amount, f"the {bet} stake of {seat}", 1) for bet, amount in bets.items()}


def _minor(amount: object, what: str, least: int) -> int:
    if type(amount) is not int:
        raise RoundTextError(f"{what} must be a whole number of minor units, not {amount!r}")
    if not least <= amount <= MAX_MINOR:
        raise RoundTextError(f"{what} must be {least} to {MAX_MINOR}, not {amount}")
    return amount


def _expect(table: object) -> dict[tuple[str, str], int]:
    if not isinstance(table, dict):
        raise RoundTextError("[expect] must be a table")
    expected = {}
    for key, amount in table.items():
        match = _EXPECTED_BET.fullmatch(key)
        if match is None:
            raise RoundTextError(f'{key!r} names no bet; write "s1 main"')
        expected[match[1], match[2]] = _minor(amount, f"the expected {key}", 0)
    return expected


def _moves(value: object) -> tuple[Move, ...]:
    if not isinstance(value, list):
        raise RoundTextError("moves must be a list of strings, above the tables")
    return tuple(_move(index, text) for index, text in enumerate(value))


def _move(index: int, text: object) -> Move:
    if not isinstance(text, str):
        raise RoundTextError(f"move {index} must be text, not {text!r}")
    match text.split(" "):
        case ["deal", receiver, card]:
            _check(receiver == DEALER or _HAND.fullmatch(receiver), index, text)
            _check(card in VALUE, index, text)
            return DealMove(receiver, card)
        case ["deal", receiver, card, "down"]:
            _check(receiver == DEALER and (card in VALUE or card == FACE_DOWN), index, text)
            return DealMove(receiver, card, down=True)
        case [hand, act]:
            seat_act = _SEAT.fullmatch(hand) and act in INSURANCE_ACTS
            _check(seat_act or (_HAND.fullmatch(hand) and act in PLAY_ACTS), index, text)
            return ActMove(hand, act)
        case [hand, act, shown] if act == CASH_OUT and re.fullmatch(r"0|[1-9][0-9]*", shown):
            _check(_HAND.fullmatch(hand), index, text)
            return ActMove(hand, act, _minor(int(shown), f"the value of move {index}", 0))
    raise RoundTextError(f"move {index}, {text!r}, is none that the format knows")


def _check(holds: object, index: int, text: str) -> None:
    if not holds:
        raise RoundTextError(f"move {index}, {text!r}, is none that the format knows")
