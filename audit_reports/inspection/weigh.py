"""Turn what each part of an inspection found into one word. Pure.

The heaviest finding decides. What is only to be watched, or could not be judged, keeps an
inspection from ending in "sound" and never makes it "findings".
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from shoeproof.audit_reports.inspection.model import (
    BY_WEIGHT,
    FindingGroup,
    FindingPlace,
    Weight,
    Word,
)
from shoeproof.audit_reports.pages.words import bet_words
from shoeproof.audit_reports.rtp_report.model import BetReport, GameReport
from shoeproof.audit_reports.statistics.verdict import INCONCLUSIVE
from shoeproof.ledger import Finding
from shoeproof.ledger.leaf.streams import OPERATIONS_STREAM
from shoeproof.replay.currency import unit_words
from shoeproof.replay.live.alarms import Alarm

MOST_PLACES: Final = 20
"""How many places of a kind of finding are named."""

_TO_BE_SURE: Final = 1.645
"""The normal quantile of 95%: how far beyond a bound a bias must lie to pass it 19 times in 20."""


def word_of(found: Sequence[FindingGroup], unjudged: Sequence[str]) -> Word:
    """Return the one word for the findings and for what could not be judged."""
    weights = {each.weight for each in found}
    if "forged" in weights:
        return "untrusted"
    if "wrong" in weights:
        return "findings"
    return "inconclusive" if weights or unjudged else "sound"


def headline_of(word: Word, found: Sequence[FindingGroup], unjudged: Sequence[str]) -> str:
    """Return the sentence a report begins with."""
    if word == "untrusted":
        return f"This ledger is not to be trusted: {found[0].says}"
    if word == "findings":
        wrong = [each for each in found if each.weight == "wrong"]
        kinds = "One kind of thing is" if len(wrong) == 1 else f"{len(wrong)} kinds of things are"
        return f"{kinds} wrong in what was recorded. The first: {wrong[0].says}"
    if word == "inconclusive":
        first = found[0].says if found else unjudged[0]
        return f"Nothing is shown to be wrong, but not everything could be judged: {first}"
    return "Nothing was found against what was recorded"


def in_order(found: Iterable[FindingGroup]) -> tuple[FindingGroup, ...]:
    """Return findings by weight, then by how many rounds they are in."""
    return tuple(sorted(found, key=lambda each: (BY_WEIGHT.index(each.weight), -each.rounds)))


def by_code(findings: Mapping[str, Sequence[Finding]], weight: Weight) -> Iterator[FindingGroup]:
    """Yield the findings of ledgers, by their names, as one for each code."""
    codes: dict[str, list[tuple[str, Finding]]] = {}
    for ledger, of_ledger in findings.items():
        for each in of_ledger:
            codes.setdefault(each.code, []).append((ledger, each))
    for code, cases in codes.items():
        places = [
            FindingPlace(name, each.stream, each.leaf_index, each.text) for name, each in cases
        ]
        rounds = len({(each.ledger, each.stream) for each in places if each.stream is not None})
        says = f"{code.replace('_', ' ')}, {_times(len(cases))}: {places[0].text}"
        yield FindingGroup(weight, code, len(cases), rounds, says, tuple(places[:MOST_PLACES]))


def too_few(games: Iterable[GameReport]) -> Iterator[str]:
    """Yield which games have too few rounds for the luck of their cards to be judged."""
    for game in games:
        if game.bets[0].word == INCONCLUSIVE:
            yield (
                f"too few rounds of {game.title} ({unit_words(game.currency)}) to test "
                "the luck of its cards"
            )


def rare_bets(games: Iterable[GameReport]) -> Iterator[str]:
    """Yield which bets beside a judged main bet were laid too rarely to be judged."""
    for game in games:
        main, *others = game.bets
        for bet in others if main.word != INCONCLUSIVE else ():
            if bet.word == INCONCLUSIVE:
                yield (
                    f"whether chance explains the {bet_words(bet.row.bet)} bet of "
                    f"{game.title} ({unit_words(game.currency)}): its {bet.row.rounds:,} rounds "
                    "are too few"
                )


def of_game(game: GameReport) -> Iterator[FindingGroup]:
    """Yield what counts against a game's returns."""
    weights: dict[str, Weight] = {"out of range": "wrong", "watch": "watch"}
    for bet in game.bets:
        if bet.word in weights:
            name = f"{game.title} ({unit_words(game.currency)}), {bet_words(bet.row.bet)} bet"
            why = "; ".join(each.rstrip(".") for each in bet.why) or bet.meaning
            says = f"{name}: {bet.word}: {why}"
            yield FindingGroup(weights[bet.word], "returns", 1, bet.row.rounds, says)
    for each in game.left:
        name = f"{game.title} ({unit_words(game.currency)}), {bet_words(each.bet)} bet"
        says = f"{name}: out of range in the 30 days to {each.last}: {'; '.join(each.why)}"
        yield FindingGroup("wrong", "returns", 1, each.rounds, says)


def of_alarms(alarms: Mapping[str, Sequence[Alarm]]) -> Iterator[FindingGroup]:
    """Yield the alarms of ledgers, by their names, that nobody closed yet, as one finding."""
    left = [(name, each) for name, of in alarms.items() for each in of if not each.is_closed]
    if left:
        _, first = left[0]
        are = "1 alarm is" if len(left) == 1 else f"{len(left):,} alarms are"
        says = f"{are} not closed. Alarm {first.number}, {first.state}: {first.says}"
        places = [
            FindingPlace(name, OPERATIONS_STREAM, each.steps[0].leaf_index, each.says)
            for name, each in left
        ]
        yield FindingGroup("watch", "alarms", len(left), 0, says, tuple(places[:MOST_PLACES]))


def detectable(bet: BetReport) -> float | None:
    """Return the smallest bias of a bet's return that would have left what it stays within at all
    times with a chance of 19 in 20.
    """
    interval, anytime = bet.row.interval, bet.anytime
    if interval is None or anytime is None:
        return None
    standard_error = (interval.upper - interval.lower) / 2 / 1.96
    return (anytime.upper - anytime.lower) / 2 + _TO_BE_SURE * standard_error


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"
