"""What a disputed table does against the rules, in the words of the scenarios.

`pays LINE ODDS`, `settles HAND BET at AMOUNT [as LINE]`, `settles HAND BET twice`,
`never settles HAND BET`, `deals CARD at PLACE`, `commits to nothing`, `never reveals its seed`,
`reveals another seed`, `breaks off before EVENT`, `breaks off before card PLACE`,
`loses the decision HAND ACT`, `names nobody for HAND ACT`, `splits by value`, `withholds ACT`,
`bars ACT for REASON`, `has no more than AMOUNT` (the player's wallet, which records what is left),
`gives until HH:MM:SS`, `waits MINUTES minutes`, `takes every stake twice`,
`pays one cent too little`, `holds nothing`, `records HAND ACT twice`, `shows cash-out at AMOUNT`,
`offers ACT`, `gives the dealer one card too many`, `stops the dealer too early`, `has no wallet`,
`declines to pay HAND BET`, `never answers for HAND BET`, `pays HAND BET in incentives` (the wallet
does, what is booked stays right); and afterwards, by who holds the database:
`forges the decision HAND ACT`, `removes EVENT`.
"""

from collections.abc import Callable

from msgspec.structs import replace

from shoeproof.ledger.leaf.clock import format_time
from shoeproof.ledger.leaf.events import (
    EVENTS,
    BetSettled,
    CardDealt,
    DecisionMade,
    DecisionOffered,
    EventData,
    ShoeCommitted,
    ShoeRevealed,
    WinHeld,
)
from shoeproof.replay.engine.rules import Rules
from shoeproof.replay.wallet.wallet import MemoryWallet
from tests.disputes.house_faults import ending, extra_card, fewer_cards
from tests.disputes.scenario import DAY, minor
from tests.replay.lying import (
    ShortCredited,
    TwiceDebited,
    both,
    broken_off,
    changing,
    credited,
    dropped,
    paying,
    without_balances,
)
from tests.replay.lying_table import Alter, Lie

AFTERWARDS = ("forges", "removes")
"""Lies of whoever holds the database, told once the round is recorded."""

WAITS = "waits"
"""The lie of a table that waits longer than its policy says."""

Altering = Callable[[], Alter]


def lie_of(game: str, lies: list[str]) -> Lie:
    """Return the lie that a list of sentences tells."""
    rich = MemoryWallet(100_000_000)
    lie = Lie(game=game, findings=[], choose=lambda state, due: "stand", wallet=lambda: rich)
    for sentence in lies:
        words = sentence.split(" ")
        match words:
            case ["pays", line, odds]:
                lie = _with(lie, plays=paying(line, odds))
            case ["deals", card, "at", place]:
                lie = _with(lie, faces={**lie.faces, int(place): card})
            case ["splits", "by", "value"]:
                lie = _with(lie, plays=_splitting_by_value)
            case ["has", "no", "wallet"]:
                lie = _with(lie, wallet=lambda: None)
            case ["takes", "every", "stake", "twice"]:
                lie = _with(lie, wallet=lambda: TwiceDebited(100_000_000))
            case ["has", "no", "more", "than", amount]:
                poor = MemoryWallet(minor(amount))
                lie = _with(lie, wallet=lambda poor=poor: poor)
            case ["settles", _, _, "at", *_]:
                lie = _with(lie, alter=both(lie.alter, _altering(words), without_balances))
            case ["pays", "one", "cent", "too", "little"]:
                lie = _with(lie, wallet=lambda: ShortCredited(100_000_000))
            case [first, *_] if first in (*AFTERWARDS, WAITS):
                pass
            case _:
                lie = _with(lie, alter=both(lie.alter, _altering(words)))
    return lie


def _with(lie: Lie, **fields: object) -> Lie:
    return Lie(**{**vars(lie), **fields})


