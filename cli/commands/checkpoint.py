"""`checkpoint` and `fsck`: signing what the ledger holds, and looking for damage."""

import msgspec
import typer
from rich.text import Text

from shoeproof.cli.exit_codes import FINDINGS
from shoeproof.cli.input.options import (
    JsonOption,
    LedgerOption,
    OutputOption,
    PublicKeyOption,
    given_public_key,
    open_to_read,
    open_to_write,
)
from shoeproof.cli.screen.render import console, print_findings, print_verdict, progress_bar
from shoeproof.ledger.checkpoint.signed import parse_checkpoint
from shoeproof.ledger.files.durable import write_durably
from shoeproof.ledger.signing import sign_checkpoint
from shoeproof.ledger.verify.fsck import Checkup, fsck
from shoeproof.replay.rounds.narrative import counted


def register(app: typer.Typer) -> None:
    """Add this group's commands."""
    app.command("checkpoint", epilog="Example: shoeproof checkpoint -o kept.checkpoint")(
        checkpoint_command
    )
    app.command("fsck", epilog="Example: shoeproof fsck --public-key operator.vkey")(fsck_command)


def checkpoint_command(
    path: LedgerOption = None,
    output: OutputOption = None,
) -> None:
    """Sign how many leaves there are and their Merkle root.

    Anyone who keeps these 200 bytes can later have it proven that nothing before it was changed or
    removed: `shoeproof verify --checkpoint FILE`. Give it to your auditors each day.
    """
    with open_to_write(path) as ledger:
        note = sign_checkpoint(ledger)
    if output is None:
        print(note.decode(), end="")
        return
    write_durably(output, note)
    size = parse_checkpoint(note).size
    console().print(f"signed {size:,} leaves in {output}", soft_wrap=True)


def fsck_command(
    path: LedgerOption = None, public_key: PublicKeyOption = None, as_json: JsonOption = False
) -> None:
    """Recompute everything derived, and name what is damaged.

    Nothing is repaired: bring back a copy that is sound, or go on knowing what is lost.
    """
    with open_to_read(path) as ledger, progress_bar() as bar:
        task = bar.add_task("checking", total=ledger.size())
        checkup = fsck(
            ledger,
            public_key=given_public_key(public_key),
            progress=lambda done, size: bar.update(task, completed=done, total=size),
        )
    if as_json:
        print_verdict(_as_json(checkup), sound=not checkup.findings)
    else:
        _print(checkup)
    if checkup.findings:
        raise typer.Exit(FINDINGS)


def _as_json(checkup: Checkup) -> dict[str, object]:
    last_good = checkup.last_good
    return {
        "origin": checkup.origin,
        "size": checkup.size,
        "damaged_leaves": checkup.damaged,
        "last_good_checkpoint": None
        if last_good is None
        else {"size": last_good.size, "root": last_good.root.hex()},
        "proven_but_for_damaged": checkup.proven,
        "findings": msgspec.to_builtins(checkup.findings),
    }


def _print(checkup: Checkup) -> None:
    out = console()
    out.print(f"{checkup.origin}: {checkup.size:,} leaves")
    last_good = checkup.last_good
    if not checkup.findings:
        size = 0 if last_good is None else last_good.size
        out.print(Text("SOUND: leaves, tiles, guard, checkpoints and index agree", "bold green"))
        out.print(f"last checkpoint: {size:,} leaves")
        return
    print_findings(out, checkup.findings)
    out.print(Text(f"DAMAGED: {counted(len(checkup.findings), 'finding')}", "bold red"))
    if last_good is None or not last_good.size:
        out.print("last good checkpoint: none of those kept here")
    else:
        out.print(f"last good checkpoint: {last_good.size:,} leaves, all exactly as signed")
    if checkup.proven:
        names = ", ".join(map(str, checkup.damaged[:20])) or "none"
        out.print(
            f"still to be trusted: of the first {checkup.proven:,} leaves, which the tiles prove, "
            f"all but the damaged: {names}{' …' if len(checkup.damaged) > 20 else ''}"
        )
