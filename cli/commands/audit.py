"""`audit`: every recorded round checked against the rules, in a ledger or an export."""

from collections.abc import Mapping
from datetime import tzinfo
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich.console import Console
from rich.text import Text

from shoeproof.cli.errors import UsageError
from shoeproof.cli.exit_codes import FINDINGS
from shoeproof.cli.input.cosigned import cosigned_by
from shoeproof.cli.input.options import (
    UTC_ZONE,
    EverySignatureOption,
    JsonOption,
    KeptCheckpointOption,
    LedgerOption,
    PublicKeyOption,
    ZoneOption,
    given_public_key,
    open_to_read,
    parse_zone,
    program,
    with_ledger,
)
from shoeproof.cli.screen.integrity import print_integrity
from shoeproof.cli.screen.render import (
    MOST_SHOWN,
    amount,
    console,
    plain,
    plain_table,
    print_findings,
    print_sentence,
    print_verdict,
    progress_bar,
)
from shoeproof.ledger.findings import EVENT_UNREADABLE
from shoeproof.ledger.verify.whole import SAMPLE
from shoeproof.replay.audit.one_by_one import AuditResult
from shoeproof.replay.bulk.audit import audit
from shoeproof.replay.bulk.export.manifest import (
    CANNOT_PROVE,
    Manifest,
    check_is_kept,
    read_manifest,
    said_by,
)
from shoeproof.replay.bulk.export.parquet import audit_parquet
from shoeproof.replay.engine.rules import Rules
from shoeproof.replay.errors import ExportUnusable, UnknownGame
from shoeproof.replay.local_time import zoned_text
from shoeproof.replay.rounds.catalogue import rules_by_content, rules_by_digest
from shoeproof.replay.rounds.narrative import counted


def register(app: typer.Typer) -> None:
    """Add this group's commands."""
    app.command("audit", epilog="Example: shoeproof audit --checkpoint kept.checkpoint")(
        audit_command
    )


def audit_command(
    path: LedgerOption = None,
    only: Annotated[
        str | None, typer.Option(metavar="GAME", help="Audit rounds of this game only.")
    ] = None,
    notes: Annotated[
        Path | None,
        typer.Option(
            "--resume",
            metavar="FILE",
            help="A file that keeps how far the audit came, so that it can go on.",
        ),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Worker processes; by default one per processor.")
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Use the workers of this Dask scheduler, such as tcp://host:8786. They must reach "
            "the ledger by the same path or postgresql://… URL, an export by the same path or URL.",
        ),
    ] = None,
    parquet: Annotated[
        str | None,
        typer.Option(
            metavar="DIR|URL",
            help="Audit an export made by `export parquet`, without a ledger; s3://… names one "
            "in an "
            "object store.",
        ),
    ] = None,
    checkpoint: KeptCheckpointOption = None,
    policy: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="With --parquet: whose signatures the export's checkpoint must bear "
            "(C2SP tlog-policy).",
        ),
    ] = None,
    public_key: PublicKeyOption = None,
    from_leaf: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="N",
            help="Begin at leaf N: rounds with no event from there on are not judged.",
        ),
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="K",
            help=f"Of the signatures that a checkpoint lets the audit skip, verify K at random "
            f"[{SAMPLE}].",
        ),
    ] = None,
    every_signature: EverySignatureOption = False,
    zone: ZoneOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check leaves by a checkpoint and rounds by their rules.

    Leaves that the ledger's latest checkpoint covers, or the one given, are hashed; all other
    signatures are verified, and those of every disputed round. Open rounds are judged as far as
    they go. What all this does not show is said at the end.
    """
    shown_in = parse_zone(zone) or UTC_ZONE
    if workers is not None and scheduler is not None:
        raise UsageError(
            "--workers are processes on this machine: leave it out when you give --scheduler"
        )
    if parquet is not None:
        if any((notes, public_key, from_leaf, sample, every_signature)):
            raise UsageError(
                "an export has no leaves and no signatures of events and is read in one go: "
                "--parquet cannot be combined with --resume, --public-key, --from-leaf, "
                "--sample or --every-signature"
            )
        manifest = read_manifest(parquet)
        _refuse_unknown_game(rules_by_content(manifest.rules.values()), only, "this export")
        shown = _verified_checkpoint(manifest, checkpoint, policy)
        _audit_export(parquet, only, workers, scheduler, shown, shown_in, as_json=as_json)
        return
    if policy is not None:
        raise UsageError(
            "--policy judges an export here: give --parquet too, or `verify` the ledger by it"
        )
    with open_to_read(path) as ledger, progress_bar() as bar:
        _refuse_unknown_game(rules_by_digest(ledger), only, "this ledger")
        if (from_leaf or 0) > ledger.size():
            raise UsageError(f"the ledger has {ledger.size()} leaves: none has index {from_leaf}")
        task = bar.add_task("auditing leaves", total=ledger.size())
        result = audit(
            ledger,
            lambda done, size: bar.update(task, completed=done, total=size),
            only=only,
            from_leaf=from_leaf or 0,
            public_key=given_public_key(public_key),
            checkpoint=None if checkpoint is None else checkpoint.read_bytes(),
            every_signature=every_signature,
            sample=SAMPLE if sample is None else sample,
            notes=notes,
            workers=workers,
            scheduler=scheduler,
        )
    if as_json:
        sound = not (result.rounds.findings or result.integrity.findings)
        print_verdict({**_as_json(result.rounds), "integrity": result.integrity}, sound=sound)
    else:
        _print_audit(console(), result.rounds, only, shown_in)
        if result.rounds.findings:
            out, command = console(), f"{program()} fault FINDING{with_ledger(path)}"
            out.print("To see which rounds a finding affects, and what is owed:")
            out.print(f"  {plain(command)}", soft_wrap=True)
        all_read = EVENT_UNREADABLE not in result.rounds.by_code
        print_integrity(console(), result.integrity, all_read=all_read)
    if result.rounds.findings or result.integrity.findings:
        raise typer.Exit(FINDINGS)


def _verified_checkpoint(
    manifest: Manifest, kept: Path | None, policy: Path | None
) -> dict[str, object]:
    """Return what is known of an export's checkpoint, for people who see the rest of the audit."""
    said = said_by(manifest)
    if said is None and (kept is not None or policy is not None):
        raise ExportUnusable("the manifest carries no checkpoint: export with the one you keep")
    if kept is not None:
        check_is_kept(manifest, kept.read_bytes())
    note = None if manifest.checkpoint is None else manifest.checkpoint.encode()
    return {
        "checkpoint": manifest.checkpoint,
        "checkpoint_size": None if said is None else said.size,
        "checkpoint_is_the_kept_one": kept is not None,
        "checkpoint_signed_as_the_policy_asks": policy is not None,
        "cosigned_by": cosigned_by(note, policy, None),
        # Not what the manifest says: its maker does not decide what it can prove.
        "cannot_prove": CANNOT_PROVE,
        # The manifest is nobody's signed word.
        "unsigned": ["size"],
    }


