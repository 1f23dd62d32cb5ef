"""`rules`: what each game's rules say, where they come from, and adding a variant."""

from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich.text import Text

from shoeproof.cli.errors import UsageError
from shoeproof.cli.input.options import JsonOption, LedgerOption, open_to_read, open_to_write
from shoeproof.cli.screen.render import console, plain_table, print_json
from shoeproof.ledger.files.printable import printable_json
from shoeproof.replay.engine.rules import Rules, canonical_rules, rules_digest, rules_from_json
from shoeproof.replay.games.game import Game
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.rounds.catalogue import add_rules, rules_by_digest

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Show the games' rules, or add a variant.",
    epilog="Example: shoeproof rules show nba",
)


def register(commands: typer.Typer) -> None:
    """Add this group."""
    commands.add_typer(app, name="rules")


@app.command("list", epilog="Example: shoeproof rules list --json")
def list_command(path: LedgerOption = None, as_json: JsonOption = False) -> None:
    """List the published games and a ledger's variants."""
    known = {rules_digest(game.rules): game.rules for game in GAMES.values()}
    if path is not None:
        with open_to_read(path) as ledger:
            known |= rules_by_digest(ledger)
    rows = [_listed(digest, rules) for digest, rules in known.items()]
    if as_json:
        print_json(rows)
        return
    table = plain_table("game", "decks", "seats", "rules digest", "published return, %")
    for row in rows:
        published = ", ".join(f"{bet} {percent}" for bet, percent in row["published"].items())
        digest = row["rules_digest"][:16] + "…"
        table.add_row(row["game"], row["decks"], row["seats"], digest, published or "a variant")
    console().print(table)


def _listed(digest: str, rules: Rules) -> dict[str, Any]:
    game = GAMES.get(rules.id)
    is_published = game is not None and rules_digest(game.rules) == digest
    return {
        "game": rules.id,
        "title": game.title if game is not None and is_published else None,
        "decks": str(rules.decks),
        "seats": str(rules.seats),
        "rules_digest": digest,
        "published": {each.bet: each.percent for each in game.published}
        if game is not None and is_published
        else {},
    }


@app.command("show", epilog="Example: shoeproof rules show nba")
def show_command(
    name: Annotated[
        str,
        typer.Argument(metavar="GAME", help="zappit, zero or nba; or a digest the ledger carries."),
    ],
    path: LedgerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show a game clause by clause.

    It gives what a clause says, the page's section, and what had to be assumed.

    Of a variant, named by how its digest begins, it shows what differs from the published game.
    --json prints the canonical rules: edit a copy of it to make a variant for `rules add`.
    """
    rules = GAMES[name].rules if name in GAMES else _carried(path, name)
    if as_json:
        print_json(msgspec.Raw(canonical_rules(rules)))
    elif name in GAMES:
        _print_clauses(GAMES[name])
    else:
        _print_difference(rules)


def _carried(path: str | None, name: str) -> Rules:
    if path is None:
        raise UsageError(f"unknown game {name!r}; there are {', '.join(GAMES)}")
    with open_to_read(path) as ledger:
        found = [
            rules
            for digest, rules in rules_by_digest(ledger).items()
            if digest.startswith(name.lower()) or rules.id == name
        ]
    if len(found) != 1:
        count = "no rules" if not found else f"{len(found)} rule sets"
        raise UsageError(f"the ledger has {count} of {name!r}; `rules list --json` has the digests")
    return found[0]


def _print_difference(rules: Rules) -> None:
    out = console()
    out.print(f"rules of {rules.id}, digest", soft_wrap=True)
    out.print(rules_digest(rules))
    if rules.id not in GAMES:
        out.print("no published game has this id; --json shows the rules whole")
        return
    table = plain_table("clause", "here", "published")
    published = msgspec.json.decode(canonical_rules(GAMES[rules.id].rules))
    for field, value in msgspec.json.decode(canonical_rules(rules)).items():
        if value != published[field]:
            table.add_row(field, _short(value), _short(published[field]))
    out.print(table if table.row_count else "these are the published rules")


def _short(value: object) -> str:
    text = printable_json(value, indent=None)
    return text if len(text) <= 60 else text[:59] + "…"


@app.command("add", epilog="Example: shoeproof rules add variant.json")
def add_command(
    file: Annotated[Path, typer.Argument(help="A JSON rules file, as `rules show --json` prints.")],
    path: LedgerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Validate a rules file and add it to the ledger.

    New rounds of that game use it from now on.
    """
    rules = rules_from_json(file.read_bytes())
    with open_to_write(path) as ledger:
        digest = add_rules(ledger, rules)
    if as_json:
        print_json({"game": rules.id, "rules_digest": digest})
    else:
        console().print(f"Added rules for {rules.id}, digest\n{digest}", soft_wrap=True)


def _print_clauses(game: Game) -> None:
    out = console()
    out.print(Text(game.title, "bold"), f"· {game.page.title}, {game.page.date}")
    out.print(f"rules digest {rules_digest(game.rules)}", soft_wrap=True)
    out.print(f"page SHA-256 {game.page.sha256}\n", soft_wrap=True)
    table = plain_table("clause", "says", "source")
    for name, clause in game.clauses.items():
        source = Text("ASSUMED ", "bold yellow") if clause.assumed else Text("")
        table.add_row(name, clause.says, source.append(clause.source, "dim"))
    for assumption in game.assumptions:
        source = Text("ASSUMED ", "bold yellow").append(assumption.because, "dim")
        table.add_row(assumption.field, assumption.says, source)
    for name, (section, says) in game.page.clauses.items():
        table.add_row(name, says, Text(section, "dim"))
    out.print(table)
    out.print()
    payments = plain_table("settlement line", "when", "pays")
    for line in game.rules.settlement:
        when = {
            name: value
            for name, value in msgspec.structs.asdict(line.when).items()
            if value is not None
        }
        facts = ", ".join(_fact(name.replace("_", " "), value) for name, value in when.items())
        payments.add_row(line.name, facts or "otherwise", line.pays)
    out.print(payments)
    out.print()
    for each in game.published:
        out.print(f"published return of {each.bet}: {each.percent}% ({each.source})")


def _fact(name: str, value: object) -> str:
    if isinstance(value, bool):
        return name if value else f"not {name}"
    return f"{name} {value}"
