"""What a screen showed, held to what the ledger says and to itself.

The screen is handed in as a `.round` text. One that shows less than the ledger, because the player
left or the hole card was never turned, does not differ from it. Amounts in another currency, and
those of another game, are never taken for amounts of the round.
"""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from shoeproof.ledger.leaf.events import Funds, RoundClosed
from shoeproof.replay import findings as codes
from shoeproof.replay.currency import amount_text
from shoeproof.replay.disputes.facts import Facts
from shoeproof.replay.disputes.grounds import BetFacts
from shoeproof.replay.disputes.screen_moves import moves_differ
from shoeproof.replay.engine.outcomes import Outcome
from shoeproof.replay.engine.rules import Rules
from shoeproof.replay.errors import RoundTextError
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.rounds.money_check import Bet
from shoeproof.replay.rounds.replayer import Replay
from shoeproof.replay.wallet.wallet import recorded_balance_minor
from shoeproof.replay.written.adjudicate import adjudicate
from shoeproof.replay.written.round_text import RoundText, Screen
from shoeproof.replay.written.screen import result_of
from shoeproof.replay.written.transcript import moves_of

_CONTRADICTIONS = (codes.CARD_IMPOSSIBLE, codes.SETTLEMENT_MISMATCH, codes.BALANCE_MISMATCH)


def shown_bets(facts: Facts, shown: RoundText) -> dict[Bet, Outcome]:
    """Return what each bet was paid by the screen: as it said, else as its cards are paid.

    A bet it left open, cards the rules cannot follow, and every payment of a screen in another
    currency or of another game are None.
    """
    rules = None if facts.replay is None else facts.replay.rules
    judged: dict[Bet, Outcome] = {}
    if rules is not None:
        try:
            judgement = adjudicate(shown, rules, {})
        except RoundTextError:
            pass
        else:
            judged = {(each.hand, each.bet): each for each in judgement.bets}
    for bet, paid in _said_paid(shown).items():
        seat = bet[0].split(".")[0]
        stake = shown.stakes.get(seat, {}).get(bet[1], 0)
        known = judged.get(bet, Outcome(seat, *bet, stake, None, None))
        judged[bet] = msgspec.structs.replace(known, paid_minor=paid)
    if _is_comparable(facts, shown):
        return judged
    return {
        bet: msgspec.structs.replace(each, paid_minor=None, line=None)
        for bet, each in judged.items()
    }


def shown_minor(facts: Facts, shown: RoundText) -> int | None:
    """Return what the screen showed as paid in all, in minor units of the round's currency.

    What it left open counts nothing. None where its amounts are in another currency or of another
    game, and so no amounts of this round.
    """
    if not _is_comparable(facts, shown):
        return None
    return sum(each.paid_minor or 0 for each in shown_bets(facts, shown).values())


def contradictions(shown: RoundText, rules: Rules | None, currency: str = "") -> list[str]:
    """Return in sentences where a screen contradicts itself, whatever the ledger says.

    Its cards do not make what it says it paid, its balances do not follow from its stakes and
    payments, or it shows a card more often than the shoe holds it. `rules` are those of the round;
    a screen of another game is held to its own. Where it names no currency, its amounts are told in
    the round's `currency`.
    """
    if rules is None or shown.game != rules.id:
        rules = GAMES[shown.game].rules if shown.game in GAMES else None
    if rules is None:
        return []
    shown = msgspec.structs.replace(shown, currency=shown.currency or currency or None)
    said = shown.screen or Screen({}, {})
    said = msgspec.structs.replace(said, paid=_said_paid(shown))
    try:
        judgement = adjudicate(msgspec.structs.replace(shown, screen=said, expect={}), rules, {})
    except RoundTextError:
        return []
    return [
        f"the screen contradicts itself: {found.text}"
        for found in judgement.findings
        if found.code in _CONTRADICTIONS
    ]


def differences(facts: Facts, bets: Sequence[BetFacts], shown: RoundText) -> list[str]:
    """Return in sentences where the screen showed what the ledger does not say."""
    replay = facts.replay
    return [] if replay is None else list(_differences(facts, bets, replay, shown))


