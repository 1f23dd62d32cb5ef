"""What the wallet moved beside what was counted, and what was paid beyond what is due: pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from shoeproof.audit_reports.pages.numerals import amount, percent, signed_amount
from shoeproof.audit_reports.pages.words import bet_words
from shoeproof.audit_reports.rtp_report.model import UNKNOWN_RULES, BetReport, GameReport
from shoeproof.audit_reports.rtp_report.records import AwardRow, SliceRow, WalletBet
from shoeproof.audit_reports.statistics.verdict import Reading, read_wallet


class WalletSums(NamedTuple):
    """Of one bet the rounds in which the wallet moved amounts other than those booked, but for
    those put right since, and how much more players were moved, in all and in what the return
    counts.

    `rtp` is the return by what the wallet moved, None where it moved what was booked, or nothing
    was staked.
    """

    rounds: int
    net_minor: int
    rtp: float | None


def wallet_sums(rows: Iterable[WalletBet], cell: SliceRow) -> WalletSums:
    """Return what the wallet moved differently for a bet, whose figures are those of `cell`."""
    mine = [each for each in rows if each.key == cell.key and each.mode == "real"]
    wrong = [each for each in mine if not each.is_put_right]
    sums, net = cell.sums, sum(each.net_minor for each in wrong)
    counted = sum(each.net_minor for each in wrong if each.is_counted)
    if not wrong or not sums.initial:
        return WalletSums(len(wrong), net, None)
    return WalletSums(
        len(wrong), net, 1 + (sums.paid + counted - sums.staked) / sums.initial
    )  # fmt: skip


def wallet_reading(rows: Iterable[WalletBet], cell: SliceRow) -> Reading:
    """Return what the wallet's answers say about a bet, as a reading of its verdict."""
    found = wallet_sums(rows, cell)
    counted = cell.sums.rtp_on_initial_stakes
    both = ""
    if counted is not None and found.rtp is not None:
        both = two_returns(float(counted), found.rtp)
    return read_wallet(found.rounds, signed_amount(found.net_minor, cell.key.currency), both)


def two_returns(counted: float, moved: float) -> str:
    """Return a return beside the one by what the wallet moved, in words."""
    return f"{percent(counted)} counted, {percent(moved)} by what the wallet moved"


def wallet_headline(games: Sequence[GameReport]) -> str | None:
    """Return what a headline says about the wallet, None where it moved what was counted."""
    told = [
        f"{game.title} {bet_words(bet.row.bet)} ({game.currency}) {_told(bet)}"
        for game in games
        for bet in game.bets
        if bet.wallet_rounds
    ]
    if not told:
        return None
    return f"The wallet moved different amounts from those counted: {'; '.join(told)}"


def _told(bet: BetReport) -> str:
    counted = bet.row.rtp_on_initial_stakes
    if counted is None or bet.wallet_rtp is None:
        return "in bets that no return counts"
    return two_returns(counted, bet.wallet_rtp)


def wallet_findings(rows: Sequence[WalletBet], names: Mapping[str, str]) -> Iterator[str]:
    """Say for each game's bets what the wallet moved differently; `names` are the games', by
    digest.

    What was put right since is told too, as wrong payments are that a dispute resettled.
    """
    of_bets: dict[tuple[str, str, str, bool], list[WalletBet]] = {}
    for row in rows:
        if row.mode == "real":
            title = names.get(row.rules_digest, UNKNOWN_RULES)
            key = (title, row.bet, row.currency, row.is_put_right)
            of_bets.setdefault(key, []).append(row)
    for (title, bet, currency, is_put_right), mine in of_bets.items():
        says = f"{title}, {bet_words(bet)}: {_wallet_moved(len(mine))}"
        if is_put_right:
            yield f"{says}, which was put right since"
        else:
            yield f"{says}, {_to_players(mine, currency)}"


def apart_findings(rows: Sequence[WalletBet], awards: Sequence[AwardRow]) -> Iterator[str]:
    """Say what the wallet moved differently for fun and by awards: no game's verdict covers it."""
    for_fun: dict[str, list[WalletBet]] = {}
    for row in rows:
        if row.mode == "fun":
            for_fun.setdefault(row.currency, []).append(row)
    for currency, mine in for_fun.items():
        rounds = len({each.round for each in mine})
        played = "1 round" if rounds == 1 else f"{rounds:,} rounds"
        yield f"Real money moved in {played} played for fun, {_to_players(mine, currency)}"
    for award in awards:
        if award.moved_minor is not None:
            booked = amount(award.amount_minor, award.currency)
            yield (
                f"The wallet moved {amount(award.moved_minor, award.currency)} for an award of "
                f"{booked} (leaf {award.leaf_index})"
            )


def _wallet_moved(rounds: int) -> str:
    if rounds == 1:
        return "in 1 round the wallet moved a different amount from the one booked"
    return f"in {rounds:,} rounds the wallet moved different amounts from those booked"


def _to_players(rows: Iterable[WalletBet], currency: str) -> str:
    return f"{signed_amount(sum(each.net_minor for each in rows), currency)} to the players in all"
