"""The `.round` text format (round/v1, round/v2): one round as TOML, one move a string, unsigned.

This module reads and writes the text and knows its grammar; what a round is worth is
`adjudicate.py`'s business. Text outside the grammar raises RoundTextError with the place and what
would be right. A round/v1 file means in round/v2 what it meant in round/v1.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias, TypeVar

import msgspec

from shoeproof.ledger.files.foreign import read_toml
from shoeproof.ledger.files.printable import is_seen
from shoeproof.replay.engine.cards import FACE_DOWN, VALUE
from shoeproof.replay.engine.hand import CASH_OUT, INSURANCE_ACTS, PLAY_ACTS, Act
from shoeproof.replay.engine.round import DEALER
from shoeproof.replay.errors import RoundTextError
from shoeproof.replay.written.text_file import decode_text

V1: Final = "round/v1"
V2: Final = "round/v2"
MAX_MINOR: Final = 2**53 - 1
RESULTS: Final = ("win", "lose", "push", "cash-out")
"""The words for a bet's result on a screen."""

_HAND = re.compile(r"s[1-9](\.[12])?")
_SEAT = re.compile(r"s[1-9]")
_BET = re.compile(r"(s[1-9](?:\.[12])?) ([a-z][a-z0-9_]*)")
_AMOUNT = re.compile(r"0|[1-9][0-9]{0,15}")
_BARRED = re.compile(r"([a-z-]+)\(([a-z_]+)\)")
_TEXT_FIELDS: Final = ("name", "source", "currency", "rules_digest")
_FIELDS: Final = {"format", "game", "moves", "stakes", "expect", *_TEXT_FIELDS}
_FIELDS_OF_V2: Final = {"screen"}
_SCREEN_FIELDS: Final = {"currency", "balance_before", "balance_after", "paid", "results"}
_ACTS: Final = (*PLAY_ACTS, *INSURANCE_ACTS)

Bet: TypeAlias = tuple[str, str]
"""A hand and its bet, `("s1.2", "main")`."""

_Value = TypeVar("_Value")


class DealMove(msgspec.Struct, frozen=True):
    """One card to a hand or the dealer, `??` where nobody knows it; `down` marks the hole card."""

    receiver: str
    card: str
    down: bool = False

    @property
    def is_unreadable(self) -> bool:
        """Whether this is a card that lay face up and that nobody can read any more."""
        return self.card == FACE_DOWN and not self.down

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


class OfferMove(msgspec.Struct, frozen=True):
    """What the screen offered a hand, taken or not (round/v2).

    `barred` pairs acts it showed as barred with the reason; `shown_minor` is the value a cash-out
    button showed, None when not noted.
    """

    hand: str
    acts: tuple[Act, ...]
    barred: tuple[tuple[Act, str], ...] = ()
    shown_minor: int | None = None

    def __str__(self) -> str:
        """Return the move as it is written."""
        value = "" if self.shown_minor is None else f" {self.shown_minor}"
        acts = [f"{act}{value if act == CASH_OUT else ''}" for act in self.acts]
        return " ".join([self.hand, "offered", *acts, *(f"{a}({why})" for a, why in self.barred)])


class StopMove(msgspec.Struct, frozen=True):
    """The record says that the dealer drew no more (round/v2)."""

    def __str__(self) -> str:
        """Return the move as it is written."""
        return "dealer stops"


Move: TypeAlias = DealMove | ActMove | OfferMove | StopMove


class Screen(msgspec.Struct, frozen=True):
    """What the player's screen showed at the end (round/v2).

    `paid` maps bets to minor units, the stake included, and `results` to a word of RESULTS. The
    balances are minor units before any stake of the round was taken and after it was paid;
    `currency` is what all these amounts are in. None is what was not seen.
    """

    paid: dict[Bet, int]
    results: dict[Bet, str]
    balance_before: int | None = None
    balance_after: int | None = None
    currency: str | None = None


class RoundText(msgspec.Struct, frozen=True):
    """A round as written down.

    `stakes` maps seats to bets to minor units, `expect` maps (hand, bet) to the amount paid.
    """

    game: str
    stakes: dict[str, dict[str, int]]
    moves: tuple[Move, ...]
    expect: dict[Bet, int]
    name: str | None = None
    source: str | None = None
    currency: str | None = None
    rules_digest: str | None = None
    screen: Screen | None = None

    @property
    def screen_is_foreign(self) -> bool:
        """Whether the screen's amounts are in a currency other than the round's."""
        shown = None if self.screen is None else self.screen.currency
        return None not in (shown, self.currency) and shown != self.currency


