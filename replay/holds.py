"""Wins that wait for a person: which there are, and their release, once, by a key of the staff."""

import secrets
from collections.abc import Mapping, Sequence

import msgspec

from ledger import Ledger
from ledger.errors import UnknownStream
from ledger.events import HOLDS_PREFIX, RoundOpened, WinHeld, WinReleased
from ledger.recorded import Recorded
from replay.errors import InputRefusedError
from replay.wallet import Wallet


class HeldWin(msgspec.Struct, frozen=True):
    """A win that was held, in minor units of its round's currency, and whether it was released."""

    round: str
    amount_minor: int
    held_at: str
    released_at: str | None


def held_wins(ledger: Ledger) -> list[HeldWin]:
    """Return every win that was ever held, in order."""
    streams: dict[str, list[Recorded]] = {}
    for leaf in ledger.store.under(HOLDS_PREFIX):
        streams.setdefault(leaf.stream, [])
    return [_held_win(ledger.events(stream)) for stream in streams]


def release_win(
    ledger: Ledger,
    round_id: str,
    *,
    wallet: Wallet | None = None,
    after: Mapping[str, int] | None = None,
) -> HeldWin:
    """Release a held win, once it was verified: the staff's key signs, the wallet is credited.

    `after` maps streams by which the caller judged that it may be released to their last `seq`.

    Raises InputRefusedError for a round without a held win or whose win was released before,
    StreamConflict when somebody else releases it at the same time or one of those streams went on,
    KeyUnusable without a key of the staff; nothing is credited then.
    """
    try:
        events = ledger.events(HOLDS_PREFIX + round_id)
    except UnknownStream:
        raise InputRefusedError(f"no win of the round {round_id} is held") from None
    held = _held_win(events)
    if held.released_at is not None:
        raise InputRefusedError(f"the win of {round_id} was released before, {held.released_at}")
    ledger.signer("staff")
    opened = ledger.events(round_id)[0].event.data
    player = opened.player if isinstance(opened, RoundOpened) else ""
    reference = f"{round_id}/held/{secrets.token_hex(4)}"
    funds = None if wallet is None else wallet.credit(player, held.amount_minor, reference)
    released = WinReleased(round_id, held.amount_minor, funds)
    stream = HOLDS_PREFIX + round_id
    try:
        ledger.append((stream, released), after={**(after or {}), stream: events[-1].event.seq})
    except BaseException:
        if wallet is not None:
            wallet.cancel(player, reference)
        raise
    return _held_win(ledger.events(stream))


def _held_win(events: Sequence[Recorded]) -> HeldWin:
    held = [each for each in events if isinstance(each.event.data, WinHeld)]
    released = [each for each in events if isinstance(each.event.data, WinReleased)]
    return HeldWin(
        round=events[0].event.stream.removeprefix(HOLDS_PREFIX),
        amount_minor=sum(_amount(each) for each in held),
        held_at=events[0].event.at,
        released_at=released[-1].event.at if released else None,
    )


def _amount(recorded: Recorded) -> int:
    data = recorded.event.data
    return data.amount_minor if isinstance(data, WinHeld) else 0
