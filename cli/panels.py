"""Every command as `--help` lists it: by who uses it, in the order of their work.

Nothing here loads a command: the ledger, statistics and DuckDB take longer to load than a list of
names may take to print.
"""

from typing import Final, NamedTuple


class Listed(NamedTuple):
    """A command's name, the module of `commands` that registers it, and what it does."""

    name: str
    module: str
    says: str


PANELS: Final[dict[str, tuple[Listed, ...]]] = {
    "To begin": (
        Listed("demo", "demo", "Show everything at work: play, proof, and tampering found."),
        Listed("play", "play", "Play in the terminal for play money."),
    ),
    "For operators": (
        Listed("table", "table", "Record outages, end abandoned rounds, release held wins."),
        Listed("wallet", "wallet", "Compare the operator's wallet with the ledger."),
    ),
    "For support": (
        Listed("rounds", "rounds", "List rounds, newest first."),
        Listed("replay", "rounds", "Rebuild a round from its events, card by card."),
        Listed("dispute", "dispute.group", "Open, assess and decide cases; pay by signed events."),
        Listed("bundle", "bundle", "Put a round with all its proofs into one file; verify it."),
        Listed("adjudicate", "adjudicate", "Say what each bet of written rounds is paid."),
        Listed("value", "theory", "Show what every legal act of a written round was worth."),
        Listed("fault", "fault", "Show every round one fault affected; decide what is owed."),
    ),
    "For regulators and test labs": (
        Listed("inspect", "inspect", "Verify, audit, test and count; end in one verdict."),
        Listed("verify", "ledger", "Check every leaf: signature, signer, order, chain, seeds."),
        Listed("audit", "audit", "Check leaves by a checkpoint and rounds by their rules."),
        Listed("rtp", "rtp", "Count and judge the realised return by game and bet."),
        Listed("report", "report", "Write reports for regulators and test labs."),
        Listed("shuffle-tests", "shuffle_tests", "Test every shoe and deal for randomness."),
        Listed("alarms", "alarms", "List, investigate and close what `rtp --raise` recorded."),
        Listed("project", "project", "Bring the tables up to date; publish them as Parquet."),
        Listed("sql", "sql", "Ask the tables a question of your own."),
        Listed("shoe", "shoe", "Rebuild a shoe from its seeds, card by card."),
        Listed("theory", "theory", "Compute a game's exact returns from its rules."),
        Listed("strategy", "theory", "Show the best strategy that looks at totals."),
        Listed("witness", "witness", "Cosign a log's checkpoints, or have witnesses do so."),
    ),
    "For engineers": (
        Listed("init", "ledger", "Make a ledger: its directory, its keys, the games' rules."),
        Listed("keys", "keys", "Show, add, rotate and revoke the keys that sign a ledger."),
        Listed("rules", "rules", "Show the games' rules, or add a variant."),
        Listed("simulate", "simulate", "Play and record rounds by a simulated player."),
        Listed("checkpoint", "checkpoint", "Sign how many leaves there are and their Merkle root."),
        Listed("publish", "publish", "Write the ledger as static files (C2SP tlog-tiles)."),
        Listed("export", "export", "Write every leaf as a stream, or rounds as Parquet."),
        Listed("import", "publish", "Import leaves from another ledger with this name."),
        Listed("fsck", "checkpoint", "Recompute everything derived, and name what is damaged."),
        Listed("rebuild", "publish", "Rebuild a lost ledger from all its leaves."),
    ),
}
