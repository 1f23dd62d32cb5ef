"""Check a refused input against the ledger: what was on offer, and what time it was.

That an input was late, illegal or came when nothing was open any more is a claim of the house. It
is judged like any other, by the ledger's own offers, deadlines and times. Pure.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Final

from shoeproof.ledger import Event
from shoeproof.ledger.leaf.clock import format_time, parse_time
from shoeproof.ledger.leaf.events import DecisionOffered, InputRefused
from shoeproof.replay import findings as codes
from shoeproof.replay.engine.round import Decide, RoundState
from shoeproof.replay.interruptions.waiting import Outage, Waiting
from shoeproof.replay.rounds.shoe_check import Problem

BEFORE_THE_DEAL: Final = ("place stakes", "deal")
"""How the inputs that name no hand are written."""


def check_refusal(
    refusal: Event,
    offered: Event | None,
    laid: Event | None,
    state: RoundState | None,
    waiting: Waiting,
    default_due: datetime | None,
    outages: Iterable[Outage],
) -> Iterator[Problem]:
    """Say that an input was refused although the round was open to it.

    `refusal` is an InputRefused, `offered` the DecisionOffered that stands then, `laid` the last
    StakesPlaced; `state` is that of the cards, None where it is unknown. `default_due` is when the
    system is to act for the player, as it is known at the time of the refusal, None for never.

    An input that could not have been taken was rightly refused, whichever reason was given. What
    was staked is not recorded with a refusal, so that stakes refused as illegal cannot be judged;
    nor can a refused acknowledgement, since which leaves there were when it came is not recorded.
    """
    data, at = refusal.data, parse_time(refusal.at)
    assert isinstance(data, InputRefused)
    if default_due is not None and default_due <= at:
        return
    if data.reason == "closed" and any(each.lasts_at(at) for each in outages):
        return
    if data.reason == "overtaken" and _was_overtaken(data, offered or laid):
        return
    if data.input in BEFORE_THE_DEAL:
        stood = None if data.reason == "illegal" or waiting.dealt else "no deal had been requested"
    else:
        stood = _on_offer(data.input, offered, state)
    if stood is not None:
        timer = "no default was due"
        if default_due is not None:
            timer += f" before {format_time(default_due)}"
        sentence = f"{data.input} was refused as {data.reason} at {refusal.at}"
        yield codes.REFUSAL_WRONG, f"{sentence}: {stood}, and {timer}"


def _was_overtaken(data: InputRefused, stands: Event | None) -> bool:
    """Tell whether the offer or the chips that stand were not there in the input's view yet."""
    return data.view_seq is not None and stands is not None and stands.seq > data.view_seq


def _on_offer(came: str, offered: Event | None, state: RoundState | None) -> str | None:
    """Say since when an input was on offer; None if it was not, or the rules forbade it."""
    offer = None if offered is None else offered.data
    if offered is None or not isinstance(offer, DecisionOffered):
        return None
    hand, _, act = came.partition(" ")
    if hand != offer.hand or act not in offer.legal:
        return None
    if state is not None and not (isinstance(state.due, Decide) and act in state.due.legal):
        return None
    return f"{hand} had been offered {', '.join(offer.legal)} at {offered.at}"
