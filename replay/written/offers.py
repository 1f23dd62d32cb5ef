"""What a screen offered, held to the acts and the cash-out table of the rules."""

from collections.abc import Iterator, Sequence

from shoeproof.ledger.leaf.events import DecisionOffered
from shoeproof.replay import findings as codes
from shoeproof.replay.currency import amount_text
from shoeproof.replay.engine.outcomes import outcomes, total_staked_minor
from shoeproof.replay.engine.round import Decide, RoundState, added_stake_minor, describe
from shoeproof.replay.rounds.money_check import check_offer
from shoeproof.replay.rounds.shoe_check import Problem
from shoeproof.replay.written.round_text import ActMove, OfferMove, RoundText


def offer_problems(state: RoundState, move: OfferMove, text: RoundText) -> list[Problem]:
    """Return what is wrong with an offer in the state in which it was made."""
    due = state.due
    if move.hand.split(".")[0] not in text.stakes:
        return [(codes.STAKE_MISSING, f"'{move}' names a seat without a stake")]
    if not isinstance(due, Decide) or due.hand != move.hand:
        sentence = f"{move.hand} was offered a decision where {describe(due)} was due"
        return [(codes.OFFER_NOT_ALLOWED, sentence)]
    # A value that nobody noted is not held against the offer.
    shown = due.cash_out_minor if move.shown_minor is None else move.shown_minor
    offer = DecisionOffered(move.hand, list(move.acts), dict(move.barred), shown, None)
    return [*check_offer(offer, due, text.currency or ""), *_afforded(state, due, move, text)]


def value_problems(
    state: RoundState, move: ActMove, offered: int | None, currency: str
) -> list[Problem]:
    """Return what is wrong with the value written beside a cash out that was taken.

    `offered` is the value the screen offered it at before, which was held to the rules there.
    """
    due, shown = state.due, move.shown_minor
    if shown is None or shown == offered or not isinstance(due, Decide):
        return []
    if offered is not None:
        other = f"{move.hand} was offered {amount_text(offered, currency)} to cash out"
        sentence = f"{other} and took {amount_text(shown, currency)}"
    elif shown == due.cash_out_minor:
        return []
    else:
        right = amount_text(due.cash_out_minor, currency)
        sentence = (
            f"{move.hand} was shown {amount_text(shown, currency)}, the rules' table says {right}"
        )
    return [(codes.CASH_OUT_OFFER_WRONG, sentence)]


def in_every_case(found: Sequence[Sequence[Problem]]) -> list[Problem]:
    """Return what is wrong however the unknown cards are read; `found` holds the problems of each.

    What is wrong with some cards and right with others is not known to be wrong.
    """
    first, *others = found
    shared: dict[Problem, None] = {}
    for code, text in first:
        if all((code, text) in each for each in others):
            shared[code, text] = None
        elif all(code in dict(each) for each in others):
            shared[code, "whatever the unknown card is, this offer is wrong"] = None
    return list(shared)


def _afforded(
    state: RoundState, due: Decide, move: OfferMove, text: RoundText
) -> Iterator[Problem]:
    """Yield the acts that were barred for lack of money that the screen's balance held.

    What the round has paid meanwhile is left out of it: there was at least so much.
    """
    screen = text.screen
    if screen is None or screen.balance_before is None or text.screen_is_foreign:
        return
    left = screen.balance_before - total_staked_minor(outcomes(state))
    for act, reason in move.barred:
        cost = added_stake_minor(state, act) if act in due.legal else None
        if reason == "funds" and cost is not None and 0 < cost <= left:
            has = amount_text(left, text.currency or "")
            sentence = f"{act} of {move.hand} was barred for lack of money, but {has} was left"
            yield codes.OFFER_WITHHELD, sentence
