"""From what was counted and judged to the report on a fault: pure."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

from shoeproof.audit_reports.fault_report.counted import CountedRound
from shoeproof.audit_reports.fault_report.judged import JudgedRound
from shoeproof.audit_reports.fault_report.model import (
    Basis,
    By,
    FaultReport,
    FindingRow,
    MoneyRow,
    PlayerRow,
    ReturnRow,
)
from shoeproof.audit_reports.fault_report.named import NamedFault
from shoeproof.audit_reports.fault_report.scan import BetTotals, CellKey, Scan, cells_of
from shoeproof.audit_reports.pages.numerals import amount

TITLE = "The rounds one fault touched"


def build_report(
    fault: NamedFault,
    found: Scan,
    touched: Sequence[CountedRound],
    judged: Sequence[JudgedRound],
    basis: Basis,
) -> FaultReport:
    """Return the report on a fault; `judged` are those of the touched rounds that were judged."""
    judged = sorted(judged, key=lambda each: (each.opened_at, each.round))
    wrong = [each for each in judged if each.is_wrong]
    money = tuple(_money(touched, judged))
    opened = sorted(each.opened_at for each in touched)
    waiting = sum(each.waits == "adjudicator" for each in wrong)
    return FaultReport(
        title=TITLE,
        fault=fault.text,
        words=fault.words,
        headline=_headline(fault, touched, wrong, money, waiting),
        basis=basis,
        all_rounds=found.rounds,
        rounds=len(touched),
        wrong_rounds=len(wrong),
        players=len({each.player for each in touched}),
        wrong_players=len({each.player for each in wrong}),
        fun_rounds=sum(each.mode == "fun" for each in touched),
        open_rounds=sum(each.state == "open" for each in touched),
        void_rounds=sum(each.state == "void" for each in touched),
        first_at=opened[0] if opened else None,
        last_at=opened[-1] if opened else None,
        money=money,
        findings=tuple(_findings(judged)),
        returns=tuple(_returns(found, touched, judged)),
        players_owed=tuple(_players(wrong)),
        judged=tuple(judged),
        waiting_rounds=waiting,
        lacks=tuple(_lacks(fault, judged)) if touched else (),
    )


def _headline(
    fault: NamedFault,
    touched: Sequence[CountedRound],
    wrong: Sequence[JudgedRound],
    money: Sequence[MoneyRow],
    waiting: int,
) -> str:
    """Say in one sentence each how far it went, what it moved wrongly, and what is owed."""
    rounds, players = len(touched), len({each.player for each in touched})
    name = fault.words[0].upper() + fault.words[1:]
    text = f"{name}: {_many(rounds, 'round')} of {_many(players, 'player')}"
    if not wrong:
        return f"{text}; nothing is wrong in them."
    text += f"; something is wrong in {_many(len(wrong), 'of these rounds', 'of these rounds')}."
    for row in money:
        sums = (row.underpaid_minor, row.overpaid_minor, row.owed_minor)
        if any(sums):
            under, over, owed = (amount(minor, row.currency) for minor in sums)
            text += (
                f" Players were paid {under} too little and {over} too much; {owed} is still owed."
            )
    if waiting:
        verb = "waits" if waiting == 1 else "wait"
        text += f" {_many(waiting, 'round')} {verb} for an adjudicator."
    return text


def _many(count: int, one: str, more: str | None = None) -> str:
    return f"{count:,} {one if count == 1 else more or one + 's'}"


def _money(touched: Sequence[CountedRound], judged: Sequence[JudgedRound]) -> Iterator[MoneyRow]:
    real = [each for each in touched if each.mode == "real"]
    counted = [each for each in judged if each.mode == "real" or each.underpaid_minor]
    known = {each.currency for each in real} | {each.currency for each in counted}
    for currency in sorted(known):
        mine = [each for each in real if each.currency == currency]
        of_judge = [each for each in counted if each.currency == currency]
        wrong = [each for each in of_judge if each.is_wrong]
        bets = [bet for each in mine for bet in each.bets]
        yield MoneyRow(
            currency=currency,
            rounds=len(mine),
            wrong_rounds=len(wrong),
            players=len({each.player for each in mine}),
            wrong_players=len({each.player for each in wrong}),
            staked_minor=sum(bet.staked_minor for bet in bets),
            paid_minor=sum(bet.paid_minor for bet in bets),
            underpaid_minor=sum(each.underpaid_minor for each in of_judge),
            overpaid_minor=sum(each.overpaid_minor for each in of_judge),
            put_right_minor=sum(each.put_right_minor for each in of_judge),
            owed_minor=sum(each.owed_minor for each in of_judge),
        )


def _findings(judged: Iterable[JudgedRound]) -> Iterator[FindingRow]:
    counts = Counter(code for each in judged for code in each.findings)
    for code, rounds in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        yield FindingRow(code, rounds)


def _players(wrong: Iterable[JudgedRound]) -> list[PlayerRow]:
    by_player: dict[tuple[str, str], list[JudgedRound]] = {}
    for each in wrong:
        by_player.setdefault((each.player, each.currency), []).append(each)
    rows = [
        PlayerRow(
            player=player,
            currency=currency,
            rounds=len(mine),
            underpaid_minor=sum(each.underpaid_minor for each in mine),
            overpaid_minor=sum(each.overpaid_minor for each in mine),
            put_right_minor=sum(each.put_right_minor for each in mine),
            owed_minor=sum(each.owed_minor for each in mine),
            waiting_rounds=sum(each.waits != "nobody" for each in mine),
        )
        for (player, currency), mine in by_player.items()
    ]
    return sorted(rows, key=lambda row: (row.currency, -row.owed_minor, row.player))


def _returns(
    found: Scan, touched: Sequence[CountedRound], judged: Sequence[JudgedRound]
) -> Iterator[ReturnRow]:
    """Yield the returns of every bet that the fault touched: of all rounds, by build, by table."""
    of_touched = cells_of(touched)
    right = _right_paid(touched, judged)
    met = {key[:3] for key in of_touched}
    keys = [key for key in found.cells if key[:3] in met]
    names: dict[By, Callable[[CellKey], str | None]] = {
        "all": lambda key: None,
        "build": lambda key: key.build,
        "table": lambda key: key.table,
    }
    for by, name_of in names.items():
        groups: dict[tuple[str, str, str, str | None], list[CellKey]] = {}
        for key in keys:
            groups.setdefault((*key[:3], name_of(key)), []).append(key)
        for (digest, currency, bet, name), mine in sorted(groups.items(), key=_in_order):
            total, part = _sum(found.cells, mine), _sum(of_touched, mine)
            rightly = sum(right.get(key, 0) for key in mine)
            key = CellKey(digest, currency, bet, None, None)
            yield _row(by, name, found.games.get(digest), key, total, part, rightly)


def _sum(cells: Mapping[CellKey, BetTotals], keys: Iterable[CellKey]) -> BetTotals:
    total = BetTotals()
    for key in keys:
        total = total.plus(cells.get(key, BetTotals()))
    return total


def _in_order(item: tuple[tuple[str, str, str, str | None], object]) -> tuple[str, ...]:
    return tuple(each or "" for each in item[0])


def _row(
    by: By,
    name: str | None,
    game: str | None,
    key: CellKey,
    total: BetTotals,
    part: BetTotals,
    right: int,
) -> ReturnRow:
    rest = total.plus(part, -1)
    put_right = total._replace(paid_minor=total.paid_minor - part.paid_minor + right)
    return ReturnRow(
        by=by,
        name=name,
        game=game,
        rules_digest=key.rules_digest,
        currency=key.currency,
        bet=key.bet,
        rounds=total.rounds,
        touched_rounds=part.rounds,
        initial_minor=total.initial_minor,
        staked_minor=total.staked_minor,
        paid_minor=total.paid_minor,
        touched_initial_minor=part.initial_minor,
        touched_staked_minor=part.staked_minor,
        touched_paid_minor=part.paid_minor,
        right_paid_minor=right,
        rtp=_rate(total),
        rtp_touched=_rate(part),
        rtp_without=_rate(rest),
        rtp_right=_rate(put_right),
    )


def _rate(cell: BetTotals) -> float | None:
    if not cell.initial_minor:
        return None
    return float(1 + Fraction(cell.paid_minor - cell.staked_minor, cell.initial_minor))


def _right_paid(
    touched: Sequence[CountedRound], judged: Sequence[JudgedRound]
) -> Mapping[CellKey, int]:
    """Return what the touched rounds would have paid, if they had been paid as judged here."""
    by_round = {each.round: each for each in judged}
    sums: dict[CellKey, int] = {}
    for each in touched:
        if each.state != "closed" or each.mode != "real":
            continue
        verdict = by_round.get(each.round)
        for bet in each.bets:
            key = CellKey(each.rules_digest, each.currency, bet.bet, each.build, each.table)
            booked = bet.paid_minor
            paid = booked if verdict is None else verdict.right_minor.get(bet.bet, booked)
            sums[key] = sums.get(key, 0) + paid
    return sums


def _lacks(fault: NamedFault, judged: Sequence[JudgedRound]) -> Iterator[str]:
    if fault.kind == "finding":
        yield (
            "The rounds are chosen by what was found in them, so the return without them is not "
            "that of the game: where a fault strikes only wins, the rounds left have fewer wins. "
            "The return with what was right shows the game."
        )
    sealed = sum(each.is_sealed for each in judged)
    if sealed:
        yield (
            f"In {_many(sealed, 'round')} no seed was revealed. They are judged by the sealed "
            "seed, which only the holder of the ledger's key can open."
        )
    if any(each.mode == "fun" for each in judged):
        yield "Rounds played for fun count in no sum unless money moved in them."
    yield (
        "What a player is owed is what the judge's plan of remedies makes due. Overpayments are "
        "not taken back and not set off."
    )
