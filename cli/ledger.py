"""`init` and `verify`: making a ledger, and checking all that it holds."""

from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.text import Text

from cli.errors import FINDINGS, UsageError
from cli.options import (
    JsonOption,
    LedgerOption,
    ledger_path,
    open_to_read,
    passphrase_from_environment,
    program,
    with_ledger,
)
from cli.render import console, plain_table, print_findings, print_json, progress_bar
from ledger import Finding, Ledger
from ledger.verify import VerifyResult, verify
from replay.audit import check_reveals
from replay.catalogue import add_published_games


def register(app: typer.Typer) -> None:
    """Add this group's commands."""
    app.command("init")(init_command)
    app.command("verify")(verify_command)


def init_command(
    origin: Annotated[
        str, typer.Option(help="The ledger's name for ever, like casino.example/blackjack.")
    ],
    path: LedgerOption = None,
    escrow_public_key: Annotated[
        str | None,
        typer.Option(help="Base64 X25519 key of an escrow holder: seeds are sealed to it as well."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Make a ledger: its directory, its keys, the rules of the published games.

    The keys are encrypted when SHOEPROOF_PASSPHRASE is set. Hand the printed public keys to your
    auditors by a way of its own: with them, a ledger forged as a whole is found out.
    """
    where = ledger_path(path)
    passphrase = passphrase_from_environment()
    made = Ledger.init(
        where,
        origin,
        passphrase=passphrase,
        escrow_public_key=escrow_public_key,
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
        if passphrase is None:
            out.print(
                f"The private keys in {where}/keys are protected by their file modes alone.",
                soft_wrap=True,
            )


def verify_command(
    path: LedgerOption = None,
    public_key: Annotated[
        str | None,
        typer.Option(help="The operator's public key as you were handed it: a key or a file."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Check every leaf: signature, signer, canonical form, order, chain, commitment and reveal.

    Without --public-key this shows only that the ledger agrees with itself.
    """
    with open_to_read(path) as opened, progress_bar() as bar:
        task = bar.add_task("verifying", total=opened.size())
        result = verify(
            opened,
            public_key=_given(public_key),
            progress=lambda done, size: bar.update(task, completed=done, total=size),
        )
        reveals = bar.add_task("seeds", total=result.size)
        found = [
            *result.findings,
            *check_reveals(opened, lambda done, _: bar.update(reveals, completed=done)),
        ]
    if as_json:
        print_json(_as_json(result, found, public_key is not None))
    else:
        _print(result, found, public_key is not None, with_ledger(path))
    if found:
        raise typer.Exit(FINDINGS)


def _given(public_key: str | None) -> str | None:
    if public_key is None or "+" in public_key or public_key.endswith("="):
        return public_key
    try:
        return Path(public_key).read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        raise UsageError(f"{public_key!r} is neither a public key nor a file with one") from None


def _as_json(result: VerifyResult, found: list[Finding], from_outside: bool) -> dict[str, object]:
    return {
        "origin": result.origin,
        "size": result.size,
        "anchor": result.anchor,
        "anchor_from_outside": from_outside,
        "open_rounds": result.open_rounds,
        "sound": not found,
        "findings": msgspec.to_builtins(found),
    }


def _print(result: VerifyResult, found: list[Finding], from_outside: bool, place: str) -> None:
    out = console()
    table = plain_table("", "")
    table.show_header = False
    table.add_row("ledger", result.origin)
    table.add_row("leaves", f"{result.size:,}, every signature checked")
    table.add_row("open rounds", f"{result.open_rounds:,}")
    out.print(table)
    anchor = result.anchor or "none: the first leaf adds no sound key"
    out.print(f"trusted key  {anchor}", soft_wrap=True)
    if not from_outside:
        out.print("The key is the ledger's own word; verify with the one you were handed:")
        out.print(f"  {program()} verify --public-key KEY{place}", soft_wrap=True)
    if found:
        print_findings(out, found)
        out.print(Text(f"NOT SOUND: {len(found):,} findings", "bold red"))
    else:
        out.print(Text("SOUND: nothing in this ledger contradicts itself", "bold green"))
