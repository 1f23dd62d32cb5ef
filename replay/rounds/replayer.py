"""Rebuild a round from its recorded events and collect everything that contradicts its rules.

The replayer hands the engine what the ledger says happened, in order, and compares what the engine
says was due. It goes on after a finding with the card as logged. After an act the rules forbid,
or a card to the wrong hand, what should have followed is unknown: the play is then no longer
judged, while the shoe, the money moved and the closing events still are.
"""

from collections.abc import Iterator, Mapping, Sequence

from shoeproof.ledger import Finding, Recorded
from shoeproof.ledger.findings import EVENT_AFTER_CLOSE
from shoeproof.ledger.leaf.events import (
    BetSettled,
    CardDealt,
    DealerChecked,
    DealRequested,
    DecisionMade,
    DecisionOffered,
    EventData,
    Funds,
    HoleCardShown,
    RoundClosed,
    RoundOpened,
    RoundVoided,
    ShoeCommitted,
    ShoeRevealed,
    StakesPlaced,
)
from shoeproof.replay import findings as codes
from shoeproof.replay.currency import unit_of
from shoeproof.replay.engine.cards import FACE_DOWN, VALUE
from shoeproof.replay.engine.dealer import makes_natural
from shoeproof.replay.engine.hand import DECLINE, HIT, STAND, Act
from shoeproof.replay.engine.outcomes import Outcome, outcomes
from shoeproof.replay.engine.round import (
    DEALER,
    NATURAL,
    NO_NATURAL,
    Check,
    Deal,
    Decide,
    RoundState,
    Settle,
    Show,
    added_stake_minor,
    apply,
    describe,
    open_round,
    stakes_minor,
)
from shoeproof.replay.engine.rules import Rules
from shoeproof.replay.errors import IllegalMove, RoundUnreadable, StakeRefused
from shoeproof.replay.rounds.money_check import (
    Bet,
    Settlements,
    check_debit,
    check_decision_stake,
    check_limits,
    check_placed,
    check_refunds,
    check_void,
    offer_problems,
)
from shoeproof.replay.rounds.replayed import Replay as Replay
from shoeproof.replay.rounds.replayed import Step as Step
from shoeproof.replay.rounds.shoe_check import Problem, ShoeCheck
from shoeproof.replay.rounds.wallet_check import Moved, movements

_PLAY = (CardDealt, DealerChecked, HoleCardShown, DecisionOffered, DecisionMade)
_AFTER_THE_DEAL = (*_PLAY, BetSettled)


def replay_round(
    events: Sequence[Recorded],
    rules_by_digest: Mapping[str, Rules],
    sealed_seed: bytes | None = None,
) -> Replay:
    """Rebuild one round from the events of its stream, in order.

    `rules_by_digest` holds the ledger's rule sets. `sealed_seed` is the seed as the holder of the
    key unsealed it: where none that fits was revealed, the cards are held to it. Raises
    RoundUnreadable for a stream that does not begin with RoundOpened.
    """
    if not events or not isinstance(events[0].event.data, RoundOpened):
        raise RoundUnreadable("this stream does not begin with RoundOpened, so it is not a round")
    return _Replayer(events, events[0].event.data, rules_by_digest, sealed_seed).run()


