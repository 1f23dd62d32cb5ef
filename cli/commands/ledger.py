"""`init` and `verify`: making a ledger, and checking all that it holds."""

from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer
from rich.text import Text

from shoeproof.cli.exit_codes import FINDINGS
from shoeproof.cli.input.cosigned import cosigned_by
from shoeproof.cli.input.options import (
    DEFAULT_NAME,
    LEDGER_VARIABLE,
    EverySignatureOption,
    JsonOption,
    KeptCheckpointOption,
    LedgerOption,
    MaxAgeOption,
    PolicyOption,
    PublicKeyOption,
    StoreOption,
    ZoneOption,
    given_public_key,
    ledger_path,
    open_to_read,
    passphrase_from_environment,
    program,
    with_ledger,
)
from shoeproof.cli.input.rehearsal import AtOption, rehearsed_clock
from shoeproof.cli.screen.render import (
    console,
    plain_table,
    print_findings,
    print_json,
    print_verdict,
    progress_bar,
)
from shoeproof.ledger import Finding, Ledger
from shoeproof.ledger.exchange.tile_files import CHECKPOINT
from shoeproof.ledger.store.directory import DATABASE_VARIABLE
from shoeproof.replay.rounds.catalogue import add_published_games
from shoeproof.replay.rounds.narrative import counted

if TYPE_CHECKING:
    from shoeproof.ledger.verify.known_checkpoints import KnownCheckpoint
    from shoeproof.ledger.verify.whole import VerifyResult


def register(app: typer.Typer) -> None:
    """Add this group's commands."""
    app.command("init", epilog="Example: shoeproof init --origin casino.example/blackjack")(
        init_command
    )
    app.command("verify", epilog="Example: shoeproof verify --public-key operator.vkey")(
        verify_command
    )


