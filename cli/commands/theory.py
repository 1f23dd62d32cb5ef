"""`theory`, `strategy`, `value`: what the rules return, how to play them, what an act was worth."""

import sys
from decimal import Decimal
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import msgspec
import typer
from rich.console import Console
from rich.text import Text

from shoeproof.audit_reports.pages.cells import write_rows
from shoeproof.cli.exit_codes import FINDINGS
from shoeproof.cli.input.options import JsonOption, RulesOption
from shoeproof.cli.input.tables import find_game
from shoeproof.cli.screen.render import (
    console,
    dealer_line,
    hand_line,
    plain_table,
    print_json,
    print_sentence,
    print_verdict,
    progress_bar,
)
from shoeproof.ledger.files.durable import write_durably
from shoeproof.replay.engine.hand import DOUBLE, HIT, SPLIT, STAND, ZAP
from shoeproof.replay.engine.round import Decide, RoundState
from shoeproof.replay.engine.rules import Rules, rules_from_json
from shoeproof.replay.games.game import Game
from shoeproof.replay.written.round_text import ActMove, read_round
from shoeproof.replay.written.walk import walk_round

if TYPE_CHECKING:
    from shoeproof.replay.theory.chart import ChartRow
    from shoeproof.replay.theory.readings import ReadingRow
    from shoeproof.replay.theory.results import Theory
    from shoeproof.replay.theory.verdict import Comparison

GameArgument = Annotated[str, typer.Argument(metavar="GAME", help="zappit, zero or nba.")]
PLACES: Final = 6
"""Decimals of a return in JSON: a ten-thousandth of a percent."""

STYLES: Final = {
    HIT: "black on yellow",
    STAND: "white on red",
    DOUBLE: "black on green",
    SPLIT: "white on blue",
    ZAP: "white on magenta",
}


def register(app: typer.Typer) -> None:
    """Add this group's commands."""
    app.command("theory", epilog="Example: shoeproof theory zappit --readings")(theory_command)
    app.command("strategy", epilog="Example: shoeproof strategy nba")(strategy_command)
    app.command("value", epilog="Example: shoeproof value disputed.round")(value_command)


