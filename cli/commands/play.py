"""`play`: a person plays at the terminal; every turn is in the ledger before a card is shown."""

from functools import partial
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.text import Text

from shoeproof.cli.errors import UsageError
from shoeproof.cli.exit_codes import INTERRUPTED, USAGE
from shoeproof.cli.input.options import (
    LedgerOption,
    find_round,
    open_to_write,
    program,
    with_ledger,
)
from shoeproof.cli.input.tables import (
    SeatsOption,
    SideStakeOption,
    StakeOption,
    stakes_in_words,
    table_settings,
)
from shoeproof.cli.screen.render import (
    amount,
    console,
    dealer_line,
    hand_line,
    plain,
    plain_table,
    print_command,
)
from shoeproof.ledger import Ledger
from shoeproof.replay.engine.hand import (
    CASH_OUT,
    DECLINE,
    DOUBLE,
    EVEN_MONEY,
    HIT,
    INSURANCE,
    SPLIT,
    STAND,
    ZAP,
)
from shoeproof.replay.engine.round import Decide, added_stake_minor
from shoeproof.replay.errors import InputOvertaken, InputRefusedError
from shoeproof.replay.live.live_round import LiveRound
from shoeproof.replay.live.resume import resume_round
from shoeproof.replay.live.table import LiveTable
from shoeproof.replay.rounds.catalogue import current_rules
from shoeproof.replay.wallet.wallet import MemoryWallet, recorded_balance_minor

KEYS: Final = {
    HIT: "h",
    STAND: "s",
    DOUBLE: "d",
    SPLIT: "p",
    ZAP: "z",
    CASH_OUT: "c",
    INSURANCE: "i",
    EVEN_MONEY: "e",
    DECLINE: "n",
}
"""The key of each act, the same in every game."""

OPENING_BALANCE_MINOR: Final = 100_000


def register(app: typer.Typer) -> None:
    """Add this group's commands."""
    app.command("play", epilog="Example: shoeproof play nba --stake 5.00")(play_command)


def play_command(
    game: Annotated[
        str | None, typer.Argument(help="zappit, zero or nba, or a variant's id.")
    ] = None,
    path: LedgerOption = None,
    resume: Annotated[
        str | None, typer.Option(metavar="ROUND", help="Continue this open round.")
    ] = None,
    stake: StakeOption = "10.00",
    seats: SeatsOption = 1,
    side_stake: SideStakeOption = "0",
    player: Annotated[str, typer.Option(help="Your name in the ledger.")] = "terminal",
    client_seed: Annotated[
        str, typer.Option(help="Your part of the shuffle: any text of at most 64 bytes.")
    ] = "",
) -> None:
    """Play in the terminal for play money.

    The rounds are recorded as play for fun. Ctrl-C or a lost terminal leaves the round open: `play
    --resume ROUND` goes on from the same shoe.
    """
    if (game is None) == (resume is None):
        raise UsageError("say which game to play, or which round to --resume")
    stakes_of = partial(stakes_in_words, seats=seats, stake=stake, side_stake=side_stake)
    with open_to_write(path) as ledger:
        if resume is not None:
            round_id = find_round(ledger, resume)
            left = recorded_balance_minor(ledger.events(round_id))
            wallet = _play_money(OPENING_BALANCE_MINOR if left is None else left)
            live = resume_round(ledger, round_id, wallet=wallet)
            if live.apply_due():
                console().print("You were away too long; what the policy provides was done.")
            if live.is_over and live.state is None:
                console().print("The stakes go back, the round is void.")
                return
            if live.due is None:
                live.deal(
                    stakes_of(live.table.settings.unit, live.table.rules), client_seed.encode()
                )
            _play(live, wallet, with_ledger(path))
            return
        wallet = _play_money(OPENING_BALANCE_MINOR)
        table = _open_table(ledger, str(game), wallet)
        stakes = stakes_of(table.settings.unit, table.rules)
        table.check_stakes(stakes)
        while True:
            live = table.open_round(player)
            live.deal(stakes, client_seed.encode())
            _play(live, wallet, with_ledger(path))
            if not _another():
                return


