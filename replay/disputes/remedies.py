"""Every remedy in its lawful order: allowed here or not and why, priced bet by bet, one governing.

Pure. The order is: honour an outcome that is fixed; restore and resume; apply a disclosed default
whose time ran out; resettle one bet that was wrongly paid on right cards; void with every stake
back; refer to an adjudicator. A remedy's price never falls below what already reached the player
where it moves money: nothing is ever debited.
"""

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from replay import findings as codes
from replay.currency import amount_text
from replay.disputes import sources
from replay.disputes.assessment import REMEDIES, BetPrice, Class, Remedy, RemedyName, Source
from replay.disputes.bets import BetFacts
from replay.disputes.facts import Facts

PLAY_FAULTS: Final[frozenset[Class]] = frozenset({"shoe_error", "deal_error", "decision_error"})
"""Faults of what was dealt or decided: what was played after them counts against nobody."""

_VOIDABLE: Final = PLAY_FAULTS | {"system_decision_error", "interrupted_unrecoverable"}


class _Said(NamedTuple):
    """Whether a remedy is lawful, why, and what that rests on."""

    lawful: bool
    why: str
    source: Source


def price_remedies(facts: Facts, shown_minor: int | None = None) -> tuple[Remedy, ...]:
    """Return every remedy in order, priced; exactly one governs.

    `shown_minor` is what a screen that differs from the ledger showed as paid in all: less than
    that governs nothing, it is referred.
    """
    governing, because = _governing(facts)
    due = [_DUE[governing](facts, bet) for bet in facts.bets]
    if governing != "refer" and shown_minor is not None and None not in due:
        comes_to = _sum(due)
        if comes_to < shown_minor:
            shown, less = (amount_text(each, facts.currency) for each in (shown_minor, comes_to))
            name = governing.replace("_", " ")
            governing, because = "refer", f"the screen showed {shown}, {name} comes to {less}"
    return tuple(_remedy(facts, name, governing, because) for name in REMEDIES)


def _remedy(facts: Facts, name: RemedyName, governing: RemedyName, because: str) -> Remedy:
    lawful, why, source = _SAID[name](facts)
    bets = tuple(_price(bet, _DUE[name](facts, bet), facts) for bet in facts.bets)
    governs = name == governing
    return Remedy(name, lawful, governs, f"{why}: {because}" if governs else why, source, bets)


def _price(bet: BetFacts, due_minor: int | None, facts: Facts) -> BetPrice:
    return BetPrice(
        bet.seat, bet.hand, bet.bet, bet.stake_minor, bet.paid_minor, due_minor, bet.line
    )


# What each remedy makes of one bet


def _honoured(facts: Facts, bet: BetFacts) -> int | None:
    return bet.right_minor if bet.paid_minor is None else bet.paid_minor


def _resumed(facts: Facts, bet: BetFacts) -> int | None:
    return bet.right_minor if facts.is_open else _honoured(facts, bet)


def _defaulted(facts: Facts, bet: BetFacts) -> int | None:
    if facts.default is None:
        return _resumed(facts, bet)
    outcome = facts.default.get((bet.hand, bet.bet))
    return bet.right_minor if outcome is None else outcome.paid_minor


def _resettled(facts: Facts, bet: BetFacts) -> int | None:
    if bet.right_minor is None:
        return bet.paid_minor
    return max(bet.right_minor, bet.paid_minor or 0)


def _voided(facts: Facts, bet: BetFacts) -> int | None:
    """Every stake back; a bet decided before the fault keeps its win, and where the platform
    decided for the player the better of result and stake stays.
    """
    better = bet.decided_before_fault or facts.decides == "system_decision_error" or facts.is_void
    return max(bet.stake_minor, (_honoured(facts, bet) or 0) if better else 0)


def _referred(facts: Facts, bet: BetFacts) -> int | None:
    return None


_DUE: Final[dict[RemedyName, Callable[[Facts, BetFacts], int | None]]] = {
    "honour": _honoured,
    "resume": _resumed,
    "apply_default": _defaulted,
    "resettle": _resettled,
    "void": _voided,
    "refer": _referred,
}


# Whether each remedy is lawful


