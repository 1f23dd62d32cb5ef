"""Which readings of ours an answer rests on, where the page of a game leaves a clause open.

Pure. A game's own module says what it reads and why (`shoeproof.replay.games`); here is where a
dispute meets it: in a settlement line, an act that was made, refused or withheld, a check, the
default.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from shoeproof.ledger.leaf.events import DecisionMade, DecisionOffered, InputRefused
from shoeproof.replay import findings as codes
from shoeproof.replay.cases.assessment import BetPrice, Source
from shoeproof.replay.disputes import sources
from shoeproof.replay.disputes.facts import Facts
from shoeproof.replay.disputes.grounds import BetFacts
from shoeproof.replay.disputes.money import SURPLUS
from shoeproof.replay.disputes.wrongs import withheld_acts
from shoeproof.replay.engine.hand import CASH_OUT, DOUBLE, EVEN_MONEY, INSURANCE, INSURANCE_ACTS
from shoeproof.replay.engine.outcomes import INSURANCE_BET, MAIN
from shoeproof.replay.engine.round import RoundState, SeatHand
from shoeproof.replay.games.game import Game
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.interruptions.waiting import outages_in
from shoeproof.replay.rounds.play_on import is_dealing, state_of, steps_before

_CARDS: Final = (
    codes.CARD_MISMATCH,
    codes.CARD_MISSING,
    codes.CARD_ORDER_WRONG,
    codes.SHOE_INDEX_WRONG,
)


def readings(facts: Facts, bets: Sequence[BetFacts]) -> tuple[Source, ...]:
    """Return the readings that an answer about these bets rests on, each once."""
    game = GAMES.get(facts.game or "")
    if game is None or not facts.is_trusted:
        return ()
    contested = [bet for bet in bets if bet.moves_minor] or bets
    named = [*_of_findings(facts), *_of_acts(facts, contested)]
    for bet in contested:
        named += _of_bet(facts, bet)
    return tuple(dict.fromkeys((*_of_rules(game, named), *_of_policy(facts))))


def with_its_readings(facts: Facts, bet: BetFacts, price: BetPrice) -> BetPrice:
    """Return the price of a bet, with the readings of its settlement line beside its source."""
    game = GAMES.get(facts.game or "")
    if game is None or price.source is None or price.ground not in _BY_LINE:
        return price
    source = sources.with_readings(price.source, _of_rules(game, _of_bet(facts, bet)))
    return replace(price, source=source)


_BY_LINE: Final = ("recorded_payment", "right_payment", "certain_outcome", "offer_taken")


def _of_rules(game: Game, named: Iterable[str]) -> list[Source]:
    """Return which of the clauses, or parts of clauses, named a game leaves open."""
    open_parts = {
        name: (clause.says, clause.source)
        for name, clause in game.clauses.items()
        if clause.assumed
    } | {each.name: (each.says, each.because) for each in game.assumptions if each.name}
    return [sources.reading(*open_parts[name]) for name in named if name in open_parts]


def _of_policy(facts: Facts) -> Iterator[Source]:
    """Yield the readings of what is done for a player, and of what is held."""
    has_default = facts.policy is not None and facts.policy.default is not None
    acts = [getattr(each.event.data, "act", "") for each in facts.decided_for_player]
    if has_default and any(act in INSURANCE_ACTS for act in acts):
        yield sources.DECLINES_INSURANCE
    if has_default and outages_in(facts.evidence.operations):
        yield sources.STOPPED_TIME
    if facts.hold.waits_minor or facts.has(codes.WIN_NOT_HELD):
        yield sources.NET_WIN


def _of_findings(facts: Facts) -> Iterator[str]:
    for fault in facts.faults:
        if fault.code == codes.CHECK_WRONG:
            yield "dealer_checks"
        elif fault.code == codes.CASH_OUT_OFFER_WRONG:
            yield "cash_out"
        elif fault.code in _CARDS and is_dealing(_state_at(facts, fault.seq)):
            yield "deal_order"


def _of_acts(facts: Facts, bets: Sequence[BetFacts]) -> Iterator[str]:
    """Yield the readings by which acts were made, refused or withheld in the hands of bets."""
    hands = {bet.hand for bet in bets}
    for recorded in facts.evidence.events:
        data, seq = recorded.event.data, recorded.event.seq
        if isinstance(data, DecisionMade):
            hand, acts = data.hand, [data.act]
        elif isinstance(data, InputRefused):
            hand, _, act = data.input.partition(" ")
            acts = [act]
        elif isinstance(data, DecisionOffered):
            hand, acts = data.hand, withheld_acts(facts, recorded)
        else:
            continue
        held = _held(_state_at(facts, seq), hand)
        if held is not None and any(f"{each}.".startswith(f"{hand}.") for each in hands):
            for act in acts:
                yield from _of_act(act, held)


def _of_act(act: str, held: SeatHand) -> Iterator[str]:
    is_half = "." in held.name
    if act == DOUBLE:
        yield "soft_double" if held.hand.soft else ""
        yield "double_after_split" if is_half else ""
        yield "double_after_zap" if held.hand.origin == "zapped" else ""
    elif act == EVEN_MONEY:
        yield "even_money_offered"
    elif act == INSURANCE and held.hand.over == "natural":
        yield "insurance_to_naturals"
    elif act == CASH_OUT and is_half:
        yield "cash_out_of_split"


def _of_bet(facts: Facts, bet: BetFacts) -> Iterator[str]:
    """Yield the readings that a bet's settlement line rests on."""
    is_certain = bet.best is not None and bet.best.name == "certain_outcome"
    replay = facts.replay
    recorded = None if replay is None or not replay.judged else replay.state
    state = facts.true_state if is_certain else recorded
    line = facts.true[bet.hand, bet.bet].line if is_certain else bet.line
    if state is None or line is None or bet.bet == SURPLUS:
        return
    if bet.bet == INSURANCE_BET:
        main = next((seat.stakes[MAIN] for seat in state.seats if seat.name == bet.seat), 0)
        yield "insurance_rounding" if main % 2 else ""
    elif bet.bet != MAIN:
        yield "side_bets" if (bet.due_minor or 0) > 0 else ""
    else:
        held = _held(state, bet.hand)
        yield from () if held is None else _of_line(line, state, held)


def _of_line(line: str, state: RoundState, held: SeatHand) -> Iterator[str]:
    natural, is_half = state.dealer.natural, "." in held.name
    if line == "five_card_21":
        yield "five_card_21_stands" if natural else ""
        yield "five_card_21_of_split" if is_half else ""
    elif line == "suited_natural":
        yield "suited_natural_keeps_odds" if state.dealer.up.startswith("A") else ""
    elif line == "even_money":
        yield "even_money_offered"
    elif line == "dealer_natural":
        yield "natural_beats_21" if held.hand.total == 21 else ""
        checked = state.hole_natural is not None
        yield "natural_takes_all" if (held.hand.doubled or is_half) and not checked else ""
    elif line == "cash_out":
        yield "cash_out"
        yield "cash_out_stands" if natural else ""
    elif line == "natural" and held.stake_minor % 2:
        yield "rounding"


def _state_at(facts: Facts, seq: int) -> RoundState | None:
    return None if facts.replay is None else state_of(steps_before(facts.replay, seq))


def _held(state: RoundState | None, hand: str) -> SeatHand | None:
    hands = () if state is None else state.hands
    return next((each for each in hands if each.name == hand), None)
