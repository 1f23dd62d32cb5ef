"""`publish`, `import`, `rebuild`: a ledger as static files, and leaves that come in."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from shoeproof.cli.errors import UsageError
from shoeproof.cli.input.options import (
    CheckpointOption,
    JsonOption,
    LedgerOption,
    NeededPublicKeyOption,
    StoreOption,
    given_public_key,
    open_to_read,
    open_to_write,
)
from shoeproof.cli.screen.render import console, print_json
from shoeproof.ledger.exchange.leaf_stream import read_stream
from shoeproof.ledger.exchange.publish import publish
from shoeproof.ledger.exchange.rebuild import Rebuilt, published_leaves, rebuild
from shoeproof.ledger.exchange.transfer import import_leaves


def register(app: typer.Typer) -> None:
    """Add this group's commands."""
    app.command("publish", epilog="Example: shoeproof publish ./public")(publish_command)
    app.command("import", epilog="Example: shoeproof import casino.leaves")(import_command)
    app.command(
        "rebuild",
        epilog="Example: shoeproof rebuild new --export leaves --public-key operator.vkey",
    )(rebuild_command)


def publish_command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where to, for a web server.")],
    path: LedgerOption = None,
    checkpoint: CheckpointOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write the ledger as static files (C2SP tlog-tiles).

    They are a checkpoint, tiles and leaves.

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
    """Import leaves from another ledger with this name.

    They may be a second game server's rounds. Each is verified before it is stored: signature, key,
    canonical form, order. What is here already is passed over. It stops at the first leaf that may
    not come in, and refuses a stream whose end was cut off.
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
        console().print(
            f"imported {done.added:,} leaves; {done.known:,} were already in the ledger"
        )


def rebuild_command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The new ledger's directory.")],
    public_key: NeededPublicKeyOption,
    export: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Leaves that `export` wrote.")
    ] = None,
    tiles: Annotated[Path | None, typer.Option(metavar="DIR", help="What `publish` wrote.")] = None,
    checkpoint: CheckpointOption = None,
    is_newest: Annotated[
        bool,
        typer.Option(
            "--newest",
            help="Nothing was signed after that checkpoint: the ledger can be written to.",
        ),
    ] = False,
    private_keys: Annotated[
        Path | None, typer.Option("--keys", metavar="DIR", help="A copy of the folder `keys`.")
    ] = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Rebuild a lost ledger from all its leaves.

    They come from an export or from published files. Every leaf stands where it stood, and all are
    verified before anything is there. With --checkpoint they must extend that one; published files,
    the one published with them. It is written again only with --newest and --keys; without, it is
    read, until its guard is put back.
    """
    if (export is None) == (tiles is None):
        raise UsageError("give either --export FILE or --tiles DIR")
    key = given_public_key(public_key)
    assert key is not None
    note = None if checkpoint is None else checkpoint.read_bytes()
    if is_newest and note is None:
        raise UsageError("--newest is about a checkpoint: give it with --checkpoint")

    def make(leaves: Iterable[bytes], held_to: bytes | None) -> Rebuilt:
        return rebuild(
            folder,
            leaves,
            key,
            checkpoint=held_to,
            is_newest=is_newest,
            private_keys=private_keys,
            database_url=store,
        )

    if export is not None:
        with open(export, "rb") as file:
            made = make(read_stream(file), note)
    else:
        assert tiles is not None
        published, head = published_leaves(tiles)
        made = make(published, note or head)
    if as_json:
        print_json(made._asdict())
        return
    use = "it can be written to" if made.is_writable else "it can be read but not written to"
    console().print(f"rebuilt {made.origin} from {made.size:,} leaves: {use}", soft_wrap=True)