def _honour(facts: Facts) -> _Said:
    source = sources.OUTCOME_STANDS
    if facts.held_minor:
        source = sources.of_page(facts.game, "large_win") or source
    if facts.decides == "evidence_missing":
        return _Said(False, "what was played cannot be trusted", source)
    if facts.is_void:
        return _Said(False, "the round was voided and has no outcome", source)
    if facts.is_open and not facts.is_fixed:
        if facts.is_dealt and facts.waits_for is None and facts.decides not in _VOIDABLE:
            return _Said(True, "no input is left: the table finishes from its sealed seed", source)
        return _Said(False, "the outcome is not fixed", source)
    if facts.decides in PLAY_FAULTS and not _leaves_below(facts):
        return _Said(False, "a result that rests on this fault is not held to the player", source)
    if _is_against_policy(facts):
        return _Said(False, "what the platform decided wrongly is not held to the player", source)
    if any(bet.is_underpaid and bet.paid_minor is not None for bet in facts.bets):
        return _Said(False, "what was recorded is less than the rules pay", source)
    return _Said(True, "the outcome is fixed and no input was left", source)


def _resume(facts: Facts) -> _Said:
    source = sources.both(sources.of_page(facts.game, "disconnection"), sources.RESTORED)
    if not facts.is_open:
        return _Said(False, "the round has ended", source)
    if "interrupted_recoverable" not in facts.classes or facts.decides in PLAY_FAULTS:
        return _Said(False, "the state before the interruption cannot be restored", source)
    if facts.decides == "evidence_missing":
        return _Said(False, "the state before the interruption cannot be trusted", source)
    if not facts.is_dealt:
        if _returns_chips(facts):
            return _Said(False, "the page returns a stake laid before the deal", source)
        return _Said(True, "the stakes lie and nothing was dealt", source)
    if facts.shows_dealer:
        return _Said(False, "the dealer's cards were shown: no decision may follow", source)
    if facts.waits_for is None:
        return _Said(False, "no decision is left to the player", source)
    if facts.default_is_due:
        return _Said(False, "the time to come back has run out", source)
    return _Said(True, "the round waits as it was, with the same cards to come", source)


def _apply_default(facts: Facts) -> _Said:
    default = None if facts.policy is None else facts.policy.default
    if default is None:
        return _Said(False, "no default was disclosed", sources.NO_DEFAULT)
    source = sources.of_page(facts.game, "disconnection") or sources.NO_DEFAULT
    if _default_pays_most(facts):
        return _Said(True, "it was due before an input was taken all the same", source)
    if not facts.is_open:
        return _Said(False, "the round has ended", source)
    if facts.waits_for is None or facts.decides in PLAY_FAULTS | {"evidence_missing"}:
        return _Said(False, "no decision is open that it could answer", source)
    if not facts.default_is_due:
        return _Said(False, "its time has not run out", source)
    return _Said(True, f"its {default.after_seconds // 60} minutes have run out", source)


def _resettle(facts: Facts) -> _Said:
    if facts.decides != "settlement_error":
        return _Said(False, "no bet was wrongly paid on right cards", sources.A_DEBT)
    if not any(bet.is_underpaid for bet in facts.bets):
        return _Said(False, "no bet was paid less than the rules pay", sources.A_DEBT)
    return _Said(True, "the cards are right and a bet was paid less than they pay", sources.A_DEBT)


def _void(facts: Facts) -> _Said:
    source = sources.void_of(facts.game)
    if facts.is_void:
        return _Said(True, "the round was voided, and every stake is to go back", source)
    if not facts.is_dealt and facts.is_open and _returns_chips(facts):
        page = sources.of_page(facts.game, "disconnection") or source
        return _Said(True, "nothing was dealt, and the page returns the stake", page)
    if facts.decides in _VOIDABLE and _is_grave(facts):
        return _Said(True, "what went wrong is a malfunction of the round", source)
    if facts.decides == "evidence_missing":
        return _Said(False, "no money moves on evidence that cannot be trusted", source)
    return _Said(False, "nothing that voids a round went wrong", source)


def _refer(facts: Facts) -> _Said:
    if facts.decides == "evidence_missing":
        return _Said(True, "an adjudicator may weigh what the ledger cannot", sources.NO_INFERENCE)
    if "screen_differs" in facts.classes:
        return _Said(True, "an adjudicator may weigh screen against ledger", sources.SCREEN)
    return _Said(True, "an adjudicator may decide otherwise", sources.NO_GAIN_BY_FAULT)


_SAID: Final[dict[RemedyName, Callable[[Facts], _Said]]] = {
    "honour": _honour,
    "resume": _resume,
    "apply_default": _apply_default,
    "resettle": _resettle,
    "void": _void,
    "refer": _refer,
}


# Which governs


