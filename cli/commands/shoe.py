"""`shoe`: the shoe of a round from its seeds, and the OpenSSL command that proves it."""

from typing import Annotated, NamedTuple

import typer

from shoeproof.cli.errors import UsageError
from shoeproof.cli.input.options import JsonOption, LedgerOption, find_round, open_to_read
from shoeproof.cli.screen.render import cards_text, console, print_json
from shoeproof.ledger.leaf.events import ShoeRevealed
from shoeproof.replay.engine.shoe import (
    KEYSTREAM_BITS,
    LABEL,
    Shoe,
    commitment,
    context,
    shoe_digest,
)
from shoeproof.replay.rounds.catalogue import rules_by_digest
from shoeproof.replay.rounds.replayer import replay_round

CARDS_A_LINE = 13


def register(app: typer.Typer) -> None:
    """Add this group's commands."""
    app.command("shoe", epilog="Example: shoeproof shoe --round 01a22c2b")(shoe_command)


def shoe_command(
    server_seed: Annotated[
        str | None, typer.Option(metavar="HEX", help="The revealed 32 bytes.")
    ] = None,
    round_id: Annotated[str | None, typer.Option(metavar="ID", help="The round's id.")] = None,
    rules_digest: Annotated[
        str | None, typer.Option(metavar="HEX", help="The rules the round names.")
    ] = None,
    decks: Annotated[
        int | None, typer.Option(metavar="N", help="Decks in the shoe, 1 to 8.")
    ] = None,
    client_seed: Annotated[
        str, typer.Option(metavar="HEX", help="The player's part, at most 64 bytes.")
    ] = "",
    of_round: Annotated[
        str | None, typer.Option("--round", metavar="ROUND", help="Take all from this round.")
    ] = None,
    path: LedgerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Rebuild a shoe from its seeds, card by card.

    The `openssl kdf` line that prints its keystream comes with it. Give the four values, or a
    --round of a ledger that has ended.
    """
    if of_round is not None:
        seeds = _recorded(path, of_round)
    elif server_seed is None or round_id is None or rules_digest is None or decks is None:
        raise UsageError(
            "give --server-seed, --round-id, --rules-digest and --decks, or --round of a ledger"
        )
    else:
        client = _hex(client_seed, "client seed")
        seed = _hex(server_seed, "server seed")
        # The commitment hashes the digest's text, which is lower hex.
        seeds = Seeds(seed, round_id, rules_digest.lower(), client, decks)
    shoe = Shoe(*seeds)
    committed = commitment(seeds.round_id, seeds.rules_digest, seeds.server_seed).hex()
    digest = shoe_digest(shoe)
    if as_json:
        print_json({"cards": list(shoe), "commitment": committed, "shoe_sha256": digest})
        return
    _print(seeds, shoe, committed, digest)


class Seeds(NamedTuple):
    """What a shoe follows from; `rules_digest` is lower hex."""

    server_seed: bytes
    round_id: str
    rules_digest: str
    client_seed: bytes
    decks: int


def _recorded(path: str | None, round_id: str) -> Seeds:
    with open_to_read(path) as ledger:
        stream = find_round(ledger, round_id)
        replay = replay_round(ledger.events(stream), rules_by_digest(ledger))
    revealed = [
        step.recorded.event.data.seed
        for step in replay.steps
        if isinstance(step.recorded.event.data, ShoeRevealed)
    ]
    if not revealed or replay.rules is None or replay.requested is None:
        raise UsageError(f"the round {stream} has not revealed a seed for a shoe that was dealt")
    return Seeds(
        _hex(revealed[0], "recorded server seed"),
        stream,
        replay.opened.rules_digest,
        _hex(replay.requested.client_seed, "recorded client seed"),
        replay.rules.decks,
    )


def _print(seeds: Seeds, shoe: Shoe, committed: str, digest: str) -> None:
    out = console()
    out.print(f"commitment   {committed}", soft_wrap=True)
    out.print(f"shoe SHA-256 {digest}\n", soft_wrap=True)
    cards = list(shoe)
    for start in range(0, len(cards), CARDS_A_LINE):
        line = cards_text(cards[start : start + CARDS_A_LINE])
        out.print(f"{start:>4}  ", end="")
        out.print(line)
    bound = context(seeds.round_id, seeds.rules_digest, seeds.client_seed)
    out.print("\nThe keystream, 32-bit words for the shuffle, from OpenSSL itself:")
    out.print(
        f"openssl kdf -keylen {KEYSTREAM_BITS // 8} -kdfopt digest:SHA256 -kdfopt mac:HMAC "
        f"-kdfopt mode:counter -kdfopt hexkey:{seeds.server_seed.hex()} "
        f"-kdfopt hexsalt:{LABEL.hex()} "
        f"-kdfopt hexinfo:{bound.hex()} KBKDF",
        soft_wrap=True,
    )


def _hex(text: str, what: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError:
        raise UsageError(f"the {what} {text!r} is not hexadecimal") from None
