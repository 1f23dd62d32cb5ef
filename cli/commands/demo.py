"""`demo`: everything at work on fresh rounds, and one altered byte in a copy found out."""

import os
import shutil
from pathlib import Path
from shlex import quote
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.text import Text

from shoeproof.cli.errors import UsageError
from shoeproof.cli.input.counting import count
from shoeproof.cli.input.options import program
from shoeproof.cli.input.tables import even_stakes, table_settings
from shoeproof.cli.screen.render import console, print_command, print_findings, progress_bar
from shoeproof.cli.screen.replay import print_replay
from shoeproof.cli.screen.rtp import print_rtp
from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.events import BetSettled
from shoeproof.ledger.store.directory import DATABASE, SETTINGS, building
from shoeproof.ledger.verify.whole import verify
from shoeproof.replay.audit.one_by_one import audit, check_reveals
from shoeproof.replay.engine.hand import SPLIT, ZAP
from shoeproof.replay.live.players import make_player
from shoeproof.replay.live.simulation import simulate
from shoeproof.replay.rounds.catalogue import add_published_games, current_rules, rules_by_digest
from shoeproof.replay.rounds.replayer import Replay, replay_round

PUBLIC_KEY: Final = "operator.vkey"
DEFAULT_PLACE: Final = Path("shoeproof-demo")
GAMES: Final = ("zappit", "zero", "nba")
PLAYERS: Final = {"basic": 700, "cautious": 250, "random": 150}
"""Rounds of each game by each player."""


def register(app: typer.Typer) -> None:
    """Add this group's commands."""
    app.command("demo", epilog="Example: shoeproof demo --into ./trial")(demo_command)


def demo_command(
    place: Annotated[Path, typer.Option("--into", help="Where to put it.")] = DEFAULT_PLACE,
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier demo there.")] = False,
) -> None:
    """Show everything at work: play, proof, and tampering found.

    It makes keys, plays rounds, verifies, replays and counts them, and alters a byte in a copy.
    """
    _make_room(place, force)
    out = console()
    with building(place) as temporary:
        with Ledger.init(temporary / "ledger", "demo.example/blackjack") as ledger:
            add_published_games(ledger)
            operator = ledger.public_keys()["operator"]
            _heading(out, 1, "Keys and a ledger")
            name, key_id, _ = operator.split("+", 2)
            out.print(f"operator's public key: {name}, id {key_id}")
            out.print(f"It is written to {place}/{PUBLIC_KEY}", soft_wrap=True)
            _play(out, ledger)
            _verify(out, ledger, operator)
            _audit(out, ledger)
            _heading(out, 5, "Realised return to player, counted by DuckDB")
            print_rtp(out, *count([ledger]))
            shown = _show_round(out, ledger)
        copy = temporary / "altered-copy"
        shutil.copytree(temporary / "ledger", copy)
        _tamper(out, copy, operator, shown)
        (temporary / PUBLIC_KEY).write_text(operator + "\n", encoding="ascii")
    _next_steps(out, place, shown.round_id)


def _make_room(place: Path, force: bool) -> None:
    if not os.path.lexists(place):
        place.parent.mkdir(parents=True, exist_ok=True)
        return
    if not force:
        raise UsageError(f"{place} exists already; give --force to replace it, or --into elsewhere")
    if not (place / "ledger" / SETTINGS).is_file():
        raise UsageError(f"{place} is not an earlier demo, so --force does not remove it")
    shutil.rmtree(place)


def _heading(out: Console, number: int, title: str) -> None:
    out.print()
    out.print(Text(f"{number}. {title}", "bold"))


def _play(out: Console, ledger: Ledger) -> None:
    _heading(out, 2, "Simple players at three games")
    with progress_bar() as bar:
        for game in GAMES:
            rules = current_rules(ledger, game)
            side_stake = 200 if rules.side_bets else 0
            stakes = even_stakes(rules, seats=1, stake_minor=1000, side_stake_minor=side_stake)
            task = bar.add_task(f"playing {game}", total=sum(PLAYERS.values()))
            for player, rounds in PLAYERS.items():
                choose = make_player(player, seed=1)
                settings = table_settings(rules)
                simulate(ledger, rules, settings, stakes, choose, rounds)
                bar.advance(task, rounds)
    rounds = len(GAMES) * sum(PLAYERS.values())
    out.print(f"recorded {rounds:,} rounds as {ledger.size():,} signed events")


def _verify(out: Console, ledger: Ledger, operator: str) -> None:
    _heading(out, 3, "Every signature, chain and commitment verified")
    with progress_bar() as bar:
        task = bar.add_task("verifying")
        result = verify(
            ledger,
            public_key=operator,
            progress=lambda done, size: bar.update(task, completed=done, total=size),
        )
        found = [*result.findings, *check_reveals(ledger.leaves(), ledger.size())]
    out.print(f"{result.size:,} leaves, {len(found)} findings")


def _audit(out: Console, ledger: Ledger) -> None:
    _heading(out, 4, "Every round replayed through the rules")
    with progress_bar() as bar:
        task = bar.add_task("replaying")
        result = audit(ledger, lambda done, size: bar.update(task, completed=done, total=size))
    out.print(f"{result.closed_rounds:,} rounds, {len(result.findings)} findings")


def _show_round(out: Console, ledger: Ledger) -> Replay:
    _heading(out, 6, "One round, card by card")
    replay = _telling_round(ledger)
    print_replay(out, replay, evidence=[])
    return replay


def _telling_round(ledger: Ledger) -> Replay:
    """Return a round with a zap or a split in it, the first round where there is none."""
    rules = rules_by_digest(ledger)
    first: Replay | None = None
    for row in ledger.rounds(limit=200):
        replay = replay_round(ledger.events(row.round), rules)
        first = first or replay
        acts = {getattr(step.recorded.event.data, "act", None) for step in replay.steps}
        if acts & {ZAP, SPLIT}:
            return replay
    assert first is not None
    return first


def _tamper(out: Console, copy: Path, operator: str, shown: Replay) -> None:
    _heading(out, 7, "One byte altered in a copy")
    altered = next(
        step.recorded for step in shown.steps if isinstance(step.recorded.event.data, BetSettled)
    )
    alter_payment(copy / DATABASE, altered.leaf)
    out.print(
        f"In the copy, one digit of the payment in leaf {altered.leaf_index} was altered: "
        f"{altered.event.type}, event {altered.event.seq} of that round. Verification says:"
    )
    with progress_bar() as bar:
        task = bar.add_task("verifying the copy")
        found = verify(
            copy,
            public_key=operator,
            progress=lambda done, size: bar.update(task, completed=done, total=size),
        ).findings
    print_findings(out, found)


def alter_payment(database: Path, leaf: bytes) -> None:
    """Alter, in the database's file, one digit of the amount a BetSettled leaf says was paid."""
    content = bytearray(database.read_bytes())
    field = b'"paid_minor":'
    place = content.index(leaf) + leaf.index(field) + len(field)
    content[place] = ord("9") if content[place] != ord("9") else ord("8")
    database.write_bytes(content)


def _next_steps(out: Console, place: Path, round_id: str) -> None:
    out.print()
    out.print(
        Text(f"The ledger is in {place}/ledger, the altered copy beside it. Try next:", "bold")
    )
    called = program()
    for command in (
        f"replay {round_id} --ledger {quote(f'{place}/ledger')}",
        f"verify --ledger {quote(f'{place}/altered-copy')} "
        f"--public-key {quote(f'{place}/{PUBLIC_KEY}')}",
        f"play nba --ledger {quote(f'{place}/ledger')}",
    ):
        print_command(out, f"{called} {command}")