def _altering(words: list[str]) -> Altering:
    match words:
        case ["settles", hand, bet, "twice"]:
            return _settlement(hand, bet, lambda data: (data, _once_more(data)))
        case ["settles", hand, bet, "at", amount, *rest]:
            return _settlement(hand, bet, lambda data: (_paid(data, minor(amount), rest),))
        case ["never", "settles", hand, bet]:
            return _settlement(hand, bet, lambda data: ())
        case ["never", "reveals", "its", "seed"]:
            return changing(ShoeRevealed, dropped)
        case ["reveals", "another", "seed"]:
            return changing(ShoeRevealed, lambda data: ShoeRevealed("00" * 32))
        case ["breaks", "off", "before", "card", place]:
            return broken_off(
                lambda data: isinstance(data, CardDealt) and data.shoe_index == int(place)
            )
        case ["breaks", "off", "before", event]:
            return broken_off(lambda data: isinstance(data, EVENTS[event]))
        case ["commits", "to", "nothing"]:
            return changing(ShoeCommitted, dropped)
        case ["loses", "the", "decision", hand, act]:
            return _decision(hand, act, lambda data: ())
        case ["names", "nobody", "for", hand, act]:
            return _decision(hand, act, lambda data: (replace(data, actor=None),))
        case ["withholds", act]:
            return changing(DecisionOffered, lambda offer: _without(offer, act, {}))
        case ["bars", act, "for", reason]:
            return changing(DecisionOffered, lambda offer: _without(offer, act, {act: reason}))
        case ["offers", act]:
            return changing(
                DecisionOffered, lambda offer: replace(offer, legal=[*offer.legal, act])
            )
        case ["shows", "cash-out", "at", amount]:
            return changing(DecisionOffered, lambda offer: _showing(offer, minor(amount)))
        case ["records", hand, act, "twice"]:
            return _decision(hand, act, lambda data: (data, data))
        case ["gives", "the", "dealer", "one", "card", "too", "many"]:
            return ending(extra_card)
        case ["stops", "the", "dealer", "too", "early"]:
            return ending(fewer_cards)
        case ["declines", "to", "pay", hand, bet]:
            return _settlement(hand, bet, lambda data: (_answered(data, answer="declined"),))
        case ["never", "answers", "for", hand, bet]:
            return _settlement(hand, bet, lambda data: (replace(data, funds=None),))
        case ["pays", hand, bet, "in", "incentives"]:
            return _settlement(
                hand,
                bet,
                lambda data: (_answered(data, cash_minor=0, incentive_minor=data.paid_minor),),
            )
        case ["gives", "until", time]:
            hours, minutes, seconds = map(int, time.split(":"))
            deadline = format_time(DAY.replace(hour=hours, minute=minutes, second=seconds))
            return changing(DecisionOffered, lambda offer: replace(offer, deadline=deadline))
        case ["holds", "nothing"]:
            return changing(WinHeld, dropped)
    raise AssertionError(f"no lie: {' '.join(words)!r}")


def _showing(offer: DecisionOffered, cash_out_minor: int) -> DecisionOffered:
    return offer if offer.cash_out_minor is None else replace(offer, cash_out_minor=cash_out_minor)


def _answered(data: BetSettled, **fields: object) -> BetSettled:
    """Let the wallet answer otherwise; what was booked stays."""
    if data.funds is None:
        return data
    return replace(data, funds=replace(data.funds, **fields))


def _without(offer: DecisionOffered, act: str, barred: dict[str, str]) -> DecisionOffered:
    if act not in offer.legal:
        return offer
    legal = [each for each in offer.legal if each != act]
    return replace(offer, legal=legal, barred={**offer.barred, **barred})


def _once_more(data: BetSettled) -> BetSettled:
    """Pay the same again, in a transaction of its own."""
    funds = data.funds
    return replace(data, funds=None if funds is None else replace(funds, transaction="again"))


def _paid(data: BetSettled, paid_minor: int, line: list[str]) -> BetSettled:
    """Book and credit another amount."""
    funds = credited(paid_minor) if paid_minor else None
    name = line[1] if line else data.line
    return replace(data, paid_minor=paid_minor, line=name, funds=funds)


def _splitting_by_value(rules: Rules) -> Rules:
    return replace(rules, split=replace(rules.split, pair_by="value"))


def _settlement(
    hand: str, bet: str, change: Callable[[BetSettled], tuple[EventData, ...]]
) -> Altering:
    return changing(
        BetSettled, lambda data: change(data) if (data.hand, data.bet) == (hand, bet) else data
    )


def _decision(
    hand: str, act: str, change: Callable[[DecisionMade], tuple[EventData, ...]]
) -> Altering:
    return changing(
        DecisionMade, lambda data: change(data) if (data.hand, data.act) == (hand, act) else data
    )
