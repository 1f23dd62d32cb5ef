"""Wins that wait for a person: which there are, and their release, by a key of the staff.

A release may be less than what was held, as other software writes it: the rest stays due and is
released later. All releases of a win together never exceed what was held of it.
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from shoeproof.ledger import Ledger
from shoeproof.ledger.errors import UnknownStream
from shoeproof.ledger.leaf.events import (
    BetResettled,
    BetSettled,
    EventData,
    RoundOpened,
    WinHeld,
    WinReleased,
)
from shoeproof.ledger.leaf.recorded import Recorded
from shoeproof.ledger.leaf.streams import DISPUTES_PREFIX, HOLDS_PREFIX
from shoeproof.replay.currency import unit_of
from shoeproof.replay.errors import InputRefusedError
from shoeproof.replay.wallet.credit import credited
from shoeproof.replay.wallet.wallet import AnyWallet, for_round, is_held


class HeldWin(msgspec.Struct, frozen=True):
    """A win that was held, and how much of it was released, in minor units of its round's currency.

    What a case paid of it counts as released. `released_at` is when the last of it was released,
    None while some of it waits.
    """

    round: str
    amount_minor: int
    held_at: str
    released_minor: int
    released_at: str | None

    @property
    def left_minor(self) -> int:
        """What still waits."""
        return max(0, self.amount_minor - self.released_minor)


def held_wins(ledger: Ledger) -> list[HeldWin]:
    """Return every win that was ever held, in order."""
    streams: dict[str, list[Recorded]] = {}
    for leaf in ledger.store.under(HOLDS_PREFIX):
        streams.setdefault(leaf.stream, [])
    rounds = [stream.removeprefix(HOLDS_PREFIX) for stream in streams]
    return [_held_win(ledger, each, ledger.events(HOLDS_PREFIX + each)) for each in rounds]


def release_win(
    ledger: Ledger,
    round_id: str,
    *,
    wallet: AnyWallet | None = None,
    after: Mapping[str, int] | None = None,
) -> WinReleased:
    """Release what is left of a held win, once it was verified, and return what was recorded.

    The staff's key signs, the wallet is credited. `after` maps streams by which the caller judged
    that it may be released to their last `seq`.

    Raises InputRefusedError for a round without a held win or whose win was released before,
    DisputeRefused when the wallet declines, StreamConflict when somebody else releases it at the
    same time or one of those streams went on, KeyUnusable without a key of the staff; nothing is
    credited then.
    """
    stream = HOLDS_PREFIX + round_id
    try:
        events = ledger.events(stream)
    except UnknownStream:
        raise InputRefusedError(f"no win of the round {round_id} is held") from None
    held = _held_win(ledger, round_id, events)
    if held.released_at is not None:
        raise InputRefusedError(f"the win of {round_id} was released before, {held.released_at}")
    ledger.signer("staff")
    opened = ledger.events(round_id)[0].event.data
    begun = opened if isinstance(opened, RoundOpened) else None
    player, currency = ("", "") if begun is None else (begun.player, unit_of(begun))
    paying = None if begun is None else for_round(wallet, begun)
    what, seen = f"{round_id}/held", {**(after or {}), stream: events[-1].event.seq}
    with credited(ledger, stream, paying, player, {what: held.left_minor}, currency) as paid:
        released = WinReleased(round_id, held.left_minor, paid.answers.get(what))
        ledger.append((stream, released), after=seen, records=paid.records)
    return released


def _held_win(ledger: Ledger, round_id: str, events: Sequence[Recorded]) -> HeldWin:
    stream = DISPUTES_PREFIX + round_id
    disputes = ledger.events_of([stream]).get(stream, ())
    held = sum(e.event.data.amount_minor for e in events if isinstance(e.event.data, WinHeld))
    released_minor, released_at = 0, None
    settled = ledger.events(round_id) if disputes else ()
    for each in sorted((*events, *disputes), key=lambda recorded: recorded.leaf_index):
        released_minor += _paid_of_hold(each.event.data, settled)
        if released_minor >= held:
            released_at = released_at or each.event.at
    return HeldWin(
        round=round_id,
        amount_minor=held,
        held_at=events[0].event.at,
        released_minor=released_minor,
        released_at=released_at,
    )


def _paid_of_hold(data: EventData, settled: Iterable[Recorded]) -> int:
    """Return what an event paid of a held win.

    A case that makes a payment whole names less as paid before than was settled: what is between
    the two had been held.
    """
    if isinstance(data, WinReleased):
        return data.amount_minor
    if not isinstance(data, BetResettled):
        return 0
    held = [
        bet.paid_minor
        for each in settled
        if isinstance(bet := each.event.data, BetSettled)
        and (bet.hand, bet.bet) == (data.hand, data.bet)
        and (bet.funds is None or is_held(bet.funds))
    ]
    right = min(max(held, default=0), data.paid_minor)
    return max(0, right - data.paid_before_minor)
