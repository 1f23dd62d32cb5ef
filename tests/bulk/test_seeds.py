"""Seeds that come again or are counted up: the same findings from leaves, ranges and columns."""

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest

from shoeproof.ledger import Ledger
from shoeproof.ledger.signing import sign_checkpoint
from shoeproof.replay.audit.one_by_one import audit as scalar_audit
from shoeproof.replay.bulk.audit import audit
from shoeproof.replay.bulk.export.parquet import audit_parquet
from shoeproof.replay.bulk.export.write import export_parquet
from shoeproof.replay.disputes.assess import assess
from shoeproof.replay.disputes.evidence import gather
from shoeproof.replay.rounds.catalogue import add_published_games
from tests.bulk.helpers import of_the_play
from tests.ledger.helpers import tampering
from tests.replay.helpers import ORIGIN
from tests.replay.live import table
from tests.replay.test_seeds import SEED, played, told

GAMES = ["zero", "zappit"]


class Made(NamedTuple):
    """A ledger, the round that revealed `SEED` first, and what is to be found in it."""

    ledger: Ledger
    first: str
    expected: list[tuple[str, str | None]]


def make(folder: Path, url: str | None = None) -> Made:
    """Honest rounds, and among them rounds on seeds that could be known."""
    ledger = Ledger.init(folder, ORIGIN, database_url=url)
    add_published_games(ledger)
    random = Random(5)

    def honest(rounds: int) -> None:
        for _ in range(rounds):
            played(ledger, int.from_bytes(random.randbytes(32)), random.choice(GAMES))

    honest(1)
    # Committed to and never dealt: dealt, a natural could end the round and reveal its seed.
    table(ledger, "nba", seeds=lambda: (SEED + 5).to_bytes(32)).open_round("p-open")
    first = played(ledger, SEED, "zero")
    honest(3)
    again = played(ledger, SEED)
    honest(2)
    counted = played(ledger, SEED + 1, "zero")
    honest(2)
    counted_again = played(ledger, SEED + 1)
    honest(1)
    return Made(
        ledger,
        first,
        [
            ("seed_repeated", again),
            ("seed_predictable", counted),
            ("seed_repeated", counted_again),
        ],
    )


@pytest.fixture(params=["sqlite", "postgres"])
def made(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Made]:
    url = request.getfixturevalue("postgres_url") if request.param == "postgres" else None
    found = make(tmp_path / "ledger", url)
    with found.ledger:
        yield found


def test_ranges_come_to_what_the_walk_finds(made: Made) -> None:
    expected = scalar_audit(made.ledger)
    assert told(expected) == made.expected
    for partitions in (1, 7, 500):
        result = audit(made.ledger, partitions=partitions)
        assert result.rounds == expected
        assert not result.integrity.findings


def test_from_a_leaf_rounds_are_held_to_what_was_revealed_before_it(made: Made) -> None:
    whole, size = scalar_audit(made.ledger).findings, made.ledger.size()
    for from_leaf in range(0, size, 9):
        streams = {leaf.stream for leaf in made.ledger.leaves(from_leaf)}
        result = audit(made.ledger, from_leaf=from_leaf, partitions=3)
        assert list(result.rounds.findings) == [each for each in whole if each.stream in streams]
    assert "a revealed seed" in " ".join(result.integrity.left_open)


def test_columns_come_to_what_the_ledger_shows(made: Made, tmp_path: Path) -> None:
    export_parquet(made.ledger, tmp_path / "rounds", rounds_a_part=3)
    for only in (None, "nba", "zero"):
        expected = of_the_play(scalar_audit(made.ledger, only=only))
        assert audit_parquet(tmp_path / "rounds", only=only, workers=1) == expected
        assert audit(made.ledger, only=only).rounds.findings == expected.findings


def test_an_assessment_finds_the_other_round_by_index(made: Made) -> None:
    by_round = {each.stream: each for each in scalar_audit(made.ledger).findings}
    for code, round_id in made.expected:
        found = assess(gather(made.ledger, round_id or ""), "fairness").findings
        # That a seed is counted up is for an audit of the whole ledger to find.
        assert found == ((by_round[round_id],) if code == "seed_repeated" else ())


def test_disputed_signatures_are_verified(made: Made) -> None:
    assert audit(made.ledger, sample=0).integrity.signatures.disputed == 0
    sign_checkpoint(made.ledger)
    rounds = [made.ledger.store.stream(round_id or "") for _, round_id in made.expected]
    # Those of rounds that the replayer was asked about are verified too.
    disputed = audit(made.ledger, sample=0).integrity.signatures.disputed
    assert disputed >= sum(map(len, rounds))


def test_a_column_that_lies_hides_a_seed_from_look_ups_and_not_from_an_audit(
    tmp_path: Path,
) -> None:
    ledger, first, expected = make(tmp_path / "ledger")
    ledger.close()
    with tampering(tmp_path / "ledger") as connection:
        connection.execute(
            "UPDATE stored_events SET topic = 'CardDealt' WHERE topic = 'ShoeRevealed'"
            " AND originator_id = ?",
            (first,),
        )
    again = expected[0][1] or ""
    with Ledger.open(tmp_path / "ledger") as opened:
        assert assess(gather(opened, again), "fairness").findings == ()
        start = opened.events(again)[0].leaf_index
        assert ("seed_repeated", again) not in told(audit(opened, from_leaf=start).rounds)
        whole = audit(opened)
        assert told(whole.rounds) == expected
        assert {each.code for each in whole.integrity.findings} == {"stream_mismatch"}