def read_round(content: bytes) -> RoundText:
    """Read a `.round` file's bytes; raise RoundTextError saying what is outside the grammar."""
    try:
        table = read_toml(decode_text(content))
    except ValueError as error:
        raise RoundTextError(f"this is not TOML: {str(error)[:200]}") from None
    version = _version(table)
    words = {field: _text(table, field) for field in _TEXT_FIELDS}
    game = table.get("game")
    if not isinstance(game, str):
        raise RoundTextError("game must name the rules, such as 'nba'")
    return RoundText(
        game=game,
        stakes=_stakes(table.get("stakes")),
        moves=_moves(table.get("moves"), version),
        expect=_by_bet(table.get("expect", {}), "[expect]", _paid),
        screen=_screen(table["screen"]) if "screen" in table else None,
        **words,
    )


def write_round(
    game: str,
    stakes: Mapping[str, Mapping[str, int]],
    moves: Sequence[Move],
    expect: Mapping[Bet, int],
    **words: str,
) -> str:
    """Write a round as `.round` text that `read_round` reads back to the same values.

    It is round/v2 where a move needs it, else round/v1. `words` are the optional text fields
    `name`, `source`, `currency`, `rules_digest`.
    """
    unreadable = any(isinstance(move, DealMove) and move.is_unreadable for move in moves)
    version = V2 if unreadable or any(map(_is_of_v2, moves)) else V1
    lines = [f'format = "{version}"', f"game = {_quoted(game)}"]
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
    # A TOML basic string escapes what a JSON string does, and what does not print as here.
    quoted = msgspec.json.encode(text).decode()
    return "".join(each if is_seen(each) else f"\\U{ord(each):08x}" for each in quoted)


def _version(table: Mapping[str, Any]) -> str:
    """Return a file's version, after checking its fields against it."""
    unknown = sorted(set(table) - _FIELDS - _FIELDS_OF_V2)
    if unknown:
        raise RoundTextError(f"unknown field {unknown[0]!r}; is it above the tables?")
    version = table.get("format")
    if version not in (V1, V2):
        raise RoundTextError(f"format is {version!r}; this reads {V1!r} and {V2!r}")
    for field in sorted(_FIELDS_OF_V2 & set(table)):
        if version == V1:
            raise RoundTextError(f'[{field}] is of {V2}: write format = "{V2}"')
    return str(version)


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
        raise RoundTextError(f"{seat!r} is not a seat; seats are s1, s2, …")
    bets = value if isinstance(value, dict) else {"main": value}
    if not bets:
        raise RoundTextError(f"{seat} has no stake")
    return {bet: _minor(amount, f"the {bet} stake of {seat}", 1) for bet, amount in bets.items()}


def _minor(amount: object, what: str, least: int = 0) -> int:
    if type(amount) is not int:
        raise RoundTextError(f"{what} must be a whole number of minor units, not {amount!r}")
    if not least <= amount <= MAX_MINOR:
        raise RoundTextError(f"{what} must be {least} to {MAX_MINOR}, not {amount}")
    return amount


def _by_bet(table: object, name: str, read: Callable[[object, str], _Value]) -> dict[Bet, _Value]:
    """Read a table that says something about each bet; `read` takes a value and what it is of."""
    if not isinstance(table, dict):
        raise RoundTextError(f"{name} must be a table")
    found = {}
    for key, value in table.items():
        match = _BET.fullmatch(key)
        if match is None:
            raise RoundTextError(f'{key!r} in {name} is not a bet; write "s1 main"')
        found[match[1], match[2]] = read(value, f"{key} in {name}")
    return found


def _paid(value: object, what: str) -> int:
    return _minor(value, what)


def _result(value: object, what: str) -> str:
    if value not in RESULTS:
        raise RoundTextError(f"{what} is {value!r}; a result is {_either(RESULTS)}")
    return str(value)


