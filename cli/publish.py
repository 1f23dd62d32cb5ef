"""`publish` and `import`: the ledger as static files, and leaves that come in."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from cli.options import CheckpointOption, JsonOption, LedgerOption, open_to_read, open_to_write
from cli.render import console, print_json
from ledger.publish import publish
from ledger.transfer import import_leaves


def register(app: typer.Typer) -> None:
    """Add this group's commands."""
    app.command("publish")(publish_command)
    app.command("import")(import_command)


def publish_command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where to, for a web server.")],
    path: LedgerOption = None,
    checkpoint: CheckpointOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write checkpoint, tiles and leaves as static files (C2SP tlog-tiles).

    What is there is never changed, only added to. With --checkpoint that one is published, such as
    one that witnesses cosigned; else a new one is signed. Anyone verifies the directory with
    `shoeproof verify --tiles DIR`.
    """
    with open_to_write(path) if checkpoint is None else open_to_read(path) as ledger:
        note = None if checkpoint is None else checkpoint.read_bytes()
        head = publish(ledger, folder, note)
    if as_json:
        print_json({"size": head.size, "root": head.root.hex(), "folder": str(folder)})
    else:
        console().print(f"published {head.size:,} leaves in {folder}", soft_wrap=True)


def import_command(
    source: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="A file of leaves; a pipe without it.")
    ] = None,
    path: LedgerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take in leaves of another ledger of this name, such as a second game server's rounds.

    Each is verified before it is stored: signature, key, canonical form, order. What is here
    already is passed over. It stops at the first leaf that may not come in.
    """
    with open_to_read(path) as ledger:
        if source is None:
            done = import_leaves(ledger, sys.stdin.buffer)
        else:
            with open(source, "rb") as file:
                done = import_leaves(ledger, file)
    if as_json:
        print_json(done._asdict())
    else:
        console().print(f"took in {done.added:,} leaves; {done.known:,} were here already")
