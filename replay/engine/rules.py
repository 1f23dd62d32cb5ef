"""What a game's rules can contain, as data, and the digest that pins them.

A `Rules` value holds exactly what changes a card, a legal act or a payment: nothing about where a
clause comes from, what is published, or the table's limits. It checks itself when it is made,
whether from one of the constants in `replay/games` or from an operator's rules file, so a rule set
that exists can be played. Invariants: odds are positive fractions, the last settlement line
catches everything, and the canonical JSON of equal rules is equal.
"""

import hashlib
import re
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final, Literal, TypeAlias

import msgspec

from shoeproof.replay.errors import RulesError

DealStep: TypeAlias = Literal["seats", "up", "down"]
UpCard: TypeAlias = Literal["ace", "ten"]
Rounding: TypeAlias = Literal["half_up", "down"]
Origin: TypeAlias = Literal["initial", "split", "zapped"]
PlayerKind: TypeAlias = Literal["bust", "natural", "made", "cash_out", "even_money"]
DealerKind: TypeAlias = Literal["bust", "natural", "made"]
Comparison: TypeAlias = Literal["above", "equal", "below"]

UP_COLUMNS: Final = ("2", "3", "4", "5", "6", "7", "8", "9", "10", "A")
"""The columns of every table that is read by the dealer's up card."""

HAND_CLASSES: Final = tuple(
    [f"hard{total}" for total in range(4, 21)] + [f"soft{total}" for total in range(12, 21)]
)
"""Every total a hand can be decided on; 21 stands by itself."""

_id_form = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}").fullmatch
_odds_form = re.compile(r"-?[0-9]{1,9}(?:[/.][0-9]{1,9})?").fullmatch

PAIR_LINES: Final = ("perfect_pair", "coloured_pair", "mixed_pair")
THREE_CARD_LINES: Final = ("suited_trips", "straight_flush", "three_of_a_kind", "straight", "flush")


class _Rule(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=False
):
    """A frozen record that refuses fields it does not know."""


class Insurance(_Rule, frozen=True):
    """A stake of half the main stake that the dealer has a natural; offered on an ace up."""

    odds: Fraction
    to_naturals: bool

    def __post_init__(self) -> None:
        """Refuse odds that take money."""
        _require(self.odds > 0, "odds", "must be above 0")


class Double(_Rule, frozen=True):
    """When a hand of two cards may double; `totals` None is any total.

    A soft hand counts by its low total where `soft_by_low_total`, and never qualifies by it
    otherwise.
    """

    totals: tuple[int, ...] | None
    soft_by_low_total: bool
    after_split: bool
    after_zap: bool

    def __post_init__(self) -> None:
        """Refuse totals two cards cannot have."""
        for total in self.totals or ():
            _require(2 <= total <= 21, "totals", f"{total} is not a total of two cards")


class Split(_Rule, frozen=True):
    """When two cards may become two hands: once, as the hand's first act."""

    pair_by: Literal["rank", "value"]
    aces: bool
    aces_draw_on: bool


class Zap(_Rule, frozen=True):
    """Two cards of one of these totals may be swapped for two others, as the hand's first act."""

    totals: tuple[int, ...]
    soft: bool

    def __post_init__(self) -> None:
        """Refuse totals two cards cannot have."""
        for total in self.totals:
            _require(4 <= total <= 20, "totals", f"{total} is not a total of two undecided cards")


RatioTable: TypeAlias = dict[str, tuple[Fraction, ...]]
"""Hand class (`hard16`, `soft18`) to ten ratios, one per up card 2 … 10, A."""


class CashOut(_Rule, frozen=True):
    """What a hand may be sold for, as a ratio of its main stake."""

    first: RatioTable
    later: RatioTable
    split_hands: bool

    def __post_init__(self) -> None:
        """Demand a ratio for every class and up card."""
        for block, table in (("first", self.first), ("later", self.later)):
            missing = [name for name in HAND_CLASSES if name not in table]
            _require(not missing, block, f"has no row {', '.join(missing)}")
            unknown = [name for name in table if name not in HAND_CLASSES]
            _require(not unknown, block, f"has a row {', '.join(unknown)} that no hand can have")
            for name, row in table.items():
                _require(len(row) == len(UP_COLUMNS), f"{block}.{name}", "needs ten ratios")
                _require(all(ratio >= 0 for ratio in row), f"{block}.{name}", "has a negative one")


class When(_Rule, frozen=True):
    """The facts a settlement line asks for; None asks for nothing.

    `player` and `dealer` are kinds of hand, `cards` and `total` the player's exact count and
    total, `comparison` the player's total against the dealer's.
    """

    player: PlayerKind | None = None
    suited: bool | None = None
    origin: Origin | None = None
    cards: int | None = None
    total: int | None = None
    dealer: DealerKind | None = None
    dealer_total: int | None = None
    comparison: Comparison | None = None

    @property
    def needs_dealer(self) -> bool:
        """Tell whether the line can only be read once the dealer's hand is known."""
        dealer_facts = (self.dealer, self.dealer_total, self.comparison)
        return any(fact is not None for fact in dealer_facts)


