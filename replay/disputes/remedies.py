"""The remedy that governs, as the plan of all bets together, and every other one priced beside it.

Pure. `grounds` says what each bet comes to; here that becomes one plan that can be carried out: an
open round goes on or is finished, an ended one is completed, resettled or has stakes returned, and
what nobody here may decide is referred. Another remedy is lawful where it can be carried out and
gives no bet less than is due: so nobody may gain from their own fault.
"""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from shoeproof.replay import findings as codes
from shoeproof.replay.cases.assessment import REMEDIES, GroundName, Remedy, RemedyName, Source
from shoeproof.replay.currency import amount_text
from shoeproof.replay.disputes import sources
from shoeproof.replay.disputes.facts import Facts
from shoeproof.replay.disputes.grounds import BetFacts, Ground
from shoeproof.replay.disputes.money import SURPLUS

Bets = Sequence[BetFacts]


class GoverningRemedy(NamedTuple):
    """The remedy that governs, why, and what it rests on."""

    name: RemedyName
    why: str
    source: Source


class Shown(NamedTuple):
    """What a screen that differs from the ledger showed as paid in all, in minor units; None where
    its amounts are not amounts of this round.
    """

    paid_minor: int | None


def price_remedies(facts: Facts, bets: Bets, shown: Shown | None = None) -> tuple[Remedy, ...]:
    """Return every remedy in order, priced; exactly one governs.

    `shown` is what a screen showed that differs from the ledger: what comes to less than that, or
    cannot be compared, is referred.
    """
    plan = plan_of(facts, bets, shown)
    return tuple(_remedy(facts, bets, name, plan) for name in REMEDIES)


def _remedy(facts: Facts, bets: Bets, name: RemedyName, plan: GoverningRemedy) -> Remedy:
    if name == plan.name:
        # What nobody disputes is paid beside a referral; the rest is the adjudicator's to say.
        prices = tuple(
            bet.price(
                None if name == "refer" and not _pays(facts, bet) else bet.due_minor, bet.best
            )
            for bet in bets
        )
        return Remedy(name, True, True, plan.why, plan.source, prices)
    hindrance = _HINDRANCE[name](facts, bets)
    due = [(bet, _DUE[name](facts, bet)) for bet in bets]
    short = [
        bet
        for bet, minor in due
        if bet.due_minor is not None and (minor is None or minor < bet.due_minor)
    ]
    if not hindrance and short and name != "refer":
        listed = ", ".join(f"{bet.bet} of {bet.hand}" for bet in short)
        hindrance = f"it would leave {listed} below what is due"
    why = hindrance or _WHY[name]
    return Remedy(
        name, not hindrance, False, why, _source(facts, bets, name),
        tuple(bet.price(minor, _ground(bet, minor)) for bet, minor in due),
    )  # fmt: skip


def _pays(facts: Facts, bet: BetFacts) -> bool:
    return facts.is_trusted and bet.moves_minor > 0


def _ground(bet: BetFacts, minor: int | None) -> Ground | None:
    return next((each for each in bet.grounds if each.amount_minor == minor), None)


# What governs


def plan_of(facts: Facts, bets: Bets, shown: Shown | None) -> GoverningRemedy:
    """Return the remedy that governs all bets together."""
    if not facts.is_trusted:
        floor = amount_text(sum(bet.stake_minor for bet in bets), facts.currency)
        why = f"no money moves on evidence that is forged or missing; the stakes, {floor}, are the "
        return GoverningRemedy("refer", f"{why}least that goes back", sources.NO_INFERENCE)
    if shown is not None:
        # What was debited beyond right comes back beside anything that a screen shows as paid.
        comes_to = sum(
            max(bet.due_minor or 0, bet.paid_minor or 0) for bet in bets if bet.bet != SURPLUS
        )
        ours = amount_text(comes_to, facts.currency)
        if shown.paid_minor is None:
            why = f"the screen's amounts do not belong to this round; the ledger comes to {ours}"
            return GoverningRemedy("refer", why, sources.SCREEN)
        if shown.paid_minor > comes_to:
            theirs = amount_text(shown.paid_minor, facts.currency)
            why = f"the screen showed {theirs}, the ledger comes to {ours}"
            return GoverningRemedy("refer", why, sources.SCREEN)
    return _open_plan(facts, bets) if facts.is_open else _ended_plan(facts, bets)