def _screen(table: object) -> Screen:
    if not isinstance(table, dict):
        raise RoundTextError("[screen] must be a table")
    unknown = sorted(set(table) - _SCREEN_FIELDS)
    if unknown:
        known = ", ".join(sorted(_SCREEN_FIELDS))
        raise RoundTextError(f"unknown field {unknown[0]!r} in [screen]; it has {known}")
    before, after = (
        None if field not in table else _minor(table[field], f"{field} of the screen")
        for field in ("balance_before", "balance_after")
    )
    return Screen(
        paid=_by_bet(table.get("paid", {}), "[screen.paid]", _paid),
        results=_by_bet(table.get("results", {}), "[screen.results]", _result),
        balance_before=before,
        balance_after=after,
        currency=_text(table, "currency"),
    )


def _moves(value: object, version: str) -> tuple[Move, ...]:
    if not isinstance(value, list):
        raise RoundTextError("moves must be a list of strings, above the tables")
    return tuple(_move(index, text, version) for index, text in enumerate(value))


def _move(index: int, text: object, version: str) -> Move:
    if not isinstance(text, str):
        raise RoundTextError(f"move {index} must be text, not {text!r}")
    place = f"move {index}, {text[:80]!r}"
    try:
        move = _read_move(text.split(" "))
    except RoundTextError as wrong:
        raise RoundTextError(f"{place}: {wrong}") from None
    if version == V1 and _is_of_v2(move):
        raise RoundTextError(f'{place}, is of {V2}: write format = "{V2}"')
    return move


def _is_of_v2(move: Move) -> bool:
    """Tell whether round/v1 lacks this move.

    A player's card that nobody can read is taken in both: `??` means there what it always meant.
    """
    if isinstance(move, DealMove):
        return move.is_unreadable and move.receiver == DEALER
    return isinstance(move, OfferMove | StopMove)


def _read_move(words: list[str]) -> Move:
    match words:
        case ["deal", receiver, card, *rest]:
            return _deal(receiver, card, rest)
        case ["dealer", "stops"]:
            return StopMove()
        case [hand, "offered", _, *_]:
            return _offer(hand, words[2:])
        case [hand, act]:
            _check_act(hand, act)
            return ActMove(hand, act)
        case [hand, "cash-out", shown]:
            _check_act(hand, CASH_OUT)
            return ActMove(hand, CASH_OUT, _shown(shown))
    raise RoundTextError(
        "a move is 'deal s1 Kd', 's1 hit', 's1 cash-out 870', 's1 offered hit stand' or "
        "'dealer stops', with one space between words"
    )


def _deal(receiver: str, card: str, rest: list[str]) -> DealMove:
    if receiver != DEALER and not _HAND.fullmatch(receiver):
        raise RoundTextError(f"{receiver!r} gets no card; write dealer, s1 or, after a split, s1.2")
    if card != FACE_DOWN and card not in VALUE:
        raise RoundTextError(
            f"{card!r} is not a card; write rank and suit, as Kd or Tc, or ?? for one nobody knows"
        )
    if rest and (rest != ["down"] or receiver != DEALER):
        raise RoundTextError("only `down`, for the dealer's hole card, may follow the card")
    return DealMove(receiver, card, down=bool(rest))


def _check_act(hand: str, act: str) -> None:
    _check_words(hand, act)
    if act in INSURANCE_ACTS and not _SEAT.fullmatch(hand):
        raise RoundTextError(f"{act} is answered before any split, by the seat, as s1")


def _check_words(hand: str, act: str) -> None:
    if not _HAND.fullmatch(hand):
        raise RoundTextError(f"{hand!r} is not a hand; write s1 or, after a split, s1.2")
    if act not in _ACTS:
        raise RoundTextError(f"{act!r} is not an act; acts are {', '.join(_ACTS)}")


def _offer(hand: str, words: list[str]) -> OfferMove:
    acts: list[Act] = []
    barred: list[tuple[Act, str]] = []
    shown_minor = None
    for before, word in zip(["", *words], words, strict=False):
        reason = _BARRED.fullmatch(word)
        if before == CASH_OUT and word[:1].isdigit():
            shown_minor = _shown(word)
            continue
        act = word if reason is None else reason[1]
        _check_words(hand, act)
        if act in acts or act in dict(barred):
            raise RoundTextError(f"{act} is offered twice")
        if reason is None:
            acts.append(act)
        else:
            barred.append((act, reason[2]))
    return OfferMove(hand, tuple(acts), tuple(barred), shown_minor)


def _shown(text: str) -> int:
    if not _AMOUNT.fullmatch(text):
        raise RoundTextError(f"{text!r} is not a value in minor units, such as 870")
    return _minor(int(text), "the value of cash out")


def _either(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"
