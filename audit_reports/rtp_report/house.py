"""The house's own claims: what it withheld from players, what it offered, and what it voided.

Each is a claim like any other and is checked against the ledger. Pure.
"""

from collections.abc import Iterator, Mapping, Sequence

from shoeproof.audit_reports.pages.numerals import amount
from shoeproof.audit_reports.pages.words import bet_words
from shoeproof.audit_reports.rtp_report.apart import paid_words
from shoeproof.audit_reports.rtp_report.model import UNKNOWN_RULES
from shoeproof.audit_reports.rtp_report.records import (
    BetKey,
    OffersOfAct,
    PartlyRefunded,
    SliceRow,
    VoidOutcomes,
)
from shoeproof.audit_reports.statistics.verdict import OUT_OF_RANGE, Reading
from shoeproof.replay.engine.outcomes import MAIN


def house_readings(offers: Sequence[OffersOfAct], cell: SliceRow) -> Iterator[Reading]:
    """Yield what the house's offers come to, which stands with the main bet."""
    if cell.key.bet != MAIN:
        return
    mine = [each for each in offers if _is_of(each, cell.key)]
    if any(each.kept_wrongly for each in mine):
        yield Reading("offers", OUT_OF_RANGE, "; ".join(map(kept_words, _wrong(mine))))
    for each in mine:
        if each.low_offers or each.high_offers:
            yield Reading("cash-out offers", OUT_OF_RANGE, value_words(each))


def house_findings(
    offers: Sequence[OffersOfAct], voids: Sequence[VoidOutcomes], names: Mapping[str, str]
) -> Iterator[str]:
    """Say what the house withheld, showed and voided; `names` are the games', by rules digest."""
    for each in offers:
        title = names.get(each.rules_digest, UNKNOWN_RULES)
        if each.kept_wrongly:
            yield f"{title}: {kept_words(each)}"
        if each.low_offers or each.high_offers:
            yield f"{title}: {value_words(each)}"
    for void in voids:
        title = names.get(void.rules_digest, UNKNOWN_RULES)
        if void.known:
            yield f"{title}, {bet_words(void.bet)}: {paid_words(void)}"


def refund_findings(refunds: Sequence[PartlyRefunded], names: Mapping[str, str]) -> Iterator[str]:
    """Name the bets for which part of the stake went back, which does not make them void."""
    for each in refunds:
        title = names.get(each.rules_digest, UNKNOWN_RULES)
        back, staked = (
            amount(minor, each.currency) for minor in (each.back_minor, each.staked_minor)
        )
        rounds = "1 round" if each.rounds == 1 else f"{each.rounds:,} rounds"
        yield (
            f"{title}, {bet_words(each.bet)}: in {rounds} {back} went back of {staked} staked, "
            f"which is not a void: it is counted as paid (leaf {each.leaf_index})"
        )


def kept_words(found: OffersOfAct) -> str:
    """Say how often an act was kept from players against the rules."""
    wrongly = found.kept_wrongly
    says = f"{found.act} was withheld in {wrongly:,} of {found.due:,} offers it was due in"
    if found.unborne:
        says += f", in {found.unborne:,} of them for lack of money that no balance confirms"
    return says


def value_words(found: OffersOfAct) -> str:
    """Say by how much cash-out offers were not the table's; both sums are given, never netted."""
    parts = [
        f"{count:,} {'offer' if count == 1 else 'offers'} "
        f"{amount(minor, found.currency)} {which} the rules' table in all"
        for count, minor, which in (
            (found.low_offers, found.low_minor, "below"),
            (found.high_offers, found.high_minor, "above"),
        )
        if count
    ]
    return f"{found.act} was shown at wrong values: {' and '.join(parts)}"


def _wrong(offers: Sequence[OffersOfAct]) -> list[OffersOfAct]:
    return [each for each in offers if each.kept_wrongly]


def _is_of(offers: OffersOfAct, key: BetKey) -> bool:
    return (offers.rules_digest, offers.currency) == (key.rules_digest, key.currency)
