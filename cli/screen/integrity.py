"""How what an audit proved of a ledger's bytes looks in a terminal."""

from rich.console import Console
from rich.text import Text

from shoeproof.cli.screen.render import print_findings, print_sentence
from shoeproof.ledger.verify.integrity import Integrity
from shoeproof.ledger.verify.known_checkpoints import KnownCheckpoint
from shoeproof.replay.rounds.narrative import counted


def print_integrity(out: Console, proved: Integrity, *, all_read: bool) -> None:
    """Print what checkpoints cover, which signatures were verified and why, and what is open.

    `all_read` tells that no leaf was unreadable, which is told among the findings of rounds.
    """
    for held in proved.checkpoints:
        said = f"{_name(held)} of {_leaves(held.size)} {_AGREES[held.agrees]}."
        print_sentence(out, said)
    first, covered, checked = proved.from_leaf, proved.covered, proved.signatures
    if first:
        out.print(f"Audited from leaf {first:,} on.")
    if covered > first:
        spared = checked.disputed + checked.sampled
        print_sentence(
            out,
            f"Leaves {first:,} to {covered - 1:,} are those it was signed for: they were hashed. "
            f"Of their signatures {spared:,} were verified, {checked.disputed:,} in disputed "
            f"rounds and {checked.sampled:,} drawn at random; a checkpoint does not show which "
            "key signed each event.",
        )
    if checked.uncovered:
        other = "other " if covered > first else ""
        print_sentence(
            out, f"Every signature of the {other}{_leaves(checked.uncovered)} was verified."
        )
    print_findings(out, proved.findings)
    if proved.findings:
        out.print(Text(f"INTEGRITY: {counted(len(proved.findings), 'finding')}", "bold red"))
    elif all_read:
        out.print(Text("No leaf is altered, missing or out of its place.", "bold green"))
    out.print("Left open:")
    for sentence in proved.left_open:
        print_sentence(out, sentence, 2)


def _leaves(count: int) -> str:
    return counted(count, "leaf", "leaves")


def _name(held: KnownCheckpoint) -> str:
    return "The checkpoint given" if held.source == "given" else "The ledger's own checkpoint"


_AGREES = {
    True: "agrees",
    False: "does NOT agree: this ledger is not the one it was signed for",
    None: "was not checked against anything",
}