class SettlementLine(_Rule, frozen=True):
    """One line of the settlement table: its name, when it applies, and what it pays.

    `pays` is odds such as `3/2`, or `push` (the stake back), `lose` (nothing), `offer` (the value
    shown with the cash-out offer).
    """

    name: str
    when: When
    pays: str

    def __post_init__(self) -> None:
        """Refuse a payment that cannot be read; write odds in lowest terms."""
        if self.pays not in ("push", "lose", "offer"):
            odds = read_odds(self.pays)
            _require(odds > 0, "pays", "must be odds above 0, push, lose or offer")
            msgspec.structs.force_setattr(self, "pays", _write_fraction(odds))


class SideBet(_Rule, frozen=True):
    """A bet on the initial cards: `pair` on the hand's two, `three_card` with the up card too."""

    on: Literal["pair", "three_card"]
    pays: dict[str, Fraction]
    ace_high_and_low: bool = True

    def __post_init__(self) -> None:
        """Demand odds for known lines only."""
        known = PAIR_LINES if self.on == "pair" else THREE_CARD_LINES
        for name, odds in self.pays.items():
            _require(name in known, "pays", f"{name} is not one of {', '.join(known)}")
            _require(odds > 0, f"pays.{name}", "must be above 0")


class Rules(_Rule, frozen=True):
    """A game: one field a clause. The digest covers all of them."""

    id: str
    decks: int
    seats: int
    deal_order: tuple[DealStep, ...]
    dealer_hits_soft_17: bool
    dealer_checks: tuple[UpCard, ...]
    insurance: Insurance | None
    even_money: bool
    double: Double
    split: Split
    zap: Zap | None
    cash_out: CashOut | None
    max_cards: int | None
    settlement: tuple[SettlementLine, ...]
    side_bets: dict[str, SideBet]
    rounding: Rounding
    insurance_rounding: Rounding

    def __post_init__(self) -> None:
        """Check what holds between fields."""
        plain = "must be a name of lower-case letters, digits, dots, dashes and underscores"
        _require(_id_form(self.id) is not None, "id", plain)
        _require(1 <= self.decks <= 8, "decks", "must be 1 to 8")
        _require(1 <= self.seats <= 9, "seats", "must be 1 to 9")
        _require(
            sorted(self.deal_order) == ["down", "seats", "seats", "up"],
            "deal_order",
            "must hold seats twice, up once and down once",
        )
        _require(self.deal_order[0] == "seats", "deal_order", "must begin with the seats")
        if self.max_cards is not None:
            _require(self.max_cards >= 3, "max_cards", "must be at least 3")
        _require(bool(self.settlement), "settlement", "needs at least one line")
        _require(self.settlement[-1].when == When(), "settlement", "must end with a catch-all line")
        names = [line.name for line in self.settlement]
        _require(len(set(names)) == len(names), "settlement", "names a line twice")
        reserved = {"main", "insurance"} & set(self.side_bets)
        _require(not reserved, "side_bets", "cannot be called main or insurance")

    @property
    def bets(self) -> tuple[str, ...]:
        """Return the bets a seat can stake before the deal, the main bet first."""
        return ("main", *self.side_bets)


def read_odds(text: str) -> Fraction:
    """Read odds such as `3/2`, `2` or `0.86`; raise ValueError for anything else."""
    try:
        # `Fraction` alone would also take `1e999999999`, and not come back.
        if _odds_form(text):
            return Fraction(text)
    except ZeroDivisionError:
        pass
    raise ValueError(f"{text!r} is not valid odds; write them like 3/2") from None


def canonical_rules(rules: Rules) -> bytes:
    """Return the canonical JSON (RFC 8785) of a rule set; odds are `n/d` in lowest terms."""
    return msgspec.json.encode(rules, order="sorted", enc_hook=_write_fraction)


@lru_cache(maxsize=256)
def _digest(canonical: bytes) -> str:
    return hashlib.sha256(canonical).hexdigest()


def with_every_act(rules: Rules) -> Rules:
    """Return rules that allow every double and split that some blackjack allows.

    They pay as these do: an act that was taken against the rules is followed by them.
    """
    double = msgspec.structs.replace(rules.double, totals=None, after_split=True, after_zap=True)
    split = msgspec.structs.replace(rules.split, pair_by="value", aces=True)
    return msgspec.structs.replace(rules, double=double, split=split)


def rules_digest(rules: Rules) -> str:
    """Return the lower-hex SHA-256 of the canonical JSON."""
    return _digest(canonical_rules(rules))


def rules_from_data(data: Any) -> Rules:
    """Build rules from parsed JSON; raise RulesError naming the first field that is wrong."""
    try:
        return msgspec.convert(data, Rules, dec_hook=_read_fraction)
    except (msgspec.ValidationError, ValueError) as error:
        raise RulesError(f"these rules are not valid: {error}") from None


def rules_from_json(text: bytes) -> Rules:
    """Build rules from a JSON file's bytes; raise RulesError naming what is wrong."""
    try:
        data = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RulesError(f"this is not JSON: {error}") from None
    return rules_from_data(data)


def _write_fraction(value: object) -> str:
    if isinstance(value, Fraction):
        return f"{value.numerator}/{value.denominator}"
    raise TypeError(f"{type(value).__name__} is not allowed in rules")


def _read_fraction(kind: type, value: object) -> object:
    if kind is Fraction and isinstance(value, Fraction):
        return value
    if kind is Fraction and isinstance(value, str):
        return read_odds(value)
    raise ValueError(f"expected odds written like '3/2', got {value!r}")


def _require(holds: bool, field: str, why: str) -> None:
    if not holds:
        raise ValueError(f"{field} {why}")