def _open_plan(facts: Facts, bets: Bets) -> GoverningRemedy:
    """Return what governs an open round, by how far it came."""

    def plan(name: RemedyName, why: str) -> GoverningRemedy:
        return GoverningRemedy(name, why, _source(facts, bets, name))

    if not facts.is_dealt:
        if facts.returns_chips:
            return plan("void", "the chips were laid and the deal was never asked for")
        return plan("resume", "nothing was dealt: the player may deal or take the chips back")
    if not facts.goes_on:
        if any(_wins_by(bet, "stake_back") for bet in bets):
            return plan("void", "the round cannot go on, and no stake is kept")
        return plan("honour", "the round cannot go on, and its outcome is certain")
    if facts.default_is_due:
        return plan("apply_default", "the time that was disclosed has run out")
    if facts.waits_for is not None:
        return plan("resume", "what the player had is restored, and the player decides")
    if facts.input_may_follow:
        return plan("resume", "the cards that are owed come from the same shoe, and play goes on")
    if any(_wins_by(bet, "stake_back") for bet in bets):
        return plan("void", "no decision is left, and no stake is kept after a malfunction")
    return plan("honour", "nobody has a decision left: the round is finished and paid")


def _ended_plan(facts: Facts, bets: Bets) -> GoverningRemedy:
    """Return what governs an ended round: the gravest step of the plan names it."""
    moving = [bet for bet in bets if bet.moves_minor]

    def plan(name: RemedyName, why: str) -> GoverningRemedy:
        return GoverningRemedy(name, why, _source(facts, moving or bets, name))

    if any(_wins_by(bet, "stake_back") for bet in moving):
        return plan(
            "void", "no stake is kept where a malfunction or a void came before the outcome"
        )
    if any(_wins_by(bet, "default_due") for bet in moving):
        return plan("apply_default", "what was disclosed should have come first, and pays more")
    if facts.is_void and any(_wins_by(bet, "certain_outcome", "right_payment") for bet in moving):
        if facts.is_played or facts.has(codes.VOID_UNFOUNDED):
            return plan("honour", "the outcome was certain when the round was voided")
        return plan("void", "what was decided before the fault is paid, and other stakes went back")
    if moving:
        return plan("resettle", "each bet comes to what is due; no overpayment is taken back")
    if facts.has(codes.VOID_UNFOUNDED) and not facts.is_played and not facts.is_decided:
        return plan("refer", _unfounded(facts, bets))
    if facts.is_void:
        return plan("void", "every stake that was not decided before has gone back")
    if facts.hold.waits_minor:
        held = amount_text(facts.hold.waits_minor, facts.currency)
        return plan("honour", f"{held} of the win waits for a person's verification")
    return plan("honour", "the round had finished and nothing more is due")


def _unfounded(facts: Facts, bets: Bets) -> str:
    back = amount_text(sum(bet.paid_minor or 0 for bet in bets), facts.currency)
    could = ""
    if ranges := [bet.could_have for bet in bets if bet.could_have is not None]:
        most = amount_text(sum(each.most_minor for each in ranges), facts.currency)
        staked = amount_text(sum(each.staked_minor for each in ranges), facts.currency)
        could = f", and play could have brought up to {most} for {staked} staked"
    return f"the void has no reason on record: {back} went back{could}"


def _wins_by(bet: BetFacts, *names: GroundName) -> bool:
    return bet.best is not None and bet.best.name in names


# What each remedy makes of one bet where it does not govern


def _honoured(facts: Facts, bet: BetFacts) -> int | None:
    if bet.paid_minor is not None:
        return bet.paid_minor
    return bet.by("right_payment", "certain_outcome")


def _resumed(facts: Facts, bet: BetFacts) -> int | None:
    return bet.by("right_payment") if facts.is_open else _honoured(facts, bet)


def _defaulted(facts: Facts, bet: BetFacts) -> int | None:
    by_default = bet.by("default_due")
    return _resumed(facts, bet) if by_default is None else by_default


