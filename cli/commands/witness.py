"""`witness`: cosigning a log's checkpoints as a regulator does, and asking witnesses to."""

from pathlib import Path
from typing import Annotated

import typer

from shoeproof.cli.errors import tell
from shoeproof.cli.exit_codes import INTERRUPTED
from shoeproof.cli.input.options import (
    LedgerOption,
    OutputOption,
    given_public_key,
    open_to_write,
    passphrase_from_environment,
)
from shoeproof.cli.screen.render import console
from shoeproof.ledger.checkpoint.note import parse_vkey
from shoeproof.ledger.errors import WitnessUnreachable
from shoeproof.ledger.files.durable import write_durably
from shoeproof.ledger.leaf.clock import utc_now
from shoeproof.ledger.signing import sign_checkpoint
from shoeproof.ledger.witness.client import ask, keep, make_request
from shoeproof.ledger.witness.cosigner import EVIDENCE, LOGS, Witness
from shoeproof.ledger.witness.request import with_cosignature
from shoeproof.ledger.witness.witness_policy import parse_policy, require
from shoeproof.needs import need

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Cosign a log's checkpoints, or have witnesses do so.",
    epilog="Example: shoeproof witness request -o request.txt",
)


def register(commands: typer.Typer) -> None:
    """Add this group."""
    commands.add_typer(app, name="witness")


DirectoryArgument = Annotated[
    Path, typer.Argument(metavar="DIR", help="The witness's own directory.")
]


@app.command(
    "init",
    epilog="Example: shoeproof witness init ./witness --name w.example --log log.vkey",
)
def init_command(
    directory: DirectoryArgument,
    name: Annotated[
        str, typer.Option(help="The witness's permanent name, like regulator.example.")
    ],
    logs: Annotated[
        list[str],
        typer.Option("--log", help="The log key of a ledger to watch, or a file; may repeat."),
    ],
) -> None:
    """Make a witness: its directory and its key.

    The key is encrypted under SHOEPROOF_PASSPHRASE. Take the ledgers' log keys from the operator by
    a way of its own, and hand the printed line to anyone who is to rely on this witness: it belongs
    in their policy. The name in a log key is the ledger's own, like casino.example/blackjack; other
    keys of a ledger have a role before it, like operator.casino.example/blackjack, and cannot be
    told from the log key of a ledger so named.
    """
    keys = [parse_vkey(str(given_public_key(log))) for log in logs]
    witness = Witness.init(directory, name, keys, passphrase=passphrase_from_environment())
    print(f"witness {witness.key.name} {witness.key.vkey}")


@app.command("watch", epilog="Example: shoeproof witness watch ./witness --log other.vkey")
def watch_command(
    directory: DirectoryArgument,
    log: Annotated[str, typer.Option(help="The log key of one more ledger to watch, or a file.")],
) -> None:
    """Watch one more ledger.

    A witness that is serving must be restarted.
    """
    witness = Witness.open(directory, passphrase=passphrase_from_environment())
    witness.watch(parse_vkey(str(given_public_key(log))))


@app.command(
    "cosign", epilog="Example: shoeproof witness cosign ./witness request.txt -o cosigned.txt"
)
def cosign_command(
    directory: DirectoryArgument,
    file: Annotated[Path, typer.Argument(help="A request, or the first checkpoint of a log.")],
    output: OutputOption = None,
) -> None:
    """Cosign a checkpoint that came in a file.

    It is written with the cosignature. It is refused unless it is proven to extend the last one
    cosigned here. What is written is what came, with this witness's line; what is kept here bears
    the log's signatures and that line alone. Where the log shows another history, both notes are
    kept as evidence in a named file.
    """
    witness = Witness.open(directory, passphrase=passphrase_from_environment())
    request = witness.request(file.read_bytes())
    # Other witnesses lines are passed on, though not kept here: a quorum gathers in one file.
    _write(output, with_cosignature(request.note, witness.key, witness.cosign(request)))


@app.command("serve", epilog="Example: shoeproof witness serve ./witness --port 8080")
def serve_command(
    directory: DirectoryArgument,
    host: Annotated[str, typer.Option(help="The address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="The port to listen at.")] = 8080,
) -> None:
    """Cosign checkpoints by HTTP (C2SP tlog-witness).

    It serves this machine alone unless --host says so. There is no TLS here: put a web server that
    has it in front.
    """
    need("serving", "starlette", "uvicorn", extra="serve")
    from shoeproof.ledger.witness.server import serve

    witness = Witness.open(directory, passphrase=passphrase_from_environment())
    out = console()
    out.print(f"{witness.key.name} cosigns at http://{host}:{port}/", soft_wrap=True)
    out.print(f"logs {directory / LOGS}, evidence {directory / EVIDENCE}", soft_wrap=True)
    serve(witness, host, port)
    # When Ctrl-C ends it, it finishes its open answers and returns.
    raise typer.Exit(INTERRUPTED)


@app.command("request", epilog="Example: shoeproof witness request -o request.txt")
def request_command(
    path: LedgerOption = None,
    old: Annotated[
        int, typer.Option(min=0, help="How many leaves the witness has cosigned so far.")
    ] = 0,
    output: OutputOption = None,
) -> None:
    """Sign a checkpoint, and write what a witness needs.

    It is sent as a file to be cosigned.
    """
    with open_to_write(path) as ledger:
        request = make_request(ledger, old)
    _write(output, request.encode())


@app.command(
    "ask", epilog="Example: shoeproof witness ask --policy witnesses.policy -o cosigned.txt"
)
def ask_command(
    policy: Annotated[Path, typer.Option(help="The policy, with a URL at each witness's line.")],
    path: LedgerOption = None,
    output: OutputOption = None,
) -> None:
    """Sign a checkpoint, and have witnesses cosign it by HTTP.

    Every witness of the policy is asked. It is kept in the ledger's directory, with every
    cosignature that came, and the quorum must be among them: a witness that does not answer is
    said, and does no harm where there are enough.
    """
    rules = parse_policy(policy.read_bytes())
    with open_to_write(path) as ledger:
        note = sign_checkpoint(ledger)
        for witness in rules.witnesses.values():
            if witness.url is not None:
                try:
                    note = ask(ledger, note, witness.url, witness.key)
                except WitnessUnreachable as error:
                    tell(error)
                else:
                    keep(ledger, note)
    require(rules, note, now=utc_now())
    _write(output, note)


def _write(output: Path | None, content: bytes) -> None:
    if output is None:
        print(content.decode(), end="")
    else:
        write_durably(output, content)