def _audit_export(
    place: str,
    only: str | None,
    workers: int | None,
    scheduler: str | None,
    shown: dict[str, Any],
    zone: tzinfo,
    *,
    as_json: bool,
) -> None:
    with progress_bar() as bar:
        task = bar.add_task("auditing rounds", total=None)
        result = audit_parquet(
            place,
            lambda done, total: bar.update(task, completed=done, total=total),
            only=only,
            workers=workers,
            scheduler=scheduler,
        )
    if as_json:
        print_verdict({**_as_json(result), **shown}, sound=not result.findings)
    else:
        out = console()
        _print_audit(out, result, only, zone, by_word=", as the maker of the export states")
        _print_checkpoint(out, shown)
        out.print("An export cannot prove:")
        for lack in shown["cannot_prove"]:
            print_sentence(out, lack, 2)
    if result.findings:
        raise typer.Exit(FINDINGS)


def _print_checkpoint(out: Console, shown: dict[str, Any]) -> None:
    if shown["checkpoint"] is None:
        out.print("No checkpoint came with this export.")
        return
    said = [f"It carries a checkpoint of {counted(shown['checkpoint_size'], 'leaf', 'leaves')}"]
    if shown["checkpoint_is_the_kept_one"]:
        said.append("the one you keep")
    if shown["checkpoint_signed_as_the_policy_asks"]:
        said.append("signed as your policy asks")
    else:
        said.append("whose signatures were not verified: --policy does that")
    print_sentence(out, f"{', '.join(said)}.")
    for name, moment in shown["cosigned_by"].items():
        out.print(f"  cosigned by {plain(name)} at {moment}", soft_wrap=True)
    print_sentence(
        out, "It does not show that these columns are those leaves: `verify` the ledger by it."
    )


def _as_json(result: AuditResult) -> dict[str, object]:
    return {**msgspec.structs.asdict(result), "by_code": result.by_code}


def _refuse_unknown_game(rules: Mapping[str, Rules], only: str | None, where: str) -> None:
    known = sorted({each.id for each in rules.values()})
    if only is not None and only not in known:
        raise UnknownGame(f"{where} has no game {only!r}; it has {', '.join(known) or 'none'}")


def _print_audit(
    out: Console, result: AuditResult, only: str | None, zone: tzinfo, by_word: str = ""
) -> None:
    of_game = "" if only is None else f" of {only} alone"
    print_sentence(
        out,
        f"Audited {result.closed_rounds:,} closed and "
        f"{counted(len(result.void_rounds), 'void round')}{of_game} "
        f"from {counted(result.size, 'leaf', 'leaves')}{by_word}.",
    )
    for void in result.void_rounds[:MOST_SHOWN]:
        refunded = amount(void.refunded_minor, void.currency)
        out.print(f"  void  {void.round}  {refunded} went back: {plain(void.reason)}")
    if result.open_rounds:
        said = counted(len(result.open_rounds), "round is", "rounds are")
        out.print(f"{said} open, judged as far as the play went:")
        for opened in result.open_rounds[:MOST_SHOWN]:
            since = zoned_text(opened.opened_at, zone)
            said = f"open  {opened.round}  player {opened.player}, {since}"
            print_sentence(out, said, 2)
    if not result.findings:
        if result.closed_rounds or result.void_rounds or result.open_rounds:
            out.print(Text("Every card, act and payment follows from the rules.", "bold green"))
        else:
            out.print("No round was judged.")
        return
    print_findings(out, result.findings)
    table = plain_table("finding", "times", right=("times",))
    for code, count in sorted(result.by_code.items(), key=lambda item: -item[1]):
        table.add_row(code, f"{count:,}")
    out.print(table)
