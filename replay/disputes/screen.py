"""What a screen showed, held to what the ledger says.

The screen is handed in as a `.round` text. One that shows less than the ledger, because the player
left or the hole card was never turned, does not differ from it.
"""

from collections.abc import Iterator, Mapping

from replay.adjudicate import adjudicate
from replay.currency import amount_text
from replay.disputes.facts import Facts
from replay.engine.cards import FACE_DOWN
from replay.engine.outcomes import Outcome
from replay.errors import RoundTextError
from replay.money_check import Bet
from replay.round_text import DealMove, Move, RoundText
from replay.transcript import moves_of


def shown_bets(facts: Facts, shown: RoundText) -> dict[Bet, Outcome]:
    """Return what each bet was paid by the screen: as it said, else as its cards are paid.

    A bet it left open, or cards the rules cannot follow, are None.
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
    for bet, paid in shown.expect.items():
        stake = shown.stakes.get(bet[0].split(".")[0], {}).get(bet[1], 0)
        known = judged.get(bet, Outcome(bet[0].split(".")[0], *bet, stake, None, None))
        judged[bet] = Outcome(known.seat, *bet, known.stake_minor, paid, known.line)
    return judged


def differences(facts: Facts, shown: RoundText) -> Iterator[str]:
    """Yield in sentences where the screen showed what the ledger does not say."""
    replay = facts.replay
    if replay is None:
        return
    if replay.rules is not None and shown.game != replay.rules.id:
        yield f"the screen showed {shown.game}, the round is of {replay.rules.id}"
    staked = {} if replay.requested is None else replay.requested.stakes
    yield from _stakes(shown.stakes, staked, facts.currency)
    yield from _moves(shown.moves, moves_of(replay))
    for (hand, bet), paid in shown.expect.items():
        row = next((each for each in facts.bets if (each.hand, each.bet) == (hand, bet)), None)
        if row is None:
            yield f"the screen showed {bet} of {hand} paid, the ledger has no such bet"
        elif paid not in (row.paid_minor, row.right_minor):
            screen = amount_text(paid, facts.currency)
            recorded = amount_text(row.paid_minor, facts.currency)
            yield f"the screen showed {screen} paid for {bet} of {hand}, recorded is {recorded}"


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
                yield f"the screen showed a {bet} stake of {screen} at {seat}, recorded is {ours}"


def _moves(shown: tuple[Move, ...], recorded: list[Move]) -> Iterator[str]:
    """Yield the first move that differs: what follows it differs for that reason."""
    for place, move in enumerate(shown):
        if place >= len(recorded):
            yield f"the screen showed '{move}', which the ledger does not have"
            return
        if not _agree(move, recorded[place]):
            yield f"the screen showed '{move}' where the ledger has '{recorded[place]}'"
            return


def _agree(shown: Move, recorded: Move) -> bool:
    if shown == recorded:
        return True
    if isinstance(shown, DealMove) and isinstance(recorded, DealMove):
        hidden = shown.down and recorded.down and FACE_DOWN in (shown.card, recorded.card)
        return hidden and shown.receiver == recorded.receiver
    if isinstance(shown, DealMove) or isinstance(recorded, DealMove):
        return False
    return (shown.hand, shown.act) == (recorded.hand, recorded.act) and shown.shown_minor is None
