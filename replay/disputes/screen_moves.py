"""The cards, acts and offers that a screen showed, held to those of the ledger."""

from collections.abc import Iterator, Sequence

from shoeproof.replay.currency import amount_text
from shoeproof.replay.engine.cards import FACE_DOWN
from shoeproof.replay.written.round_text import ActMove, DealMove, Move, OfferMove, StopMove


def moves_differ(
    shown: Sequence[Move], recorded: Sequence[Move], currency: str | None
) -> Iterator[str]:
    """Yield in sentences where the moves of a screen differ from those of the ledger.

    `currency` is that of the values in both, None where they are not to be compared. Of cards and
    acts the first that differs is told: what follows it differs for that reason.
    """
    ledger = [move for move in recorded if isinstance(move, DealMove | ActMove)]
    offers = list(_offers(recorded))
    played = 0
    for move in shown:
        if isinstance(move, OfferMove):
            there = [each for place, each in offers if (place, each.hand) == (played, move.hand)]
            yield from _offer_differs(move, there, currency)
        elif played < len(ledger):
            if not _agree(move, ledger[played], values=currency is not None):
                yield f"the screen showed '{move}' where the ledger has '{ledger[played]}'"
                return
            played += 1
        elif not isinstance(move, StopMove):
            yield f"the screen showed '{move}', which the ledger does not have"
            return


def _agree(shown: Move, recorded: DealMove | ActMove, *, values: bool) -> bool:
    if shown == recorded:
        return True
    if isinstance(shown, DealMove) and isinstance(recorded, DealMove):
        same_place = (shown.receiver, shown.down) == (recorded.receiver, recorded.down)
        return same_place and FACE_DOWN in (shown.card, recorded.card)
    if isinstance(shown, ActMove) and isinstance(recorded, ActMove):
        same_act = (shown.hand, shown.act) == (recorded.hand, recorded.act)
        return same_act and (shown.shown_minor is None or not values)
    return False


def _offers(moves: Sequence[Move]) -> Iterator[tuple[int, OfferMove]]:
    """Yield every offer with how many cards and acts came before it."""
    played = 0
    for move in moves:
        if isinstance(move, OfferMove):
            yield played, move
        elif not isinstance(move, StopMove):
            played += 1


def _offer_differs(
    shown: OfferMove, recorded: Sequence[OfferMove], currency: str | None
) -> Iterator[str]:
    """Hold an offer to those recorded there: it may have been made again, as after a restart."""
    found = [list(_from_one(shown, each, currency)) for each in recorded]
    if not found:
        yield f"the screen showed '{shown}', an offer the ledger does not have there"
    elif all(found):
        yield from found[-1]


def _from_one(shown: OfferMove, recorded: OfferMove, currency: str | None) -> Iterator[str]:
    for act in sorted(set(shown.acts) ^ set(recorded.acts)):
        did, did_not = ("screen", "ledger") if act in shown.acts else ("ledger", "screen")
        yield f"the {did} offers {act} to {shown.hand}, the {did_not} does not"
    values = (shown.shown_minor, recorded.shown_minor)
    if currency is not None and None not in values and values[0] != values[1]:
        screen, ours = (amount_text(value, currency) for value in values)
        yield f"the screen offered {screen} to cash out {shown.hand}, the ledger has {ours}"