def _governing(facts: Facts) -> tuple[RemedyName, str]:
    """Return the remedy that governs and what decided for it."""
    decides = facts.decides
    if decides == "evidence_missing":
        return "refer", f"no money moves here; the least that goes back is {_floor(facts)}"
    if decides in PLAY_FAULTS or decides == "interrupted_unrecoverable":
        below = _leaves_below(facts)
        if below:
            return "refer", f"to void would leave {below} below what was recorded; {_both(facts)}"
        return "void", "no stake is kept, and what was decided before the fault stands"
    if _default_pays_most(facts):
        return "apply_default", "what was disclosed pays more than what was played or a void"
    if decides == "system_decision_error" and not facts.is_open:
        if _is_against_policy(facts):
            return "void", "the player keeps the better of the result and the stake"
        return "honour", "the result is at least the stake, or nothing was decided for the player"
    if "screen_differs" in facts.classes and decides in _SCREEN_DECIDES:
        return "refer", "the screen showed what the ledger does not say; both are priced"
    if decides == "settlement_error" and any(bet.is_underpaid for bet in facts.bets):
        if facts.is_void and not any(_wins(bet) for bet in facts.bets):
            return "void", "what is missing of the stakes goes back"
        return "resettle", "each bet comes to what the rules pay, and no overpayment is debited"
    return _of_state(facts)


_SCREEN_DECIDES: Final[frozenset[Class]] = frozenset(
    {"sound", "held_win", "interrupted_recoverable", "screen_differs"}
)


def _of_state(facts: Facts) -> tuple[RemedyName, str]:
    """Return what governs a round whose play has no fault, by how far it came."""
    if not facts.is_open:
        if facts.is_void:
            return "void", "every stake has gone back"
        return "honour", _why_honour(facts)
    if not facts.is_dealt:
        if _returns_chips(facts):
            return "void", "the chips were laid and DEAL was not requested"
        return "resume", "the player may deal or take the chips back"
    if facts.default_is_due and facts.policy is not None and facts.policy.default is not None:
        return "apply_default", "what was disclosed for this case decides, and play goes to its end"
    if facts.waits_for is not None:
        return "resume", "what the player had is restored, and the player decides"
    return "honour", "no input is left to anybody"


def _why_honour(facts: Facts) -> str:
    if facts.held_minor:
        held = amount_text(facts.held_minor, facts.currency)
        return f"{held} of the win waits for a person's verification and is then released"
    return "what was paid is what the rules pay, or more, which is not debited"


def _returns_chips(facts: Facts) -> bool:
    return facts.policy is not None and facts.policy.stakes_before_deal == "returned"


def _is_grave(facts: Facts) -> bool:
    """Tell whether a decision of the platform did harm: a wrong deadline alone, which the platform
    never used, did none.
    """
    if facts.decides != "system_decision_error":
        return True
    return bool(facts.decided_for_player) or facts.has(codes.DECISION_LATE)


def _is_against_policy(facts: Facts) -> bool:
    """Tell whether the platform decided as it may not, and a stake was lost by it."""
    if facts.decides != "system_decision_error" or facts.is_open:
        return False
    return _is_grave(facts) and any(_is_worse(bet) for bet in facts.bets)


def _default_pays_most(facts: Facts) -> bool:
    """Tell whether the default that should have come first pays more than all that came of it.

    Applying what was disclosed comes before a void, and the operator who let it pass gains nothing.
    """
    if facts.default is None or facts.is_open or facts.decides != "system_decision_error":
        return False
    by_default = _sum(_defaulted(facts, bet) for bet in facts.bets)
    others = (_sum(price(facts, bet) for bet in facts.bets) for price in (_honoured, _voided))
    return by_default > max(others)


def _is_worse(bet: BetFacts) -> bool:
    return not bet.decided_before_fault and (bet.paid_minor or 0) < bet.stake_minor


def _wins(bet: BetFacts) -> bool:
    return (bet.right_minor or 0) > bet.stake_minor


def _leaves_below(facts: Facts) -> str:
    """Name the bets that a void leaves below what was recorded, nothing where it leaves none."""
    below = [
        f"{bet.bet} of {bet.hand}"
        for bet in facts.bets
        if (_voided(facts, bet) or 0) < (bet.paid_minor or 0)
    ]
    return ", ".join(below)


def _both(facts: Facts) -> str:
    recorded = _sum(_honoured(facts, bet) for bet in facts.bets)
    void = _sum(_voided(facts, bet) for bet in facts.bets)
    currency = facts.currency
    return (
        f"honour comes to {amount_text(recorded, currency)}, void to {amount_text(void, currency)}"
    )


def _floor(facts: Facts) -> str:
    return amount_text(_sum(bet.stake_minor for bet in facts.bets), facts.currency)


def _sum(each: Iterable[int | None]) -> int:
    return sum(minor or 0 for minor in each)
