"""A round taken apart: what each card and each decision added to each bet."""

from rich.console import Console
from rich.text import Text

from shoeproof.cli.screen.render import card_text, plain_table
from shoeproof.replay.currency import decimal_places, unit_of
from shoeproof.replay.engine.cards import VALUE
from shoeproof.replay.engine.round import open_round
from shoeproof.replay.luck.kinds import INITIAL_DEAL, LUCK, SKILL
from shoeproof.replay.luck.one_round import Contribution, Decomposition
from shoeproof.replay.luck.recorded import decompose_replay, symbols_of
from shoeproof.replay.rounds.replayer import Replay

_MORE_PLACES = 2
"""Decimals beyond the minor unit: a mean is seldom a whole one."""

NOT_TAKEN_APART = (
    "Luck and skill are told of a closed round whose every move is recorded and allowed."
)


def luck_json(replay: Replay) -> dict[str, object] | None:
    """Return a round taken apart as JSON-ready data, None where it cannot be."""
    apart = decompose_replay(replay)
    if apart is None:
        return None
    return {
        "bets": [
            {
                "seat": bet.seat,
                "bet": bet.bet,
                "initial_stake_minor": bet.initial_stake_minor,
                "start_minor": bet.start_minor,
                "luck_minor": _sum(apart, bet.seat, bet.bet, LUCK),
                "skill_minor": _sum(apart, bet.seat, bet.bet, SKILL),
                "error_minor": bet.error_minor,
                "returned_minor": bet.returned_minor,
            }
            for bet in apart.bets
        ],
        "parts": apart.parts,
    }


def print_luck(out: Console, replay: Replay) -> None:
    """Print what each move added to each bet, from the mean before the first card to the payment.

    The last line of a bet is what was paid less the stakes added after the first.
    """
    apart = decompose_replay(replay)
    if apart is None or replay.requested is None or replay.rules is None:
        out.print(Text(NOT_TAKEN_APART, "yellow"))
        return
    symbols = [
        each for each, _ in symbols_of(replay, open_round(replay.rules, replay.requested.stakes))
    ]
    currency = unit_of(replay.opened)
    amounts = ("luck", "skill", "worth then")
    for bet in apart.bets:
        table = plain_table(f"{bet.seat} {bet.bet}", "", *amounts, right=amounts)
        table.add_row("before the first card", "", "", "", _fine(bet.start_minor, currency))
        for part in apart.parts:
            if (part.seat, part.bet) == (bet.seat, bet.bet):
                luck = _signed(part, LUCK, currency)
                skill = _signed(part, SKILL, currency)
                worth = _fine(part.worth_minor, currency)
                table.add_row(part.kind.replace("_", " "), _card(part, symbols), luck, skill, worth)
        if bet.error_minor:
            error = _fine(bet.error_minor, currency, signed=True)
            table.add_row(Text("error of settlement", "bold red"), "", "", "", error)
        sums = [_sum(apart, bet.seat, bet.bet, term) for term in (LUCK, SKILL)]
        table.add_row(
            Text("returned", "bold"),
            "",
            *(_fine(each, currency, signed=True) for each in sums),
            Text(_fine(bet.returned_minor, currency), "bold"),
        )
        out.print(table)
        out.print()


def _sum(apart: Decomposition, seat: str, bet: str, term: str) -> float:
    mine = [part for part in apart.parts if (part.seat, part.bet) == (seat, bet)]
    return sum(part.amount_minor for part in mine if part.term == term)


def _card(part: Contribution, symbols: list[str]) -> Text:
    if part.term != LUCK or part.kind == INITIAL_DEAL or part.move is None:
        return Text("")
    symbol = symbols[part.move]
    return card_text(symbol) if symbol in VALUE else Text(symbol)


def _signed(part: Contribution, term: str, currency: str) -> str:
    return _fine(part.amount_minor, currency, signed=True) if part.term == term else ""


def _fine(minor: float, currency: str, *, signed: bool = False) -> str:
    places = decimal_places(currency) or 0
    text = f"{minor / 10**places:{'+' if signed else ''},.{places + _MORE_PLACES}f}"
    return text.lstrip("+-") if not float(text.replace(",", "")) else text