def _play_money(balance_minor: int) -> MemoryWallet:
    return MemoryWallet(balance_minor, of_money=False)


def _another() -> bool:
    try:
        return typer.confirm("Another round?", default=True)
    except typer.Abort:
        return False


def _open_table(ledger: Ledger, game: str, wallet: MemoryWallet) -> LiveTable:
    rules = current_rules(ledger, game)
    return LiveTable(ledger, rules, table_settings(rules, mode="fun"), wallet=wallet)


def _play(live: LiveRound, wallet: MemoryWallet, place: str) -> None:
    out = console()
    go_on = f"{program()} play --resume {live.round_id}{place}"
    out.rule(Text(f"{live.table.rules.id} · round {live.round_id}", "bold"))
    try:
        while isinstance(due := live.due, Decide):
            _print_table(out, live)
            live.decide(due.hand, _ask(out, live, due))
    except (KeyboardInterrupt, EOFError, typer.Abort):
        out.print("\nThe round stays open, its cards stay the same. Go on with:")
        print_command(out, go_on)
        raise typer.Exit(INTERRUPTED) from None
    except InputOvertaken:
        out.print("\nThis round went on elsewhere; nothing was decided here. See it with:")
        print_command(out, go_on)
        raise typer.Exit(USAGE) from None
    except InputRefusedError as refusal:
        if not live.is_over:
            raise
        out.print(Text(plain(str(refusal)), "yellow"))
    _print_table(out, live)
    _print_result(out, live, wallet, place)


def _print_table(out: Console, live: LiveRound) -> None:
    state = live.state
    if state is None:
        return
    out.print()
    out.print(Text.assemble(("  dealer  ", "dim"), dealer_line(state)))
    due = live.due
    for held in state.hands:
        marker = "▸" if isinstance(due, Decide) and due.hand == held.name else " "
        stake = amount(held.stake_minor, live.table.settings.unit)
        out.print(
            Text.assemble(
                f"{marker} ", (f"{held.name:<6}  ", "bold"), hand_line(held), f"   {stake}"
            )
        )


def _ask(out: Console, live: LiveRound, due: Decide) -> str:
    assert live.state is not None
    currency = live.table.settings.unit
    words = []
    for act in live.offered:
        word = Text.assemble((KEYS[act], "bold"), f" {act}")
        added = added_stake_minor(live.state, act)
        if act == CASH_OUT:
            word.append(f" ({amount(due.cash_out_minor, currency)} now)")
        elif added:
            word.append(f" (+{amount(added, currency)})")
        words.append(word)
    acts = {KEYS[act]: act for act in live.offered}
    while True:
        out.print(Text.assemble(f"  {due.hand}: ", Text("   ").join(words)))
        answer: str = typer.prompt("  your choice", prompt_suffix="? ", type=str)
        answer = answer.strip().lower()
        if answer in acts or answer in live.offered:
            return acts.get(answer, answer)
        out.print(f"  {answer!r} is not one of {', '.join(acts)}")


def _print_result(out: Console, live: LiveRound, wallet: MemoryWallet, place: str) -> None:
    currency = live.table.settings.unit
    table = plain_table("hand", "bet", "stake", "paid", "line", right=("stake", "paid"))
    for bet in live.settled:
        table.add_row(
            bet.hand,
            bet.bet,
            amount(bet.stake_minor, currency),
            amount(bet.paid_minor, currency),
            bet.line,
        )
    out.print()
    out.print(table)
    staked = sum(bet.stake_minor for bet in live.settled)
    paid = sum(bet.paid_minor for bet in live.settled)
    net = paid - staked
    out.print(
        Text.assemble(
            "round ",
            (f"{'+' if net > 0 else ''}{amount(net, currency)}", "green" if net > 0 else ""),
            f"   balance {amount(wallet.balance_minor(live.player), currency)}",
        )
    )
    print_command(out, f"{program()} replay {live.round_id}{place}")
