"""One line of text for each event of a round, its cards in the colours of their suits."""

from datetime import tzinfo
from typing import Final

from rich.text import Text

from shoeproof.cli.screen.render import plain
from shoeproof.ledger.leaf.events import DecisionMade, RoundOpened
from shoeproof.replay.currency import unit_of
from shoeproof.replay.rounds.narrative import describe
from shoeproof.replay.rounds.replayer import Step

_RED_CARD: Final = r"\b(?:10|[A2-9JQK])[♦♥]"
_BLACK_CARD: Final = r"\b(?:10|[A2-9JQK])[♣♠]"


def describe_event(step: Step, opened: RoundOpened, zone: tzinfo) -> Text:
    """Return in one line what an event says, with the running total after a card.

    Times are as clocks of `zone` show them.
    """
    data = step.recorded.event.data
    line = Text(plain(describe(data, step.state, unit_of(opened), zone)))
    line.highlight_regex(_RED_CARD, "bold red")
    line.highlight_regex(_BLACK_CARD, "bold")
    if isinstance(data, DecisionMade):
        line.highlight_words([data.act], "bold")
    return line
