"""Rounds as words: every distinct thing that an event can say is a symbol with a number.

A ledger repeats itself: of the texts of its cards, decisions and settlements few are distinct.
Each text is decoded once, by the very decoder that reads it elsewhere, and becomes a row of
numbers; a round is the sequence of its rows' numbers, beside what is its own alone: its id, the
commitment, the seed, the player's seed. A row that is not `CLEAN` says that its event contradicts
itself, or says what no row can hold: its rounds are for the replayer.
"""

import re
from typing import Any, Final, TypeAlias

import msgspec
import numpy as np

from shoeproof.ledger.leaf import events, layout
from shoeproof.ledger.leaf.events import EventData, Funds, Limit, Stakes
from shoeproof.replay.engine.cards import VALUE
from shoeproof.replay.engine.hand import DECLINE, INSURANCE
from shoeproof.replay.engine.round import NATURAL, NO_NATURAL, Decide, stakes_minor
from shoeproof.replay.engine.shoe import MAX_CLIENT_SEED_BYTES, SEED_BYTES
from shoeproof.replay.kernel.tables import ACT_BIT, ACTS, DOWN, NUMBER, Ints, act_mask
from shoeproof.replay.rounds.money_check import check_offer
from shoeproof.replay.rounds.shoe_check import seed_bytes

Row: TypeAlias = tuple[int, ...]

(KIND, SEAT, HALF, SYMBOL, INDEX, STAKE, PAID, OFFERED, WITHHELD, BET, LINE, CLEAN, LETTER,
 COLUMN, MOVES) = range(15)  # fmt: skip
"""The numbers of a row. SEAT is 0 for the dealer, HALF 1 or 2 after a split. OFFERED are acts as
ACT_BIT, WITHHELD those that an offer may leave out. BET and LINE are numbers of names. STAKE and
PAID are minor units: of a settlement, of the totals, the stake a decision adds, the value offered
(PAID); of the openings, placed chips and deals STAKE is the number of a text, and PAID of a deal
is the total of its stakes, of an opening 1 where it is for fun. LETTER numbers what
a row says apart from its cards and amounts. COLUMN is that of a hand or of the dealer, MOVES
whether a card or an act moves it."""
_WIDTH: Final = 15

MAIN, INSURANCE_BET = range(2)
"""The numbers of these two names."""

SEATS: Final = 10
"""The dealer and nine seats."""

COLUMNS: Final = 2 * SEATS
"""Two hands for each seat; the dealer has the first column."""

(IGNORED, OPENED, COMMITTED, PLACED, REQUESTED, CARD, CHECKED, SHOWN, OFFER, DECISION, SETTLED,
 REVEALED, CLOSED, OTHER) = range(14)  # fmt: skip
"""What kinds of rows there are. OTHER is for events that only the replayer judges."""

LARGEST: Final = 1 << 53
"""Amounts beyond it are left to the replayer, whose integers have no end."""

_IGNORED = {
    "InputRefused", "ViewAcknowledged", "ConnectionLost", "ConnectionRestored",
}  # fmt: skip
_HANDS: Final = {"dealer": (0, 0)} | {
    f"s{seat}{f'.{half}' if half else ''}": (seat, half)
    for seat in range(1, 10)
    for half in (0, 1, 2)
}
_MOST_TEXTS: Final = 200_000
_DEADLINE: Final = b'"deadline":"'
_is_time = re.compile(rb'([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{15}Z)"').match
_MOST_COURSES: Final = 100_000
_ANSWERS: Final = {NUMBER[INSURANCE], NUMBER[DECLINE]}