def _resettled(facts: Facts, bet: BetFacts) -> int | None:
    due = bet.by(
        "recorded_payment", "right_payment", "certain_outcome", "offer_taken", "over_debit"
    )
    return bet.paid_minor if due is None else due


def _voided(facts: Facts, bet: BetFacts) -> int | None:
    """Every stake back; nothing that was recorded as paid is taken back, nor a win undone that was
    decided before any malfunction.
    """
    decided = 0 if bet.is_touched else bet.by("right_payment") or 0
    return max(bet.debited_minor, bet.paid_minor or 0, decided)


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

_WHY: Final[dict[RemedyName, str]] = {
    "honour": "the outcome is certain",
    "resume": "the round waits as it was, with the same cards to come",
    "apply_default": "what was disclosed applies",
    "resettle": "a bet was paid less than is due",
    "void": "every stake goes back",
    "refer": "an adjudicator may decide otherwise",
}


# What hinders each remedy


def _no_honour(facts: Facts, bets: Bets) -> str:
    if not facts.is_trusted:
        return "what was played cannot be trusted"
    finishes = facts.goes_on and facts.is_dealt and not facts.input_may_follow
    if facts.is_open and not finishes and any(bet.due_minor is None for bet in bets):
        return "the outcome is not certain"
    return ""


def _no_resume(facts: Facts, bets: Bets) -> str:
    if not facts.is_open:
        return "the round has ended"
    if not facts.is_trusted or (facts.is_dealt and not facts.goes_on):
        return "the state before the interruption cannot be restored"
    if not facts.is_dealt and facts.returns_chips:
        return "the page returns a stake laid before the deal"
    if facts.is_dealt and not facts.input_may_follow:
        return "no decision is left to the player"
    return "the time to come back has run out" if facts.default_is_due else ""


def _no_default(facts: Facts, bets: Bets) -> str:
    if facts.policy is None or facts.policy.default is None:
        return "no default was disclosed"
    if facts.default is not None and not facts.is_open:
        return ""
    if not facts.is_open:
        return "the round has ended"
    if facts.waits_for is None or not facts.goes_on:
        return "no decision is open that it could answer"
    return "" if facts.default_is_due else "its time has not run out"


def _no_resettling(facts: Facts, bets: Bets) -> str:
    if not facts.is_trusted:
        return "what was played cannot be trusted"
    if not any(bet.moves_minor for bet in bets):
        return "no bet was paid less than is due"
    return ""


def _no_void(facts: Facts, bets: Bets) -> str:
    if not facts.is_trusted:
        return "no money moves on evidence that cannot be trusted"
    chips = facts.is_open and not facts.is_dealt and facts.returns_chips
    stuck = facts.is_open and facts.is_dealt and not facts.goes_on
    if facts.is_void or chips or stuck or any(bet.is_touched for bet in bets):
        return ""
    return "nothing that voids a round went wrong"


_HINDRANCE: Final[dict[RemedyName, Callable[[Facts, Bets], str]]] = {
    "honour": _no_honour,
    "resume": _no_resume,
    "apply_default": _no_default,
    "resettle": _no_resettling,
    "void": _no_void,
    "refer": lambda facts, bets: "",
}


# What each remedy rests on


def _source(facts: Facts, bets: Bets, name: RemedyName) -> Source:
    """Return the page's clause where it speaks, and our reading only where it is silent."""
    game = facts.game
    disconnection = sources.of_page(game, "disconnection")
    if name == "refer":
        return sources.NO_GAIN_BY_FAULT
    if name == "resume":
        return sources.both(disconnection, sources.RESTORED)
    if name == "apply_default":
        return disconnection or sources.NO_DEFAULT
    if name == "void":
        chips = not facts.is_dealt and facts.returns_chips
        is_founded = not facts.has(codes.VOID_UNFOUNDED)
        page = disconnection if chips else None
        return page or sources.void_of(game, is_founded=is_founded)
    if name == "honour" and facts.hold.waits_minor:
        return sources.of_page(game, "large_win") or sources.OUTCOME_STANDS
    grounds = [bet.best for bet in bets if bet.best is not None]
    if not grounds:
        return sources.of_page(game, "payouts") or sources.OUTCOME_STANDS
    return max(grounds, key=lambda ground: ground.amount_minor).source
