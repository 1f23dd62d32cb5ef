"""What a screen showed at the end of a round, held to its own cards, stakes and balances."""

from collections.abc import Iterator, Sequence

from shoeproof.replay import findings as codes
from shoeproof.replay.currency import amount_text
from shoeproof.replay.engine.outcomes import Outcome
from shoeproof.replay.rounds.shoe_check import Problem
from shoeproof.replay.written.round_text import Bet, RoundText, Screen

_CASH_OUT_LINE = "cash_out"


def result_of(stake_minor: int, paid_minor: int, line: str | None = None) -> str:
    """Return the word for what a bet came to: `win`, `push`, `lose` or `cash-out`."""
    if line == _CASH_OUT_LINE:
        return "cash-out"
    if paid_minor == stake_minor:
        return "push"
    return "win" if paid_minor > stake_minor else "lose"


def screen_problems(
    text: RoundText, bets: Sequence[Outcome], *, stakes_known: bool
) -> Iterator[Problem]:
    """Yield where the screen of a written round contradicts the round as it is judged, or itself.

    `bets` are what the rules make of the round's moves. `stakes_known` says that nothing in them is
    left to play, so that no stake can have been added.
    """
    screen = text.screen
    if screen is None:
        return
    if text.screen_is_foreign:
        sentence = f"the screen's amounts are in {screen.currency}, the stakes in {text.currency}"
        yield codes.SETTLEMENT_MISMATCH, f"{sentence}: they cannot be compared"
        return
    currency = screen.currency or text.currency or ""
    judged = {(each.hand, each.bet): each for each in bets}
    yield from _payments(screen, judged, currency)
    yield from _results(screen, judged)
    if stakes_known:
        yield from _balance(screen, bets, currency)


def _payments(screen: Screen, judged: dict[Bet, Outcome], currency: str) -> Iterator[Problem]:
    for bet, paid in screen.paid.items():
        row, said = judged.get(bet), amount_text(paid, currency)
        what = f"the screen showed {said} paid for {bet[1]} of {bet[0]}"
        if row is None:
            yield codes.SETTLEMENT_MISMATCH, f"{what}, a bet that its stakes and acts do not make"
        elif row.paid_minor not in (None, paid):
            right = amount_text(row.paid_minor, currency)
            sentence = f"{what}, its own cards come to {right} ({row.line})"
            yield codes.SETTLEMENT_MISMATCH, sentence


def _results(screen: Screen, judged: dict[Bet, Outcome]) -> Iterator[Problem]:
    for bet, result in screen.results.items():
        row = judged.get(bet)
        what = f"the screen showed '{result}' for {bet[1]} of {bet[0]}"
        if row is None:
            if bet not in screen.paid:
                sentence = f"{what}, a bet that its stakes and acts do not make"
                yield codes.SETTLEMENT_MISMATCH, sentence
            continue
        paid = screen.paid.get(bet, row.paid_minor)
        if paid is None or (result == "cash-out" and row.line is None):
            continue
        comes_to = result_of(row.stake_minor, paid, row.line)
        if comes_to != result:
            by = "the amount it showed" if bet in screen.paid else "its own cards"
            yield codes.SETTLEMENT_MISMATCH, f"{what}; by {by} it is '{comes_to}'"


def _balance(screen: Screen, bets: Sequence[Outcome], currency: str) -> Iterator[Problem]:
    """Hold the balance after the round to the one before it, the stakes and the payments."""
    before, after = screen.balance_before, screen.balance_after
    paid = [screen.paid.get((each.hand, each.bet), each.paid_minor) for each in bets]
    if before is None or after is None or None in paid:
        return
    staked = sum(each.stake_minor for each in bets)
    total = sum(each or 0 for each in paid)
    if before - staked + total != after:
        had, less, more, comes_to, showed = (
            amount_text(each, currency)
            for each in (before, staked, total, before - staked + total, after)
        )
        sentence = f"the screen's balance was {had}; less {less} staked and with {more} paid it is"
        yield codes.BALANCE_MISMATCH, f"{sentence} {comes_to}, the screen showed {showed}"