def _differences(
    facts: Facts, bets: Sequence[BetFacts], replay: Replay, shown: RoundText
) -> Iterator[str]:
    if _is_of_another_game(replay.rules, shown):
        ours = "" if replay.rules is None else replay.rules.id
        yield f"the screen showed {shown.game}, the round is of {ours}"
    theirs = _currency(shown, facts)
    same_currency = theirs == facts.currency
    if not same_currency:
        yield (
            f"the screen showed amounts in {theirs}, the round is in {facts.currency}: they cannot "
            "be compared, and none of them is taken for an amount of this round"
        )
    staked = {} if replay.requested is None else replay.requested.stakes
    if same_currency:
        yield from _stakes(shown.stakes, staked, facts.currency)
    else:
        yield from _bets_unknown(shown.stakes, staked)
    yield from moves_differ(shown.moves, moves_of(replay), theirs if same_currency else None)
    yield from _payments(bets, shown, theirs if same_currency else None)
    if same_currency and shown.screen is not None:
        yield from _balances(replay, shown.screen, facts.currency)


def _said_paid(shown: RoundText) -> dict[Bet, int]:
    """Return what the screen said it paid: `[screen.paid]`, in round/v1 `[expect]`."""
    return shown.expect | ({} if shown.screen is None else shown.screen.paid)


def _currency(shown: RoundText, facts: Facts) -> str:
    """Return the currency of the screen, the round's where the screen names none."""
    own = None if shown.screen is None else shown.screen.currency
    return own or shown.currency or facts.currency


def _is_of_another_game(rules: Rules | None, shown: RoundText) -> bool:
    return rules is not None and shown.game != rules.id


def _is_comparable(facts: Facts, shown: RoundText) -> bool:
    rules = None if facts.replay is None else facts.replay.rules
    return _currency(shown, facts) == facts.currency and not _is_of_another_game(rules, shown)


# Stakes and money


def _stakes(
    shown: Mapping[str, Mapping[str, int]],
    recorded: Mapping[str, Mapping[str, int]],
    currency: str,
) -> Iterator[str]:
    for seat, bets in shown.items():
        for bet, minor in bets.items():
            known = recorded.get(seat, {}).get(bet)
            if known != minor:
                screen, ours = amount_text(minor, currency), amount_text(known, currency)
                shown_stake = f"the screen showed a {bet} stake of {screen} at {seat}"
                yield f"{shown_stake}, the ledger has {ours}"


def _bets_unknown(
    shown: Mapping[str, Mapping[str, int]], recorded: Mapping[str, Mapping[str, int]]
) -> Iterator[str]:
    for seat, bets in shown.items():
        for bet in bets:
            if bet not in recorded.get(seat, {}):
                yield f"the screen showed a {bet} stake at {seat}, the ledger has no such bet"


def _payments(bets: Sequence[BetFacts], shown: RoundText, currency: str | None) -> Iterator[str]:
    """Yield where payments differ; only results are compared where the currency is None."""
    rows = {(each.hand, each.bet): each for each in bets}
    paid = _said_paid(shown)
    results = {} if shown.screen is None else shown.screen.results
    for hand, bet in {**paid, **results}:
        row, amount = rows.get((hand, bet)), paid.get((hand, bet))
        if row is None:
            yield f"the screen showed {bet} of {hand} settled, the ledger has no such bet"
        elif amount is None or currency is None:
            result = results.get((hand, bet))
            ours = _result_of(row)
            if None not in (result, ours) and result != ours:
                yield f"the screen showed '{result}' for {bet} of {hand}, the ledger has '{ours}'"
        elif amount not in (row.paid_minor, row.by("right_payment")):
            screen = amount_text(amount, currency)
            recorded = amount_text(row.paid_minor, currency)
            yield f"the screen showed {screen} paid for {bet} of {hand}, the ledger has {recorded}"


def _balances(replay: Replay, screen: Screen, currency: str) -> Iterator[str]:
    before, after = _recorded_balances(replay)
    for when, shown, ours in (
        ("before", screen.balance_before, before),
        ("after", screen.balance_after, after),
    ):
        if shown is not None and ours is not None and shown != ours:
            screen_text, our_text = amount_text(shown, currency), amount_text(ours, currency)
            yield (
                f"the screen showed a balance of {screen_text} {when} the round, the wallet "
                f"recorded {our_text}"
            )


def _recorded_balances(replay: Replay) -> tuple[int | None, int | None]:
    """Return the wallet's balance before the first stake and, once it closed, after the round."""
    first = None if replay.requested is None else replay.requested.funds
    closed = isinstance(replay.ending, RoundClosed)
    events = [each.recorded for each in replay.steps]
    return _balance_before(first), recorded_balance_minor(events) if closed else None


def _balance_before(debit: Funds | None) -> int | None:
    if debit is None or debit.balance_after_minor is None or debit.direction != "debit":
        return None
    return debit.balance_after_minor - debit.change_minor


def _result_of(row: BetFacts) -> str | None:
    if row.paid_minor is None:
        return None
    return result_of(row.stake_minor, row.paid_minor, row.line)
