"""`shoe`: the shoe of a round from its seeds, and the OpenSSL command that proves it."""

from typing import Annotated

import typer

from cli.errors import UsageError
from cli.options import JsonOption
from cli.render import cards_text, console, print_json
from replay.engine.shoe import KEYSTREAM_BITS, LABEL, Shoe, commitment, context, shoe_digest

CARDS_A_LINE = 13


def register(app: typer.Typer) -> None:
    """Add this group's commands."""
    app.command("shoe")(shoe_command)


def shoe_command(
    server_seed: Annotated[str, typer.Option(metavar="HEX", help="The revealed 32 bytes.")],
    round_id: Annotated[str, typer.Option(metavar="ID", help="The round's id.")],
    rules_digest: Annotated[str, typer.Option(metavar="HEX", help="The rules the round names.")],
    decks: Annotated[int, typer.Option(metavar="N", help="Decks in the shoe, 1 to 8.")],
    client_seed: Annotated[
        str, typer.Option(metavar="HEX", help="The player's part, at most 64 bytes.")
    ] = "",
    as_json: JsonOption = False,
) -> None:
    """Rebuild a shoe card by card, with the `openssl kdf` line that prints its keystream."""
    seed, client = _hex(server_seed, "server seed"), _hex(client_seed, "client seed")
    shoe = Shoe(seed, round_id, rules_digest, client, decks)
    committed = commitment(round_id, rules_digest, seed).hex()
    digest = shoe_digest(shoe)
    if as_json:
        print_json({"cards": list(shoe), "commitment": committed, "shoe_sha256": digest})
        return
    out = console()
    out.print(f"commitment   {committed}", soft_wrap=True)
    out.print(f"shoe SHA-256 {digest}\n", soft_wrap=True)
    cards = list(shoe)
    for start in range(0, len(cards), CARDS_A_LINE):
        line = cards_text(cards[start : start + CARDS_A_LINE])
        out.print(f"{start:>4}  ", end="")
        out.print(line)
    out.print("\nThe keystream, 32-bit words for the shuffle, from OpenSSL itself:")
    out.print(
        f"openssl kdf -keylen {KEYSTREAM_BITS // 8} -kdfopt digest:SHA256 -kdfopt mac:HMAC "
        f"-kdfopt mode:counter -kdfopt hexkey:{seed.hex()} -kdfopt hexsalt:{LABEL.hex()} "
        f"-kdfopt hexinfo:{context(round_id, rules_digest, client).hex()} KBKDF",
        soft_wrap=True,
    )


def _hex(text: str, what: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError:
        raise UsageError(f"the {what} {text!r} is not hexadecimal") from None
