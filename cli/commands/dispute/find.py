"""`dispute find`: a round by what a player remembers of it."""

import re
from datetime import UTC
from typing import Annotated
from zoneinfo import ZoneInfo

import msgspec
import typer
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from shoeproof.cli.input.options import (
    JsonOption,
    LedgerOption,
    ZoneOption,
    check_places,
    open_to_read,
    parse_amount,
    parse_local,
    parse_zone,
    program,
    with_ledger,
)
from shoeproof.cli.screen.render import (
    amount,
    cards_text,
    console,
    plain,
    print_command,
    print_json,
    progress_bar,
)
from shoeproof.replay.disputes.find import (
    Candidate,
    Remembered,
    Search,
    SeenBet,
    SeenHand,
    find_rounds,
    read_card,
    read_result,
)
from shoeproof.replay.engine.outcomes import MAIN
from shoeproof.replay.local_time import zoned_text
from shoeproof.replay.rounds.catalogue import rules_by_digest
from shoeproof.replay.rounds.narrative import counted


def find_command(
    player: Annotated[str | None, typer.Option(help="The operator's name for the player.")] = None,
    since: Annotated[
        str | None, typer.Option("--from", help="Played at or after: 2026-01-31T20:15+01:00.")
    ] = None,
    until: Annotated[str | None, typer.Option("--to", help="Played before.")] = None,
    zone: ZoneOption = None,
    stake: Annotated[
        str | None, typer.Option(help="Staked, in the round or on a bet of it: 12.50.")
    ] = None,
    paid: Annotated[str | None, typer.Option(help="Paid, by the round or a bet of it.")] = None,
    bet: Annotated[
        str | None, typer.Option(help="A bet the round had: main, insurance, perfect_pairs.")
    ] = None,
    result: Annotated[
        str | None,
        typer.Option(
            help="How that bet ended: won, push, lost or void; without --bet, how a hand or the "
            "round did."
        ),
    ] = None,
    total: Annotated[
        int | None, typer.Option(help="The total of one of the player's hands.")
    ] = None,
    dealer_total: Annotated[
        int | None, typer.Option(help="The total of the dealer's hand.")
    ] = None,
    card: Annotated[
        list[str] | None, typer.Option(help="A card that was seen: Qs, 10♦, or K. May repeat.")
    ] = None,
    player_card: Annotated[
        list[str] | None, typer.Option(help="A card the player had. May repeat.")
    ] = None,
    dealer_card: Annotated[
        list[str] | None, typer.Option(help="A card the dealer had. May repeat.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Stop after this many rounds.")] = 20,
    path: LedgerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find a round by what a player remembers of it.

    Player and hour, amounts, cards, totals, a bet and how it ended: a round must fit all that is
    given.
    """
    shown_in = parse_zone(zone)
    remembered = Remembered(
        player=player,
        begin=parse_local(since, shown_in),
        end=parse_local(until, shown_in),
        staked=parse_amount(stake),
        paid=parse_amount(paid),
        cards=tuple(map(read_card, card or ())),
        player_cards=tuple(map(read_card, player_card or ())),
        dealer_cards=tuple(map(read_card, dealer_card or ())),
        total=total,
        dealer_total=dealer_total,
        bet=None if bet is None else re.sub(r"[ -]", "_", bet.strip().lower()),
        result=None if result is None else read_result(result),
    )
    with open_to_read(path) as ledger, progress_bar() as bar:
        for money in (remembered.staked, remembered.paid):
            check_places(money, ledger.currencies())
        task = bar.add_task("reading rounds", total=None)

        def progress(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        search = find_rounds(ledger, remembered, progress, most=limit)
        games = {digest: rules.id for digest, rules in rules_by_digest(ledger).items()}
    if as_json:
        print_json({"kind": "search", **msgspec.to_builtins(search)})
        return
    out = console()
    for each in search.found:
        game = games.get(each.row.rules_digest, "unknown")
        out.print(_first_line(each, plain(game), shown_in), soft_wrap=True)
        out.print(_sums(each), soft_wrap=True)
        out.print(_hands(each))
    if search.found:
        out.print(f"\n{_how_far(search)} To see what the ledger shows of one:")
        print_command(out, f"{program()} dispute assess ROUND{with_ledger(path)}")
    else:
        out.print(Text(f"No round fits. {_how_far(search)}", "bold"))
        out.print(
            "This does not prove the round was never played: the details may be misremembered, "
            "and the index searched is not itself verified. Widen the times or drop a condition; "
            "run `verify` to check the ledger."
        )
    for round_id in search.unreadable:
        out.print(Text(f"Round {plain(round_id)} could not be read: assess it", "bold red"))


def _how_far(search: Search) -> str:
    rest = "" if search.complete else ", and there are more: narrow the search or raise --limit"
    rounds = counted(search.read, "round")
    return f"Read {rounds} of a ledger of {search.size:,} leaves{rest}."


def _first_line(found: Candidate, game: str, zone: ZoneInfo | None) -> Text:
    opened = zoned_text(found.row.opened_at, zone or UTC)
    text = Text.assemble((found.row.round, "bold"), f"  {opened}  {game}")
    return text if found.row.state == "closed" else text.append(f"  {found.row.state}", "yellow")


def _sums(found: Candidate) -> Text:
    currency = found.currency
    staked, paid = amount(found.staked_minor, currency), amount(found.paid_minor, currency)
    return Text(f"    {plain(found.row.player)}  staked {staked}, paid {paid}")


def _hands(found: Candidate) -> Table | Padding:
    """Return a line for each hand: its cards, its total, and how its bets ended."""
    if found.dealer is None:
        untold = Text("its play cannot be followed: the totals are unknown", "yellow")
        return Padding(cards_text(found.cards) + Text("\n") + untold, (0, 0, 0, 4))
    table = Table.grid(padding=(0, 2, 0, 0))
    for _ in ("hand", "cards and total", "bets"):
        table.add_column()
    untold_bets = list(found.bets)
    for hand in (*found.hands, found.dealer):
        # A bet that is of a seat and of no hand stands with the first hand of the seat.
        own = [bet for bet in untold_bets if bet.hand == hand.hand or _is_of_seat(bet, hand)]
        untold_bets = [bet for bet in untold_bets if bet not in own]
        bets = ", ".join(f"{bet.bet.replace('_', ' ')} {bet.result or 'open'}" for bet in own)
        cards = cards_text(hand.cards).append(f"  {hand.total or ''}", "bold")
        table.add_row(f"    {plain(hand.hand):<6}", cards, plain(bets))
    return table


def _is_of_seat(bet: SeenBet, hand: SeenHand) -> bool:
    return bet.hand == hand.seat and bet.bet != MAIN