def theory_command(
    game_id: GameArgument,
    rules_file: RulesOption = None,
    with_readings: Annotated[
        bool,
        typer.Option(
            "--readings", help="Also read each open clause the other way (takes half a minute)."
        ),
    ] = False,
    as_classes: Annotated[
        bool, typer.Option("--classes", help="Print every two cards and up card as CSV.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Compute a game's exact returns from its rules.

    Each published return is compared with them.
    """
    from shoeproof.replay.theory.verdict import compare

    game = find_game(game_id)
    rules = read_rules(game, rules_file)
    computed = compute(rules)
    if as_classes:
        _print_classes(computed)
        return
    tried = _try_readings(game, rules) if with_readings else None
    compared = compare(computed, game)
    if as_json:
        print_json(_json(computed, compared, tried))
        return
    out = console()
    _print_bets(out, game, compared)
    _print_outcomes(out, computed)
    if tried is not None:
        _print_readings(out, tried)


def strategy_command(
    game_id: GameArgument,
    rules_file: RulesOption = None,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write a page that stands alone.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show the best strategy that looks at totals.

    It gives first cards, pairs, and what differs later."""
    from shoeproof.replay.theory.chart_html import UP_NAMES, chart_page, legend
    from shoeproof.replay.theory.strategies import strategy

    game = find_game(game_id)
    rules = read_rules(game, rules_file)
    computed = compute(rules)
    rows = strategy(rules)
    if html is not None:
        write_durably(html, chart_page(game.title, rows).encode())
    if as_json:
        print_json([{"up": UP_NAMES, **_row_json(row)} for row in rows])
        return
    out = console()
    returned = 100 * computed.bet("main_basic").returned
    optimal = 100 * computed.bet("main").returned
    out.print(Text(game.title, "bold"), "basic strategy, against the dealer's up card")
    out.print(f"returns {returned:.4f}%, the optimum by cards {optimal:.4f}%")
    _print_chart(out, rows)
    out.print(f"\n{legend(rows)}")


def value_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A round as `.round` text.")],
    rules_file: RulesOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what every legal act of a written round was worth.

    It says what each choice of the player cost.

    Exact, knowing all cards seen so far, in units of the hand's initial stake. Insurance is valued
    as the bet of its own that it is.
    """
    text = read_round(file.read_bytes())
    walk = walk_round(text, read_rules(find_game(text.game), rules_file))
    decisions = [
        (index, state, move)
        for index, (state, move) in enumerate(zip(walk.states, text.moves, strict=False))
        if isinstance(move, ActMove)
    ]
    found = walk.finding
    if as_json:
        told = [_decision_json(index, state, move) for index, state, move in decisions]
        print_verdict({"decisions": told, "finding": found}, sound=found is None)
    else:
        out = console()
        for _, state, move in decisions:
            _print_decision(out, state, move)
        if found is not None:
            out.print(Text(f"stopped at move {found.move}: {found.text}", "bold red"))
    if found is not None:
        raise typer.Exit(FINDINGS)


def read_rules(game: Game, file: Path | None) -> Rules:
    """Return a game's rules, or those of a file in their place."""
    return game.rules if file is None else rules_from_json(file.read_bytes())


def compute(rules: Rules) -> "Theory":
    """Return the theory of some rules, with a progress bar where it is not at hand."""
    from shoeproof.replay.theory.cache import theory

    with progress_bar() as bar:
        task = bar.add_task("exact theory", total=None)
        return theory(rules, lambda done, steps: bar.update(task, completed=done, total=steps))


def _try_readings(game: Game, rules: Rules) -> "list[ReadingRow]":
    from shoeproof.replay.theory.readings import readings

    changed = msgspec.structs.replace(game, rules=rules)
    with progress_bar() as bar:
        task = bar.add_task("readings", total=None)
        return readings(changed, lambda done, steps: bar.update(task, completed=done, total=steps))


def _json(
    computed: "Theory", compared: "list[Comparison]", tried: "list[ReadingRow] | None"
) -> dict[str, object]:
    value: dict[str, object] = {
        "game": computed.game,
        "rules_digest": computed.rules_digest,
        "bets": [
            {
                "bet": each.bet.bet,
                "published": None if each.published is None else str(each.published),
                "computed": _decimal(each.bet.returned),
                "fraction": None if each.bet.fraction is None else str(each.bet.fraction),
                "ways": each.bet.ways or None,
                "sd": None if each.bet.sd is None else round(each.bet.sd, PLACES),
                "follows": each.follows,
            }
            for each in compared
        ],
        "outcomes": msgspec.to_builtins(computed.outcomes),
        "classes": [
            {
                "hand": each.hand,
                "up": each.up,
                "probability": each.probability,
                "return": each.net,
                "best": each.best,
                "acts": each.acts,
            }
            for each in computed.classes
        ],
    }
    if tried is not None:
        value["readings"] = [
            {
                "bet": each.bet,
                "clause": each.clause,
                "reading": each.says,
                "computed": _decimal(each.returned),
                "against": each.because,
            }
            for each in tried
        ]
    return value


def _print_classes(computed: "Theory") -> None:
    rows = (
        {
            "hand": each.hand,
            "up": each.up,
            "probability": Decimal(f"{each.probability:.12f}"),
            "return": Decimal(f"{each.net:.8f}"),
            "best": each.best,
        }
        for each in computed.classes
    )
    write_rows(sys.stdout, ("hand", "up", "probability", "return", "best"), rows)


def _print_bets(out: Console, game: Game, compared: "list[Comparison]") -> None:
    right = ("published", "computed", "difference", "SD")
    table = plain_table("bet", *right, "verdict", right=right)
    for each in compared:
        difference, bet = each.difference, each.bet
        table.add_row(
            bet.bet,
            "" if each.published is None else f"{100 * each.published:.2f}%",
            _percent(bet.returned),
            "" if difference is None else f"{100 * difference:+.4f}",
            "" if bet.sd is None else f"{bet.sd:.4f}",
            _verdict(each),
        )
    out.print(Text(game.title, "bold"), "exact returns, computed from the rules\n")
    out.print(table)
    out.print()
    for each in compared:
        if each.bet.fraction is not None:
            out.print(Text.assemble((each.bet.bet, "bold"), f" = {each.bet.fraction}"))
            ways = ", ".join(f"{name} {count:,}" for name, count in each.bet.ways.items())
            print_sentence(out, f"from equally likely deals: {ways}", 2, "dim")


def _verdict(compared: "Comparison") -> Text:
    if compared.follows is None:
        return Text("")
    return Text("follows", "green") if compared.follows else Text("does not follow", "bold red")


def _print_outcomes(out: Console, computed: "Theory") -> None:
    ends = computed.outcomes
    table = plain_table("in a round of one seat, optimally played", "", right=("",))
    for name in ("win", "push", "loss", "natural", "double", "split", "zap"):
        if getattr(ends, name):
            table.add_row(name, f"{getattr(ends, name):.5f}")
    for line in ends.lines:
        if line not in ("win", "push", "loss", "natural"):
            table.add_row(f"hands paid as {line}", f"{ends.lines[line]:.5f}")
    table.add_row("average total stake", f"{ends.average_stake:.5f}")
    out.print()
    out.print(table)
    nets = plain_table("net result", "probability", right=("net result", "probability"))
    for net, chance in ends.nets.items():
        nets.add_row(net, f"{chance:.6f}")
    out.print()
    out.print(nets)


def _print_readings(out: Console, tried: "list[ReadingRow]") -> None:
    table = plain_table("bet", "clause", "reading", "return", "moves", "against it")
    for each in tried:
        moved = 100 * (each.returned - each.as_read)
        table.add_row(
            each.bet,
            each.clause,
            each.says,
            _percent(each.returned),
            f"{moved:+.4f}",
            Text(each.because, "dim"),
        )
    out.print()
    out.print(table)


def _decision_json(index: int, state: RoundState, move: ActMove) -> dict[str, object]:
    values = _values(state, move)
    return {
        "move": index,
        "hand": move.hand,
        "act": move.act,
        "values": {act: round(worth, PLACES) for act, worth in values.items()},
        "cost": round(max(values.values()) - values[move.act], PLACES),
    }


def _print_decision(out: Console, state: RoundState, move: ActMove) -> None:
    held = next(held for held in state.hands if held.name == move.hand)
    out.print(
        Text.assemble((f"{held.name:<6} ", "dim"), hand_line(held), ("  against  ", "dim")),
        dealer_line(state),
        sep="",
    )
    values = _values(state, move)
    best = max(values.values())
    for act, worth in sorted(values.items(), key=lambda pair: -pair[1]):
        chosen = "chosen" if act == move.act else ""
        cost = f", cost {best - worth:.6f}" if chosen and best - worth > 0 else ""
        style = "" if not chosen else "bold red" if cost else "bold green"
        out.print(Text(f"         {act:<12} {worth:+.6f}  {chosen}{cost}", style))
    out.print()


def _values(state: RoundState, move: ActMove) -> dict[str, float]:
    from shoeproof.replay.theory.live import decision_values

    values = decision_values(state)
    due = state.due
    if move.shown_minor is not None and isinstance(due, Decide):
        held = next(held for held in state.hands if held.name == due.hand)
        values[move.act] = move.shown_minor / held.stake_minor - 1
    return values


def _decimal(returned: float) -> str:
    return f"{returned:.{PLACES}f}"


def _percent(returned: float) -> str:
    return f"{100 * returned:.4f}%"


def _row_json(row: "ChartRow") -> dict[str, object]:
    return msgspec.structs.asdict(row)


def _print_chart(out: Console, rows: "list[ChartRow]") -> None:
    from shoeproof.replay.theory.chart import SECTIONS
    from shoeproof.replay.theory.chart_html import UP_NAMES, letters, row_label

    for section, members in groupby(rows, key=lambda row: row.section):
        table = plain_table(SECTIONS[section], *UP_NAMES)
        for row in members:
            cells = [Text(f" {letters(act):<2}", STYLES[act.partition("/")[0]]) for act in row.acts]
            table.add_row(row_label(row), *cells)
        out.print()
        out.print(table)
