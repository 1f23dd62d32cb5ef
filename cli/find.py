"""`dispute find`: a round by what a player remembers of it."""

from datetime import UTC
from typing import Annotated
from zoneinfo import ZoneInfo

import msgspec
import typer
from rich.text import Text

from cli.options import (
    JsonOption,
    LedgerOption,
    open_to_read,
    parse_amount,
    parse_local,
    parse_zone,
    program,
    with_ledger,
)
from cli.render import amount, cards_text, console, plain, print_json, progress_bar
from ledger.clock import parse_time
from replay.catalogue import rules_by_digest
from replay.disputes.find import Candidate, Remembered, Search, find_rounds, read_card


def find_command(
    player: Annotated[str | None, typer.Option(help="The operator's name for the player.")] = None,
    since: Annotated[
        str | None, typer.Option("--from", help="Played at or after: 2026-01-31T20:15+01:00.")
    ] = None,
    until: Annotated[str | None, typer.Option("--to", help="Played before.")] = None,
    zone: Annotated[
        str | None,
        typer.Option(help="The time zone of times without an offset, such as Europe/Malta."),
    ] = None,
    stake: Annotated[
        str | None, typer.Option(help="Staked, in the round or on a bet of it: 12.50.")
    ] = None,
    paid: Annotated[str | None, typer.Option(help="Paid, by the round or a bet of it.")] = None,
    card: Annotated[
        list[str] | None, typer.Option(help="A card that was seen: Qs, 10♦, or K. May repeat.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Stop after so many.")] = 20,
    path: LedgerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find a round by its player and hour, and by amounts and cards a player remembers."""
    shown_in = parse_zone(zone)
    remembered = Remembered(
        player=player,
        begin=parse_local(since, shown_in),
        end=parse_local(until, shown_in, last=True),
        staked=parse_amount(stake),
        paid=parse_amount(paid),
        cards=tuple(map(read_card, card or ())),
    )
    with open_to_read(path) as ledger, progress_bar() as bar:
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
        out.print(_second_line(each), soft_wrap=True)
    if search.found:
        out.print(f"\n{_how_far(search)} To see what the ledger shows of one:")
        out.print(f"  {program()} dispute assess ROUND{with_ledger(path)}", soft_wrap=True)
    else:
        out.print(Text(f"No round fits. {_how_far(search)}", "bold"))
        out.print(
            "That proves nothing: an hour, an amount or a card may be remembered wrongly, and "
            "rounds are looked up by an index that is no evidence. Try a longer time, or less "
            "that must fit; `verify` shows whether the ledger is whole."
        )
    for round_id in search.unreadable:
        out.print(Text(f"Round {plain(round_id)} could not be read: assess it", "bold red"))


def _how_far(search: Search) -> str:
    rest = "" if search.complete else ", and there are more: narrow the search or raise --limit"
    rounds = "1 round" if search.read == 1 else f"{search.read:,} rounds"
    return f"Read {rounds} of a ledger of {search.size:,} leaves{rest}."


def _first_line(found: Candidate, game: str, zone: ZoneInfo | None) -> Text:
    opened = parse_time(found.row.opened_at).astimezone(zone or UTC)
    text = Text.assemble((found.row.round, "bold"), f"  {opened:%Y-%m-%d %H:%M:%S %Z}  {game}")
    return text if found.row.state == "closed" else text.append(f"  {found.row.state}", "yellow")


def _second_line(found: Candidate) -> Text:
    currency = found.row.currency
    staked, paid = amount(found.staked_minor, currency), amount(found.paid_minor, currency)
    return Text.assemble(
        f"    {plain(found.row.player)}  staked {staked}, paid {paid}  ", cards_text(found.cards)
    )
