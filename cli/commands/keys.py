"""`keys`: which keys may sign, adding another's, rotating one's own, revoking."""

from typing import Annotated

import typer
from rich.text import Text

from shoeproof.cli.errors import UsageError
from shoeproof.cli.input.options import (
    JsonOption,
    LedgerOption,
    ledger_path,
    no_such_key,
    open_to_read,
    open_to_write,
    passphrase_of_keys,
    program,
    with_ledger,
)
from shoeproof.cli.screen.render import console, plain_table, print_command, print_json
from shoeproof.ledger.keys.key import parse_vkey
from shoeproof.ledger.keys.keyring import RingKey
from shoeproof.ledger.leaf.events import ROLES, Role
from shoeproof.ledger.leaf.recorded import Recorded
from shoeproof.ledger.rotation import add_key, new_key, revoke_key, rotate_key
from shoeproof.ledger.store.directory import KEYS

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Show, add, rotate and revoke the keys that sign a ledger.",
    epilog="Example: shoeproof keys list",
)


def register(commands: typer.Typer) -> None:
    """Add this group."""
    commands.add_typer(app, name="keys")


@app.command("list", epilog="Example: shoeproof keys list --json")
def list_command(path: LedgerOption = None, as_json: JsonOption = False) -> None:
    """List every key: its id, its roles, the leaves it may sign."""
    with open_to_read(path) as ledger:
        keys = list(ledger.key_ring())
    if as_json:
        print_json([_as_json(key) for key in keys])
        return
    out = console()
    table = plain_table("id", "name", "roles", "from leaf", "not from", gap=1)
    for key in keys:
        stop = "" if key.stop is None else str(key.stop)
        style = "dim" if stop else ""
        cells = key.public_key.name, ", ".join(sorted(key.roles)), str(key.start), stop
        table.add_row(key.public_key.key_id_hex, *(Text(each, style) for each in cells))
    out.print(table)
    for key in keys:
        if key.added_leaf_index == 0:
            out.print(f"The trust anchor is {key.public_key.key_id_hex}.")
    out.print("\nVerifier keys, to be handed over:")
    for key in keys:
        out.print(key.public_key.vkey, soft_wrap=True, markup=False)


def _as_json(key: RingKey) -> dict[str, object]:
    return {
        "id": key.public_key.key_id_hex,
        "name": key.public_key.name,
        "roles": sorted(key.roles),
        "start": key.start,
        "stop": key.stop,
        "is_anchor": key.added_leaf_index == 0,
        "vkey": key.public_key.vkey,
    }


@app.command("add", epilog="Example: shoeproof keys add KEY --role engine")
def add_command(
    key: Annotated[str, typer.Argument(metavar="KEY", help="Its verifier key, name+id+base64.")],
    roles: Annotated[list[str], typer.Option("--role", help="What it may sign; may repeat.")],
    path: LedgerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Add a key whose private part is kept elsewhere.

    It may be another game server's or a hardware module's. The operator's key signs for it. It is
    valid from the leaf after the one that adds it.
    """
    known = _known_roles(roles)
    with open_to_write(path) as ledger:
        _tell(add_key(ledger, parse_vkey(key), known), as_json, f"Added {key}")


@app.command("new", epilog="Example: shoeproof keys new ann --role staff")
def new_command(
    name: Annotated[str, typer.Argument(help="Whose it is: the key's name, and its file's.")],
    roles: Annotated[list[str], typer.Option("--role", help="What it may sign; may repeat.")],
    path: LedgerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a key of a person's own, and add it.

    Staff sign their decisions with keys of their own, so that each names who decided. The file lies
    in the ledger's keys/; it may be moved to where only that person can read it.
    """
    known = _known_roles(roles)
    with open_to_write(path) as ledger:
        recorded = new_key(ledger, name, known, passphrase_of_keys(ledger_path(path)))
    _tell(recorded, as_json, f"Made and added the key {name}")


@app.command("rotate", epilog="Example: shoeproof keys rotate engine")
def rotate_command(
    name: Annotated[
        str,
        typer.Argument(metavar="ROLE|NAME", help=f"Whose key: {', '.join(ROLES)}, or a person's."),
    ],
    path: LedgerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make and add a new key for a role or a person.

    It signs from now on. The old private key stays beside the new one and stays trusted: restart
    what signs with it, then revoke it. Auditors keep the key they were handed first, also when the
    operator's rotates.
    """
    directory = ledger_path(path) / KEYS
    with open_to_write(path) as ledger:
        if name not in ROLES and not (directory / f"{name}.pem").is_file():
            raise no_such_key(name, directory)
        rotated = rotate_key(ledger, name, passphrase_of_keys(ledger_path(path)))
    _tell(rotated.recorded, as_json, f"The {name} key is now {rotated.key.vkey}")
    if rotated.old_key_id_hex is not None and not as_json:
        out = console()
        out.print("The old key is trusted until you revoke it:")
        print_command(out, f"{program()} keys revoke {rotated.old_key_id_hex}{with_ledger(path)}")


@app.command("revoke", epilog="Example: shoeproof keys revoke 1f2e3d4c --from-leaf 5000")
def revoke_command(
    key_id: Annotated[str, typer.Argument(metavar="ID", help="The key's id: 8 hex digits.")],
    from_leaf: Annotated[
        int | None,
        typer.Option(min=0, help="The first leaf not to be trusted; by default the next one."),
    ] = None,
    reason: Annotated[str | None, typer.Option(help="Why, for the record.")] = None,
    path: LedgerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Stop trusting a key from a leaf on, also from a past one.

    What it signed then is a finding. Keys that it added from that leaf on fall with it. The
    operator's key is revoked by its successor: rotate it first.
    """
    with open_to_write(path) as ledger:
        recorded = revoke_key(ledger, key_id, first_untrusted_leaf_index=from_leaf, reason=reason)
    _tell(recorded, as_json, f"Revoked {key_id}")


def _known_roles(roles: list[str]) -> list[Role]:
    known = [role for role in ROLES if role in roles]
    if len(known) != len(set(roles)):
        raise UsageError(f"a role is one of {', '.join(ROLES)}, not {', '.join(roles)}")
    return known


def _tell(recorded: Recorded, as_json: bool, text: str) -> None:
    if as_json:
        print_json({"leaf_index": recorded.leaf_index, "event": recorded.event})
    else:
        console().print(f"{text} (leaf {recorded.leaf_index})", soft_wrap=True, markup=False)
