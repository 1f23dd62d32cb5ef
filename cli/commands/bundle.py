"""`bundle`: one round with all its proofs in one file, and its verification without a ledger."""

from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.text import Text

from shoeproof.cli.exit_codes import FINDINGS
from shoeproof.cli.input.cosigned import cosigned_by
from shoeproof.cli.input.options import (
    CheckpointOption,
    DefaultGroup,
    JsonOption,
    LedgerOption,
    MaxAgeOption,
    NeededPublicKeyOption,
    PolicyOption,
    RoundArgument,
    find_round,
    given_public_key,
    open_to_read,
    open_to_write,
)
from shoeproof.cli.screen.render import console, print_sentence, print_verdict
from shoeproof.cli.screen.replay import print_replay
from shoeproof.ledger.files.durable import write_durably
from shoeproof.replay.rounds.catalogue import rules_by_content
from shoeproof.replay.rounds.replayer import replay_round

END_NOT_PROVEN = "The end of this round is not proven: the bundle holds no closing event."
KEYS_AS_TOLD = (
    "The keys are those in this bundle. It cannot show that no revocation was left out: ask the "
    "operator or verify the ledger."
)


class _MakesByDefault(DefaultGroup):
    """A group whose first word may be a round, which then is put into a bundle."""

    default = "make"


app = typer.Typer(
    cls=_MakesByDefault,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Put a round with all its proofs into one file; verify it. `bundle ROUND -o FILE` is "
    "`bundle make ROUND -o FILE`.",
    epilog="Example: shoeproof bundle 01a22c2b -o receipt.json",
)


def register(commands: typer.Typer) -> None:
    """Add this group."""
    commands.add_typer(app, name="bundle")


@app.command("make", epilog="Example: shoeproof bundle 01a22c2b -o receipt.json")
def make_command(
    round_id: RoundArgument,
    output: Annotated[Path, typer.Option("-o", "--output", help="The bundle's file.")],
    path: LedgerOption = None,
    checkpoint: CheckpointOption = None,
    kept: Annotated[
        Path | None,
        typer.Option(help="A checkpoint the reader already has, for the bundle to connect to."),
    ] = None,
) -> None:
    """Write a round with every proof into one file.

    It holds the round's events, rules and keys, and a checkpoint. A player or an adjudicator checks
    it with `shoeproof bundle verify`, offline, with nothing but your public key.
    """
    from shoeproof.ledger.exchange.bundle import make_bundle

    # Under a checkpoint that is there already no key is needed.
    with open_to_write(path) if checkpoint is None else open_to_read(path) as ledger:
        bundle = make_bundle(
            ledger,
            find_round(ledger, round_id),
            checkpoint=None if checkpoint is None else checkpoint.read_bytes(),
            kept=None if kept is None else kept.read_bytes(),
        )
    write_durably(output, bundle)
    console().print(f"wrote {output}, {len(bundle):,} bytes", soft_wrap=True)


@app.command(
    "verify", epilog="Example: shoeproof bundle verify receipt.json --public-key operator.vkey"
)
def verify_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The bundle.")],
    public_key: NeededPublicKeyOption,
    checkpoint: Annotated[
        Path | None, typer.Option(help="A checkpoint you kept: it must be of the same history.")
    ] = None,
    policy: PolicyOption = None,
    max_age: MaxAgeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Verify a bundle without any ledger, and replay its round.

    What it holds is proven; what was left out of it is not: a round's end is shown by its closing
    event alone, and that no key was revoked by nothing.
    """
    from shoeproof.ledger.exchange.bundle import verify_bundle

    key = given_public_key(public_key)
    assert key is not None
    kept = None if checkpoint is None else checkpoint.read_bytes()
    verified = verify_bundle(file.read_bytes(), key, kept)
    cosigned = cosigned_by(verified.checkpoint.note, policy, max_age)
    replay = replay_round(verified.events, rules_by_content(verified.rules))
    found = [*verified.findings, *replay.findings]
    head = verified.checkpoint.checkpoint
    if as_json:
        print_verdict(
            {
                "round": verified.round_id,
                "origin": head.origin,
                "checkpoint_size": head.size,
                "kept_checkpoint_agrees": None if kept is None else True,
                "cosigned_by": cosigned,
                "end_is_proven": verified.end_is_proven,
                "seen": msgspec.to_builtins(verified.seen),
                "revocations_proven_complete": False,
                "findings": found,
            },
            sound=not found,
        )
    else:
        out = console()
        print_replay(out, replay, verified.findings, unended=END_NOT_PROVEN)
        out.print(
            Text(f"{len(verified.events)} events are proven under the checkpoint of {head.origin}")
        )
        out.print(f"with {head.size:,} leaves, signed by the log's key.")
        if verified.seen:
            last = verified.seen[-1]
            print_sentence(
                out,
                f"Its signer had seen the first {last.size:,} leaves, root {last.root[:16]}…: "
                f"anyone who keeps this file can hold the operator to all of them (verify "
                f"--receipt).",
            )
        if found and not verified.end_is_proven:
            out.print(END_NOT_PROVEN)
        print_sentence(out, KEYS_AS_TOLD)
        for name, time in cosigned.items():
            out.print(f"Cosigned by {name} at {time}.")
        if kept is not None:
            out.print("It is of the same history as the checkpoint you kept.")
    if found:
        raise typer.Exit(FINDINGS)