class _Deal(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """DealRequested with its stakes as text."""

    stakes: msgspec.Raw
    client_seed: str
    funds: Funds | None


_Opened = msgspec.defstruct(
    "_Opened",
    [
        (field.name, msgspec.Raw if field.name == "limits" else field.type, field.default)
        for field in msgspec.structs.fields(events.RoundOpened)
    ],
    frozen=True,
    forbid_unknown_fields=True,
)

_decode_deal = msgspec.json.Decoder(_Deal).decode
_decode_opened: Any = msgspec.json.Decoder(_Opened).decode
_decode_stakes = msgspec.json.Decoder(Stakes).decode
_decode_limits = msgspec.json.Decoder(dict[str, Limit] | None).decode
_decode = {name: msgspec.json.Decoder(cls).decode for name, cls in events.EVENTS.items()}


class NumberedTexts:
    """Texts or names by number, and numbers by name."""

    def __init__(self, *first: Any) -> None:
        """Begin with some."""
        self.items: list[Any] = list(first)
        self._numbers: dict[Any, int] = {item: number for number, item in enumerate(first)}

    def number(self, item: Any) -> int:
        """Return the number of an item, a new one for a new item."""
        number = self._numbers.get(item)
        if number is None:
            number = self._numbers[item] = len(self.items)
            self.items.append(item)
        return number


class Vocabulary:
    """The rows met so far. It grows with what is distinct; begin another when it `is_full`."""

    def __init__(self) -> None:
        """Begin with no row.

        `courses` says which courses of play are right, see `bulk.courses`; `known` are the rows of
        texts that were read before, by the names of their events.
        """
        self.rows = NumberedTexts()
        self.names = NumberedTexts("main", "insurance")
        self.openings = NumberedTexts()
        self.forms = NumberedTexts()
        self.courses: dict[bytes, bool] = {}
        self.stakes: list[Stakes] = []
        self._stakes_read: dict[bytes, tuple[int, int]] = {}
        self._limits: dict[bytes, dict[str, Limit] | None] = {}
        self._texts: dict[str, dict[bytes, int]] = {name: {} for name in events.EVENTS}
        self.known = {name.encode(): texts for name, texts in self._texts.items()}
        self._opened_rows: dict[tuple[str, bytes, str], int] = {}
        self._requested_rows: dict[int, int] = {}
        self._bare_rows: dict[events.DecisionMade | events.BetSettled, int] = {}
        self._room = _MOST_TEXTS
        self._letters = NumberedTexts()
        self._table: Ints = np.zeros((_WIDTH, 0), np.int64)
        self._commits = self._row(COMMITTED)
        self._reveals = self._row(REVEALED)

    @property
    def is_full(self) -> bool:
        """Tell whether so much is distinct that another vocabulary should be begun."""
        return self._room < 0 or len(self.courses) > _MOST_COURSES

    def table(self) -> Ints:
        """Return the rows as an array of integers, (numbers of a row, rows)."""
        new = self.rows.items[self._table.shape[1] :]
        if new:
            self._table = np.hstack([self._table, np.array(new, np.int64).T])
        return self._table

    def read(self, kind: str, text: bytes, own: "RoundColumns") -> int:
        """Return the row of an event's data and note in `own` what is the round's alone.

        Raises msgspec.ValidationError or ValueError for data that is not of its kind, as reading
        the event does.
        """
        if kind == "DecisionOffered":
            text = _without_deadline(text, own)
        elif kind == "RoundClosed":
            text = layout.without_seen(text)
        texts = self._texts[kind]
        row = texts.get(text)
        if row is not None:
            return row
        if kind == "RoundOpened":
            return self._opened(text, own)
        if kind == "DealRequested":
            return self._requested(text, own)
        data = _decode[kind](text)
        if isinstance(data, events.ShoeCommitted):
            own.commitment = hex_bytes(data.commitment)
            return self._commits
        if isinstance(data, events.ShoeRevealed):
            own.seed = seed_bytes(data.seed)
            return self._reveals
        if isinstance(data, events.DecisionMade | events.BetSettled) and data.funds is not None:
            return self._with_funds(kind, data, data.funds, own)
        row = self._say(kind, data)
        self._room -= 1
        texts[text] = row
        return row

    def _opened(self, text: bytes, own: "RoundColumns") -> int:
        data = _decode_opened(text)
        limits = bytes(data.limits)
        if limits not in self._limits:
            # Held to its type once, and only then remembered.
            self._limits[limits] = _decode_limits(limits)
        own.rules_digest = own.rules_digest or data.rules_digest
        own.policy_digest = data.policy_digest
        opening = (data.rules_digest, limits)
        row = self._opened_rows.get((*opening, data.mode))
        if row is None:
            number = self.openings.number(opening)
            row = self._row(OPENED, stake=number, paid=data.mode == "fun")
            self._opened_rows[*opening, data.mode] = row
        return row

    def limits(self, opening: int) -> dict[str, Limit] | None:
        """Return the limits of an opening by its number."""
        return self._limits[self.openings.items[opening][1]]

    def _requested(self, text: bytes, own: "RoundColumns") -> int:
        data = _decode_deal(text)
        number, total = self._stakes(bytes(data.stakes))
        own.client_seed = seed_bytes(data.client_seed)
        row = self._requested_rows.get(number)
        if row is None:
            row = self._requested_rows[number] = self._row(REQUESTED, stake=number, paid=total)
        if data.funds is not None:
            own.funds.append((row, data.funds))
        return row

    def _with_funds(
        self,
        kind: str,
        data: events.DecisionMade | events.BetSettled,
        funds: Funds,
        own: "RoundColumns",
    ) -> int:
        """Note what a wallet said, of which none is like another; the row is as if it said nothing.

        Whether the wallet's movements are right is asked of the round (`bulk.wallets`).
        """
        bare = msgspec.structs.replace(data, funds=None)
        row = self._bare_rows.get(bare)
        if row is None:
            row = self._bare_rows[bare] = self._say(kind, bare)
            self._room -= 1
        own.funds.append((row, funds))
        return row

    def _stakes(self, text: bytes) -> tuple[int, int]:
        """Return the number of stakes and their total."""
        known = self._stakes_read.get(text)
        if known is None:
            stakes = _decode_stakes(text)
            total = stakes_minor(stakes)
            known = self._stakes_read[text] = len(self.stakes), total
            self.stakes.append(stakes)
            self._room -= 1
        return known

    def _say(self, kind: str, data: EventData) -> int:
        if kind in _IGNORED:
            return self._row(IGNORED)
        match data:
            case events.StakesPlaced(stakes=stakes):
                number, _ = self._stakes(msgspec.json.encode(stakes))
                return self._row(PLACED, stake=number)
            case events.CardDealt(card=card):
                symbol = card if isinstance(card, str) else DOWN
                return self._row(
                    CARD, data.receiver, symbol=symbol, index=data.shoe_index,
                    clean=symbol in VALUE or symbol == DOWN,
                )  # fmt: skip
            case events.DealerChecked(natural=natural):
                return self._row(CHECKED, symbol=NATURAL if natural else NO_NATURAL)
            case events.HoleCardShown(card=shown):
                return self._row(SHOWN, symbol=shown, clean=shown in VALUE)
            case events.DecisionOffered():
                return self._offer(data)
            case events.DecisionMade():
                # Whether another than the player may decide is the policy's business.
                clean = data.act in ACT_BIT and data.actor == "player"
                return self._row(
                    DECISION, data.hand, symbol=data.act, stake=data.added_stake_minor, clean=clean
                )
            case events.BetSettled():
                clean = data.hand.partition(".")[0] == data.seat
                return self._row(
                    SETTLED, data.hand, stake=data.stake_minor, paid=data.paid_minor,
                    bet=data.bet, line=data.line, clean=clean,
                )  # fmt: skip
            case events.RoundClosed():
                return self._row(CLOSED, stake=data.total_staked_minor, paid=data.total_paid_minor)
        return self.other()

    def other(self) -> int:
        """Return the row of an event that only the replayer judges."""
        return self._row(OTHER, clean=False)

    def _offer(self, offer: events.DecisionOffered) -> int:
        known = all(act in ACT_BIT for act in offer.legal)
        # An act may be left out when leaving it out is no finding.
        bare = msgspec.structs.replace(offer, legal=[])
        spared = [act for act in ACTS if not any(check_offer(bare, Decide(offer.hand, (act,))))]
        return self._row(
            OFFER,
            offer.hand,
            paid=-1 if offer.cash_out_minor is None else offer.cash_out_minor,
            offered=act_mask(offer.legal) if known else 0,
            withheld=act_mask(spared),
            clean=known,
        )

    def _row(
        self,
        kind: int,
        hand: str = "dealer",
        *,
        symbol: str = DOWN,
        index: int = 0,
        stake: int = 0,
        paid: int = 0,
        offered: int = 0,
        withheld: int = 0,
        bet: str = "main",
        line: str = "main",
        clean: bool = True,
    ) -> int:
        seat, half = _HANDS.get(hand, (-1, 0))
        fits = all(abs(number) < LARGEST for number in (index, stake, paid))
        if not fits:
            index = stake = paid = 0
        clean = clean and fits and seat >= 0
        number, bet_number = NUMBER.get(symbol, NUMBER[DOWN]), self.names.number(bet)
        # Which card it is does not matter to the course of a round, only that it can be seen.
        told = max(number, NUMBER[DOWN] - 1)
        letter = kind, seat, half, told, offered, withheld, bet_number, clean
        moves = kind in (CARD, SHOWN) or (kind == DECISION and number not in _ANSWERS)
        return self.rows.number((
            kind, seat, half, number, index, stake, paid, offered, withheld, bet_number,
            self.names.number(line), clean, self._letters.number(letter),
            2 * max(seat, 0) + (half == 2), moves,
        ))  # fmt: skip


class RoundColumns(msgspec.Struct, gc=False):
    """What is a round's alone among the rounds of a batch; None for what was not said.

    A commitment that is no lower hex is no commitment. `deadlines` are those of its offers, in
    order; one that is no time is empty. `funds` are a wallet's movements, in order, each beside the
    row of the event it is of.
    """

    round_id: str
    commitment: bytes | None = None
    seed: bytes | None = None
    client_seed: bytes | None = None
    rules_digest: str | None = None
    policy_digest: str | None = None
    deadlines: list[str | None] = []
    funds: list[tuple[int, Funds]] = []

    @property
    def has_seeds(self) -> bool:
        """Tell whether a shoe can be built from the seeds."""
        seed, client_seed = self.seed, self.client_seed
        return (
            seed is not None
            and len(seed) == SEED_BYTES
            and client_seed is not None
            and len(client_seed) <= MAX_CLIENT_SEED_BYTES
        )


def _without_deadline(text: bytes, own: RoundColumns) -> bytes:
    """Return an offer's text without its deadline, of which none is like another; note that.

    Only what has the form of a time is cut out, so that the rest reads as the whole does. No
    string can hold the bytes looked for, and of the members after the deadline none has its name.
    """
    start = text.rfind(_DEADLINE) + len(_DEADLINE)
    found = None if start < len(_DEADLINE) else _is_time(text, start)
    if found is None:
        # A deadline of another form is none that a policy gives.
        own.deadlines.append(None if start < len(_DEADLINE) else "")
        return text
    own.deadlines.append(found[1].decode())
    return b"%bnull%b" % (text[: start - 1], text[found.end() :])


def hex_bytes(text: str) -> bytes | None:
    """Return the bytes that a text of lower hex, and no other text, is written for; else None."""
    found = seed_bytes(text)
    return found if found is not None and found.hex() == text else None
