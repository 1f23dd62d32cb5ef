"""The shoe itself, as a reading: is it the one committed to, was its seed new, is it shuffled?

None of this is chance except the tests of the shuffle, which are run again for every report. Pure.
"""

from collections.abc import Iterator, Mapping, Sequence

from shoeproof.audit_reports.rtp_report.model import UNKNOWN_RULES, Shuffle
from shoeproof.audit_reports.rtp_report.records import BetKey, ShoesOfGame, SliceRow
from shoeproof.audit_reports.statistics.verdict import NO_EVIDENCE, OUT_OF_RANGE, WATCH, Reading
from shoeproof.replay.currency import unit_words
from shoeproof.replay.engine.outcomes import MAIN


def shoe_readings(
    shoes: Sequence[ShoesOfGame], shuffle: Shuffle | None, cell: SliceRow
) -> Iterator[Reading]:
    """Yield what the shoes of a game say; they stand with its main bet.

    `shuffle` is None where its tests were left out.
    """
    if cell.key.bet != MAIN:
        return
    for each in shoes:
        if (each.rules_digest, each.currency) == (cell.key.rules_digest, cell.key.currency):
            faults = list(fault_words(each))
            good = f"{_rounds(each.rounds)} revealed the seed committed to, and no seed came twice"
            if faults:
                yield Reading("shoe", OUT_OF_RANGE, "; ".join(faults))
            else:
                yield Reading("shoe", NO_EVIDENCE, good)
    if shuffle is not None:
        yield from _of_shuffle(shuffle, cell.key)


def fault_words(found: ShoesOfGame) -> Iterator[str]:
    """Yield each thing that is wrong with the shoes of a game, in words."""
    for count, says in (
        (found.broken, "the seed revealed is not the one committed to"),
        (found.late, "the shoe was committed to after the stakes were laid"),
        (found.uncommitted, "no single shoe was committed to"),
        (found.unrevealed, "the seed was never revealed"),
        (found.repeated, "an earlier round had the same seed, so the cards were known"),
    ):
        if count:
            yield f"in {count:,} of {_rounds(found.rounds)} {says}"


def shoe_headline(shoes: Sequence[ShoesOfGame], names: Mapping[str, str]) -> str | None:
    """Return what a headline says about shoes, None where nothing is wrong; `names` by digest."""
    told = [
        f"{names.get(each.rules_digest, UNKNOWN_RULES)} ({unit_words(each.currency)}), {says}"
        for each in shoes
        for says in fault_words(each)
    ]
    return f"The shoe: {'; '.join(told)}" if told else None


def _of_shuffle(shuffle: Shuffle, key: BetKey) -> Iterator[Reading]:
    failed, beyond = (_of_game(names, key) for names in (shuffle.failed, shuffle.beyond))
    if not failed:
        return
    tests = "1 test" if len(failed) == 1 else f"{len(failed)} tests"
    says = f"{tests} of the shuffle failed: {', '.join(failed)}"
    if beyond:
        yield Reading("shuffle", OUT_OF_RANGE, f"{says}; no number of tests explains that")
    else:
        yield Reading("shuffle", WATCH, f"{says}, significant if it were the only test made")


def _of_game(names: Sequence[str], key: BetKey) -> list[str]:
    """Return the tests of a game; where it has several rule sets they are named by digest too.

    Of several ledgers a name begins with the ledger's.
    """
    games = (key.game, f"{key.game} {key.rules_digest[:8]}")
    return [test for *_, game, test in (name.split(": ") for name in names) if game in games]


def _rounds(count: int) -> str:
    return "1 round" if count == 1 else f"{count:,} rounds"
