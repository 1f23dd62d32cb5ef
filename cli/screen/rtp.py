"""What players got back, as a terminal shows it: verdicts, bets, slices, what stands apart."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from shoeproof.audit_reports.pages.numerals import percent, standard_errors
from shoeproof.cli.screen.render import amount, plain, plain_table, print_sentence
from shoeproof.replay.rounds.narrative import counted

if TYPE_CHECKING:
    from shoeproof.audit_reports.rtp_report.model import (
        Award,
        GameReport,
        Judged,
        ReturnInterval,
        Row,
    )

WIDE_ENOUGH: Final = 110
"""The width, in characters, from which amounts and what was expected are shown as well."""

ROOM_FOR_WINDOWS: Final = 130
"""The width from which the 30 days to each day are shown beside it."""

WIDEST: Final = 150
"""The width from which the theoretical return and that on all that was staked are shown too."""

BAR: Final = 13
"""Characters of the bar that shows a return in its band; odd, so that it has a middle."""

LONGEST_NAME: Final = 40
"""Characters shown of a name, which may have thousands; `--json` has it whole."""


_STYLES: Final = {
    "no evidence against": "green",
    "inconclusive": "",
    "watch": "yellow",
    "out of range": "bold red",
}


def print_rtp(
    out: Console, judged: "Judged", objection: str | None = None, *, zone: str = "UTC"
) -> None:
    """Print what was found, every game's verdict and bets, then slices, and what stands apart.

    `zone` is the time zone whose days the slices are by.
    """
    games = judged.games
    for told in (objection, *judged.findings):
        if told is not None:
            out.print(Text(plain(told), "bold red"))
    if not games:
        out.print("no rounds for real money are recorded in this period")
    from shoeproof.audit_reports.rtp_report.apart import accounted_words
    from shoeproof.replay.currency import unit_words

    for game in games:
        digest = game.rules_digest[:16]
        variant = ", a variant," if game.variant else ""
        currency = plain(unit_words(game.currency))
        name = f"{plain(game.game or 'unknown rules')}{variant} in {currency}"
        out.print(Text.assemble((name, "bold"), f", rules {digest}…: ", _word(game.word)))
        for why in game.why:
            out.print(Padding(Text(plain(why)), (0, 0, 0, 2)))
        out.print(_bets(game, out.width))
        for window in _rolling(game):
            out.print(window)
        for by, rows in game.slices.items():
            out.print(_slices(game, by, rows, out.width, zone))
        _print_apart(out, game)
        out.print()
    for rounds in judged.rounds:
        print_sentence(out, f"{accounted_words(rounds)}.")
    for line in _awards(judged.awards):
        out.print(line)
    if not games:
        return
    out.print(
        "RTP is on initial stakes, ± its 95% interval. Bar: ● realised, │ expected for this play, "
        "[ ] where 19 of 20 fair games are."
    )
    if any(game.slices for game in games):
        out.print(
            "Luck z: how many standard errors the luck of the cards is from zero. A row's verdict "
            "allows for how many rows there are."
        )
    if out.width >= ROOM_FOR_WINDOWS and any("day" in game.slices for game in games):
        out.print(
            "A verdict beside a day is on the 30 days up to it, and allows for daily looks. "
            "It is left out when there is no evidence against them."
        )


def _bets(game: "GameReport", width: int) -> Table:
    extra = _extra_columns(width)
    expected = (*(["expected"] if extra else []), *(["theory"] if width >= WIDEST else []))
    right = ("rounds", *extra, "RTP ± 95%", *expected)
    table = plain_table("  bet", *right, "", "verdict", right=right)
    for bet in game.bets:
        row = bet.row
        computed = "unknown" if bet.theory is None else _percent(bet.theory.computed)
        table.add_row(
            f"  {_name(row.bet)}",
            f"{row.rounds:,}",
            *_amounts(row, game.currency)[: len(extra)],
            _return(row),
            *(_percent(row.expected), computed)[: len(expected)],
            bar(row.rtp_on_initial_stakes, row.expected, bet.band),
            _word(bet.word),
        )
    return table


def _rolling(game: "GameReport") -> Iterator[Padding]:
    """Yield of each bet what the last 30 days come to, and the word on them."""
    for each in game.rolling:
        if each.rtp_on_initial_stakes is not None:
            told = (
                f"{each.first} to {each.last}, {_name(each.bet)}: {counted(each.rounds, 'round')}, "
            )
            line = Text(f"{told}{_percent(each.rtp_on_initial_stakes)}, ").append_text(
                _word(each.word)
            )
            yield Padding(line, (0, 0, 0, 2))


def _slices(game: "GameReport", by: str, rows: "Sequence[Row]", width: int, zone: str) -> Table:
    from shoeproof.audit_reports.rtp_report.slices import slice_words
    from shoeproof.audit_reports.rtp_report.spans import PERIODS
    from shoeproof.audit_reports.rtp_report.write import rows_in_time

    names = by.split(",")
    extra = _extra_columns(width)
    luck = (*(("expected",) if extra else ()), "luck z")
    right = ("rounds", *extra, "RTP ± 95%", *luck)
    rolling = ("30 days to it",) if names == ["day"] and width >= ROOM_FOR_WINDOWS else ()
    heads = [f"{name} ({zone})" if name in PERIODS else name.replace("_", " ") for name in names]
    table = plain_table(
        f"  {heads[0]}", *heads[1:], "bet", *right, "verdict", *rolling, right=right
    )
    for idle, row in rows_in_time(rows, game.idle.get(by, ())):
        if row is None:
            table.add_row(f"  {idle}", Text("no activity", "dim"))
            continue
        told = [_short(plain(slice_words(name, row.slice[name], game.currency))) for name in names]
        table.add_row(
            f"  {told[0]}", *told[1:], _name(row.bet), f"{row.rounds:,}",
            *_amounts(row, game.currency)[: len(extra)], _return(row),
            *(_percent(row.expected), _errors(row.luck_z))[-len(luck) :], _word(row.word or ""),
            *(_of_window(row) for _ in rolling),
        )  # fmt: skip
    return table


def _of_window(row: "Row") -> Text:
    """Return what the 30 days to a day returned, with their word where something is amiss."""
    if row.rolling is None:
        return Text()
    returned, word = _percent(row.rolling.rtp_on_initial_stakes), row.rolling.word
    return Text(f"{returned} ").append_text(_word("" if word == "no evidence against" else word))


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"


def _extra_columns(width: int) -> tuple[str, ...]:
    return ("staked", "paid", "of total")[: (width >= WIDE_ENOUGH) * 2 + (width >= WIDEST)]


def _print_apart(out: Console, game: "GameReport") -> None:
    """Print of each bet what is not in its figures, or not as the table paid it."""
    for bet in game.bets:
        row, currency = bet.row, game.currency
        told = []
        if row.voided_rounds:
            told.append(f"{row.voided_rounds:,} void, {amount(row.voided_minor, currency)}")
        if row.open_rounds:
            told.append(f"{row.open_rounds:,} open, {amount(row.held_minor, currency)} held")
        if row.resettled_rounds:
            moved = amount(row.resettled_minor, currency)
            told.append(f"{row.resettled_rounds:,} resettled, by {moved} in all")
        if row.incentive_minor:
            kinds = amount(row.cash_minor, currency), amount(row.incentive_minor, currency)
            told.append(f"staked {kinds[0]} in cash and {kinds[1]} of incentives")
        if told:
            line = Text(f"apart, {_name(row.bet)}: {plain('; '.join(told))}")
            out.print(Padding(line, (0, 0, 0, 2)))


def _awards(awards: "Sequence[Award]") -> Iterator[Text]:
    """Yield what was awarded or given in goodwill in each currency, which is in no return."""
    by_currency: dict[str, list[int]] = {}
    for award in awards:
        by_currency.setdefault(award.currency, []).append(award.amount_minor)
    for currency, amounts in by_currency.items():
        paid = "payment" if len(amounts) == 1 else "payments"
        told = f"{len(amounts):,} {paid} by award or goodwill, {amount(sum(amounts), currency)}"
        yield Text(f"apart: {plain(told)}, in no return")


def bar(realised: float | None, expected: float | None, band: "ReturnInterval | None") -> str:
    """Return a return in its band as a bar whose middle is what was expected.

    It reaches twice as far as the band; what lies beyond stands at its end.
    """
    if realised is None or expected is None or band is None or band.upper <= expected:
        return ""
    reach, middle = 2 * (band.upper - expected), BAR // 2

    def place(value: float) -> int:
        return round(min(max((value - expected) / reach, -1.0), 1.0) * middle) + middle

    drawn = ["·"] * BAR
    drawn[place(band.lower)], drawn[place(band.upper)] = "[", "]"
    drawn[middle] = "│"
    drawn[place(realised)] = "●"
    return "".join(drawn)


def _word(word: str) -> Text:
    """Return a verdict in its colour, which one without anything to go by does not have."""
    return Text(word, _STYLES.get(word, ""))


def _name(bet: str) -> str:
    from shoeproof.audit_reports.pages.words import bet_words

    return plain(bet_words(bet))


def _amounts(row: "Row", currency: str) -> tuple[str, ...]:
    from shoeproof.replay.currency import number_text

    money = (number_text(each, currency) for each in (row.staked_minor, row.paid_minor))
    return *money, _percent(row.rtp_on_total_staked)


def _return(row: "Row") -> str:
    if row.rtp_on_initial_stakes is None:
        return ""
    text = _percent(row.rtp_on_initial_stakes)
    if row.interval is None:
        return text
    return f"{text} ± {50 * (row.interval.upper - row.interval.lower):.2f}"


def _errors(z: float | None) -> str:
    return "" if z is None else standard_errors(z)


def _percent(value: float | None) -> str:
    return "" if value is None else percent(value)