class _Replayer:
    """The walk through one round's events; lives for one call of `replay_round`."""

    def __init__(
        self,
        events: Sequence[Recorded],
        opened: RoundOpened,
        rules_by_digest: Mapping[str, Rules],
        sealed_seed: bytes | None,
    ) -> None:
        self.events = events
        self.opened = opened
        self.round_id = events[0].event.stream
        self.rules = rules_by_digest.get(opened.rules_digest)
        self.shoe = ShoeCheck(self.round_id, opened.rules_digest, self.rules, events, sealed_seed)
        self.unit = unit_of(opened)
        self.money = Settlements(self.unit)
        self.state: RoundState | None = None
        self.lost = False
        self.requested: DealRequested | None = None
        self.placed: Mapping[str, Mapping[str, int]] = {}
        self.offer: DecisionOffered | None = None
        self.made: DecisionMade | None = None
        self.costs: dict[int, int] = {}
        self.offer_is_right = False
        self.balance_minor: int | None = None
        self.filled_in = False
        self.broken_by: Finding | None = None
        self.begun = False
        self.revealed = False
        self.hole: str | None = None
        self.ending: RoundClosed | RoundVoided | None = None
        self.findings: list[Finding] = []
        self._outcomes_of: tuple[RoundState | None, list[Outcome]] = (None, [])
        self._left_to_play = _count_play(events)
        self._seq = 0
        self._moved: tuple[Moved, ...] = ()

    def run(self) -> Replay:
        steps = []
        for recorded, moved in zip(self.events, movements(self.events), strict=True):
            self._moved = moved
            self._left_to_play -= isinstance(recorded.event.data, _PLAY)
            self._seq = recorded.event.seq
            self._find(recorded)
            steps.append(Step(recorded, None if self.lost else self.state))
        return Replay(
            round_id=self.round_id,
            opened=self.opened,
            rules=self.rules,
            steps=tuple(steps),
            state=self.state,
            judged=not self.lost,
            expected=tuple(self._outcomes()),
            settled=self.money.recorded,
            costs=self.costs,
            placed=self.placed,
            requested=self.requested,
            offer=self.offer,
            offer_is_right=self.offer_is_right,
            next_index=self.shoe.next_index,
            hole_index=self.shoe.hole_index,
            hole=self.hole,
            ending=self.ending,
            findings=tuple(self.findings),
            broken_by=self.broken_by,
        )

    def _find(self, recorded: Recorded) -> None:
        """Take the next event, and note the first finding that breaks the state."""
        leaf_index, event = recorded.leaf_index, recorded.event
        found = [
            Finding(*problem, self.round_id, leaf_index, event.seq)
            for problem in self._take(event.data)
        ]
        self.findings += found
        unknown = self.lost or self.filled_in
        breaking = (each for each in found if unknown or each.code in codes.BREAKS_STATE)
        self.broken_by = self.broken_by or next(breaking, None)

    def _take(self, data: EventData) -> Iterator[Problem]:
        if self.ending is not None:
            yield EVENT_AFTER_CLOSE, f"{type(data).__name__} came after the round had ended"
            return
        misplaced = self._misplaced(data)
        if misplaced is not None:
            yield codes.EVENT_OUT_OF_PLACE, misplaced
            if not self.revealed and not isinstance(data, ShoeCommitted | StakesPlaced):
                return
        funds = getattr(data, "funds", None)
        if isinstance(funds, Funds) and funds.balance_after_minor is not None:
            self.balance_minor = funds.balance_after_minor
        match data:
            case RoundOpened():
                yield from self._open(data)
            case StakesPlaced():
                self.placed = data.stakes
            case DealRequested():
                yield from self._deal_requested(data)
            case CardDealt():
                yield from self._card(data)
            case DecisionOffered():
                yield from self._offered(data)
            case DecisionMade():
                yield from self._decision(data)
            case DealerChecked():
                yield from self._checked(data)
            case HoleCardShown():
                yield from self._shown(data)
            case BetSettled():
                yield from self._play_ended()
                yield from self.money.record(data, self._outcomes(), judged=not self.lost)
            case ShoeRevealed():
                self.revealed = True
                yield from self.shoe.reveal(data)
            case RoundClosed():
                yield from self._closed(data)
            case RoundVoided():
                yield from self._voided(data)
        for moved in self._moved:
            yield from moved.problems

    def _misplaced(self, data: EventData) -> str | None:
        """Say why an event cannot stand here, whatever it says; None when it can."""
        name = type(data).__name__
        dealt = self.requested is not None
        if isinstance(data, RoundOpened) and self.begun:
            return "the round was opened twice"
        if isinstance(data, ShoeCommitted) and (self.placed or dealt):
            return "the shoe was committed to after the stakes"
        if isinstance(data, StakesPlaced | DealRequested) and dealt:
            return f"{name} came after the deal was requested"
        if isinstance(data, _AFTER_THE_DEAL) and not dealt:
            return f"{name} came before the deal was requested"
        if isinstance(data, (*_AFTER_THE_DEAL, ShoeRevealed)) and self.revealed:
            return f"{name} came after the seed was revealed"
        return None

    # Before the cards

    def _open(self, opened: RoundOpened) -> Iterator[Problem]:
        self.begun = True
        if self.rules is None:
            sentence = f"the ledger carries no rules with digest {opened.rules_digest}"
            yield codes.RULES_DIGEST_UNKNOWN, sentence
            self.lost = True

    def _deal_requested(self, requested: DealRequested) -> Iterator[Problem]:
        self.requested = requested
        yield from self.shoe.check_committed()
        total = stakes_minor(requested.stakes)
        yield from check_debit(requested.funds, total, "the deal", self.unit)
        if not self.shoe.has_client_seed:
            sentence = f"the client seed {requested.client_seed[:40]!r} is not 0 to 64 bytes as hex"
            yield codes.CLIENT_SEED_INVALID, sentence
        yield from check_limits(self.opened.limits, requested.stakes, self.unit)
        if self.rules is not None:
            try:
                self.state = open_round(self.rules, requested.stakes)
            except StakeRefused as refusal:
                self.lost = True
                yield codes.STAKE_NOT_ALLOWED, str(refusal)
        yield from check_placed(self.placed, requested.stakes, self.unit)

    # Cards

    def _card(self, dealt: CardDealt) -> Iterator[Problem]:
        card = dealt.card if isinstance(dealt.card, str) else FACE_DOWN
        yield from self.shoe.deal(dealt, card)
        yield from self._reach_card(dealt.receiver)
        if self.state is None or self.lost:
            return
        due = self.state.due
        if not isinstance(due, Deal) or due.receiver != dealt.receiver:
            yield codes.CARD_ORDER_WRONG, f"a card went to {dealt.receiver}; {self._due()} was due"
            # A card too many to the dealer leaves a finished round as it was.
            self.lost = not isinstance(due, Settle)
            return
        if due.down:
            if card != FACE_DOWN:
                self.hole = card
                self.shoe.hole_index = dealt.shoe_index
                yield codes.HOLE_CARD_EXPOSED, f"the hole card {card} was dealt face up"
            card = FACE_DOWN
        elif card not in VALUE:
            yield codes.CARD_MISSING, f"the card to {dealt.receiver} is not recorded"
            self.lost = True
            return
        self.state = apply(self.state, card)

    def _reach_card(self, receiver: str) -> Iterator[Problem]:
        """Fill in what must have come before a card: skipped answers, acts and looks."""
        while self.state is not None and not self.lost:
            due = self.state.due
            if isinstance(due, Decide) and DECLINE not in due.legal and due.hand == receiver:
                yield from self._skipped(due, HIT)
            elif isinstance(due, Decide):
                yield from self._skipped(due, DECLINE if DECLINE in due.legal else STAND)
            elif isinstance(due, Check) and receiver != DEALER:
                yield from self._unchecked()
            else:
                return

    def _skipped(self, due: Decide, implied: Act) -> Iterator[Problem]:
        self.filled_in = True
        if self.offer is None or self.offer.hand != due.hand:
            yield codes.OFFER_WITHHELD, f"{due.hand} was never offered {', '.join(due.legal)}"
        else:
            yield codes.MISSING_DECISION, f"the decision of {due.hand} is not recorded"
        self._apply(implied)

    def _unchecked(self) -> Iterator[Problem]:
        yield codes.CHECK_WRONG, "the dealer did not check for a natural"
        self._apply(NO_NATURAL)

    def _checked(self, checked: DealerChecked) -> Iterator[Problem]:
        yield from self._reach_look(DECLINE)
        if self.state is None or self.lost:
            return
        if not isinstance(self.state.due, Check):
            yield codes.CHECK_WRONG, f"the dealer checked where {self._due()} was due"
            return
        hole = self.shoe.hole
        if hole is not None:
            natural = makes_natural(self.state.dealer, hole)
            if natural != checked.natural:
                yield codes.CHECK_WRONG, f"the check says natural {checked.natural}, not {natural}"
        self._apply(NATURAL if checked.natural else NO_NATURAL)

    def _reach_look(self, *implied: Act) -> Iterator[Problem]:
        """Fill in the answers and acts skipped before a look at the hole card."""
        while self.state is not None and not self.lost:
            due = self.state.due
            act = _first_legal(due, implied or (DECLINE, STAND))
            if not isinstance(due, Decide) or act is None:
                return
            yield from self._skipped(due, act)

    def _shown(self, shown: HoleCardShown) -> Iterator[Problem]:
        yield from self.shoe.show(shown.card)
        if self.shoe.hole is None and self.hole not in (None, shown.card):
            text = f"the hole card was dealt as {self.hole}, but shown as another card"
            yield codes.CARD_MISMATCH, text
        yield from self._reach_look()
        if isinstance(self._due_now(), Check):
            yield from self._unchecked()
            yield from self._reach_look()
        if self.state is None or self.lost:
            return
        if not isinstance(self.state.due, Show) or shown.card not in VALUE:
            yield codes.CARD_ORDER_WRONG, f"the hole card was shown where {self._due()} was due"
            self.lost = True
            return
        self.hole = shown.card
        self._apply(shown.card)
        natural = self.state.hole_natural
        if self.shoe.hole is None and natural is not None and natural != self.state.dealer.natural:
            text = f"the check said natural {natural}, but the hole card shows otherwise"
            yield codes.CHECK_WRONG, text

    # Decisions

    def _offered(self, offer: DecisionOffered) -> Iterator[Problem]:
        yield from self._reach_decision(offer.hand)
        self.offer, self.offer_is_right, self.made = offer, False, None
        if self.state is None or self.lost:
            return
        self.money.turn_ends(self._outcomes())
        problems = list(offer_problems(offer, self.state, self.balance_minor, self.unit))
        self.offer_is_right = not problems
        yield from problems

    def _decision(self, made: DecisionMade) -> Iterator[Problem]:
        if self._repeats(made):
            self.costs[self._seq] = 0
            yield codes.DECISION_REPEATED, f"{made.act} of {made.hand} was recorded twice"
            return
        yield from self._reach_decision(made.hand)
        offer, self.offer, self.made = self.offer, None, made
        if made.actor is None:
            yield codes.ACTOR_MISSING, f"the record does not say who made {made.act} of {made.hand}"
        if self.state is None or self.lost:
            return
        due = self.state.due
        if not isinstance(due, Decide) or due.hand != made.hand or made.act not in due.legal:
            yield codes.ILLEGAL_DECISION, f"{made.hand} {made.act} came; {self._due()} was due"
            self.lost = True
            return
        if offer is None or offer.hand != made.hand:
            yield codes.OFFER_WITHHELD, f"{made.hand} was never offered {', '.join(due.legal)}"
        elif made.act not in offer.legal and made.act in offer.barred:
            sentence = f"{made.act} was barred to {made.hand}: {offer.barred[made.act]}"
            yield codes.ILLEGAL_DECISION, sentence
        cost = self.costs[self._seq] = added_stake_minor(self.state, made.act)
        yield from check_decision_stake(made, cost, self.unit)
        shown = None if offer is None else offer.cash_out_minor
        self.state = apply(self.state, made.act, shown)

    def _repeats(self, made: DecisionMade) -> bool:
        """Tell whether a decision is the last one once more, with no offer made in between."""
        last, due = self.made, self._due_now()
        if last is None or (last.hand, last.act) != (made.hand, made.act):
            return False
        return not (isinstance(due, Decide) and due.hand == made.hand)

    def _reach_decision(self, hand: str) -> Iterator[Problem]:
        while self.state is not None and not self.lost:
            due = self.state.due
            later = isinstance(due, Decide) and due.hand != hand and self._plays_later(hand)
            if isinstance(due, Decide) and later:
                yield from self._skipped(due, DECLINE if DECLINE in due.legal else STAND)
            elif isinstance(due, Check):
                yield from self._unchecked()
            else:
                return

    def _plays_later(self, hand: str) -> bool:
        held = self.state.hands if self.state is not None else ()
        return any(each.name == hand and not each.hand.over for each in held)

    # The end

    def _play_ended(self) -> Iterator[Problem]:
        """If play stops before the rules are done, what is paid is unknown."""
        ended = not self._left_to_play and any(
            isinstance(each.event.data, RoundClosed) for each in self.events
        )
        if ended and self.state is not None and not isinstance(self._due_now(), Settle | None):
            yield from self._unfinished()
            self.lost = True

    def _closed(self, closed: RoundClosed) -> Iterator[Problem]:
        self.ending = closed
        if not self.revealed:
            yield codes.SEED_NOT_REVEALED, "the round closed without revealing its seed"
        if not self.lost and not isinstance(self._due_now(), Settle):
            yield from self._unfinished()
        if self.state is None and not self.lost:
            return
        yield from self.money.finish(self._outcomes(), closed)

    def _unfinished(self) -> Iterator[Problem]:
        if self.state is None:
            yield codes.EVENT_OUT_OF_PLACE, "the round closed before anything was dealt"
        elif isinstance(self.state.due, Decide):
            yield codes.MISSING_DECISION, f"the round closed where {self._due()} was due"
        else:
            yield codes.CARD_MISSING, f"the round closed where {self._due()} was due"

    def _voided(self, voided: RoundVoided) -> Iterator[Problem]:
        self.ending = voided
        if not self.revealed:
            yield codes.SEED_NOT_REVEALED, "the round was voided without revealing its seed"
        stakes: dict[Bet, int] = {}
        if self.state is not None:
            stakes = {(bet.hand, bet.bet): bet.stake_minor for bet in self._outcomes()}
        elif self.requested is None:
            stakes = _stakes_by_bet(self.placed)
        else:
            stakes = _stakes_by_bet(self.requested.stakes)
        found = self._outcomes()
        decided = [(each.hand, each.bet) for each in found if each.paid_minor is not None]
        yield from check_refunds(voided.refunds, stakes, self.money.recorded, decided, self.unit)
        yield from check_void(found, self.money.recorded, self.unit)

    # What the engine says

    def _apply(self, symbol: str) -> None:
        assert self.state is not None
        try:
            self.state = apply(self.state, symbol)
        except IllegalMove:
            self.lost = True

    def _due(self) -> str:
        return describe(self.state.due) if self.state is not None else "nothing"

    def _due_now(self) -> object:
        return self.state.due if self.state is not None and not self.lost else None

    def _outcomes(self) -> list[Outcome]:
        if self.state is None:
            return []
        if self._outcomes_of[0] is not self.state:
            self._outcomes_of = (self.state, outcomes(self.state))
        return self._outcomes_of[1]


def _count_play(events: Sequence[Recorded]) -> int:
    return sum(isinstance(each.event.data, _PLAY) for each in events)


def _first_legal(due: object, acts: Sequence[Act]) -> Act | None:
    legal = due.legal if isinstance(due, Decide) else ()
    return next((act for act in acts if act in legal), None)


def _stakes_by_bet(stakes: Mapping[str, Mapping[str, int]]) -> dict[Bet, int]:
    return {(seat, bet): minor for seat, bets in stakes.items() for bet, minor in bets.items()}