def init_command(
    origin: Annotated[
        str, typer.Option(help="The ledger's permanent name, like casino.example/blackjack.")
    ],
    path: Annotated[
        str,
        typer.Option("--ledger", envvar=LEDGER_VARIABLE, help="The directory to make."),
    ] = DEFAULT_NAME,
    escrow_public_key: Annotated[
        str | None,
        typer.Option(help="Base64 X25519 key of an escrow holder: seeds are sealed to it as well."),
    ] = None,
    store: StoreOption = None,
    at: AtOption = None,
    zone: ZoneOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a ledger: its directory, its keys, the games' rules.

    The keys are encrypted when SHOEPROOF_PASSPHRASE is set. Hand the printed public keys to your
    auditors by a way of its own: with them, a ledger forged as a whole is found out.
    """
    where = ledger_path(path)
    passphrase = passphrase_from_environment()
    made = Ledger.init(
        where,
        origin,
        passphrase=passphrase,
        clock=rehearsed_clock(at, zone),
        escrow_public_key=escrow_public_key,
        database_url=store,
    )
    with made:
        add_published_games(made)
        keys = made.public_keys()
        if as_json:
            print_json({"ledger": str(where), "origin": origin, "public_keys": keys})
            return
        out = console()
        out.print(f"Made the ledger {origin} in {where}/", soft_wrap=True)
        out.print("Public keys for your auditors; the operator's is what they verify with:")
        for role, key in keys.items():
            out.print(Text.assemble((f"  {role:<11}", "bold"), key), soft_wrap=True)
        if store is not None:
            out.print(f"Set {DATABASE_VARIABLE} to the URL of its database: {where}/ does not say.")
        if passphrase is None:
            out.print(
                f"The private keys in {where}/keys are protected by their file modes alone.",
                soft_wrap=True,
            )


def verify_command(
    path: LedgerOption = None,
    public_key: PublicKeyOption = None,
    checkpoint: KeptCheckpointOption = None,
    receipt: Annotated[
        list[Path] | None,
        typer.Option(help="A bundle that somebody kept of a round. May repeat."),
    ] = None,
    every_signature: EverySignatureOption = False,
    tiles: Annotated[
        Path | None, typer.Option(help="Verify what was published here, without the ledger.")
    ] = None,
    policy: PolicyOption = None,
    max_age: MaxAgeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check every leaf: signature, signer, order, chain, seeds.

    Canonical form, commitments and reveals are checked as well. The ledger must also extend every
    checkpoint that its directory keeps, agree with the receipts that are given, and be what the
    signers of its events had seen of it. Without --public-key this shows only that the ledger
    agrees with itself. With --checkpoint the leaves it covers are hashed, which is many times
    faster and shows that they are unchanged since; their signatures are checked in a sample only,
    and their seeds by `audit`. With --policy nothing is accepted unless its witnesses cosigned the
    checkpoint, or with --tiles the one published.
    """
    from shoeproof.ledger.exchange.publish import PublishedLog, verify_published
    from shoeproof.ledger.verify.second_reads import read_again
    from shoeproof.ledger.verify.whole import verify
    from shoeproof.replay.audit.one_by_one import check_reveals

    key = given_public_key(public_key)
    kept = None if checkpoint is None else checkpoint.read_bytes()
    judged = kept if tiles is None else (tiles / CHECKPOINT).read_bytes()
    cosigned = cosigned_by(judged, policy, max_age)
    found: list[Finding] = []
    with progress_bar() as bar:
        task = bar.add_task("verifying")

        def progress(done: int, size: int) -> None:
            bar.update(task, completed=done, total=size)

        if tiles is not None:
            result = verify_published(tiles, public_key=key, checkpoint=kept, progress=progress)
            bar.update(task, description="seeds")
            log = PublishedLog(tiles, result.size)
            found += check_reveals(chain.from_iterable(log.bundles()), result.size, progress)
        else:
            with open_to_read(path) as opened:
                result = verify(
                    opened,
                    public_key=key,
                    checkpoint=kept,
                    receipts=_held_by(receipt or [], key or opened.public_keys()["operator"]),
                    every_signature=every_signature,
                    progress=progress,
                )
                if not result.covered:
                    bar.update(task, description="seeds")
                    again = read_again(opened.leaves(0, result.size), result.root)
                    found += check_reveals(again, result.size, progress)
    found = [*result.findings, *found]
    if as_json:
        told = _as_json(result, found, public_key is not None)
        print_verdict({**told, "cosigned_by": cosigned}, sound=not found)
    else:
        for name, moment in cosigned.items():
            console().print(f"cosigned by {name} at {moment}", soft_wrap=True)
        _print(result, found, public_key is not None, with_ledger(path), kept is not None)
    if found:
        raise typer.Exit(FINDINGS)


def _held_by(receipts: list[Path], public_key: str) -> "list[KnownCheckpoint]":
    from shoeproof.ledger.exchange.bundle import receipt_checkpoints

    return [
        each
        for receipt in receipts
        for each in receipt_checkpoints(receipt.read_bytes(), public_key)
    ]


def _as_json(result: "VerifyResult", found: list[Finding], from_outside: bool) -> dict[str, object]:
    return {
        "origin": result.origin,
        "size": result.size,
        "anchor": result.anchor,
        "anchor_from_outside": from_outside,
        "open_rounds": result.open_rounds,
        "covered_by_checkpoint": result.covered,
        "anchored": result.anchored,
        "signatures_checked": result.size - result.covered + result.sampled,
        "held_to": [each.size for each in result.held],
        "findings": msgspec.to_builtins(found),
    }


def _held_to(result: "VerifyResult") -> str:
    sizes = [each.size for each in result.held if each.size]
    if not sizes:
        return "nothing signed here, so a cut-off end would not show"
    several = counted(len(sizes), "tree")
    return f"{several} that were signed here, the largest of {max(sizes):,} leaves"


def _print(
    result: "VerifyResult", found: list[Finding], from_outside: bool, place: str, kept: bool
) -> None:
    out = console()
    table = plain_table("", "")
    table.show_header = False
    table.add_row("ledger", result.origin)
    later = result.size - result.covered
    if result.covered:
        table.add_row("leaves", f"{result.covered:,} as they were when the checkpoint was signed")
        table.add_row("", f"{later:,} later ones, every signature checked")
        table.add_row("signatures", f"{result.sampled:,} of the former checked, drawn at random:")
        table.add_row("", "a checkpoint does not show which key signed each event")
    else:
        table.add_row("leaves", f"{result.size:,}, every signature checked")
    if result.held:
        table.add_row("held to", _held_to(result))
    if result.open_rounds is not None:
        table.add_row("open rounds", f"{result.open_rounds:,}")
    if result.anchored:
        table.add_row(
            "anchored", f"{result.anchored:,} leaves, as signers of later events saw them"
        )
    out.print(table)
    anchor = result.anchor or "none: the first leaf adds no sound key"
    out.print(f"trusted key  {anchor}", soft_wrap=True)
    if not from_outside:
        out.print("This key comes from the ledger itself. Verify with one obtained independently:")
        out.print(f"  {program()} verify --public-key KEY{place}", soft_wrap=True)
    if found:
        print_findings(out, found)
        out.print(Text(f"NOT SOUND: {counted(len(found), 'finding')}", "bold red"))
    else:
        agrees = " or the checkpoint you kept" if kept else ""
        said = f"SOUND: nothing in this ledger contradicts itself{agrees}"
        out.print(Text(said, "bold green"))
