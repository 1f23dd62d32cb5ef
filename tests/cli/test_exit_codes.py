"""What a command ends with where it met faults of several kinds: the gravest says it."""

import json
import shutil
from pathlib import Path

from shoeproof.ledger import Ledger
from tests.cli.conftest import Shoeproof
from tests.cli.test_adjudicate import STOOD
from tests.ledger.helpers import alter


def test_a_flipped_signature_alone_ends_an_audit_with_1(
    shoeproof: Shoeproof, played: Path, tmp_path: Path
) -> None:
    """Every card and payment follows from the rules, and yet nobody has signed the last of them."""
    copy = Path(shutil.copytree(played, tmp_path / "copy"))
    with Ledger.open(copy) as ledger:
        (last,) = ledger.leaves(ledger.size() - 1)
    signature = last.state[-40:-30]
    alter(copy, last.leaf_index, signature, bytes(reversed(signature)))
    result = shoeproof("audit", "--ledger", copy, "--json")
    told = json.loads(result.out)
    assert told["findings"] == []
    # Where a checkpoint covers the leaf, that and the tiles tell of it too.
    assert "signature_invalid" in [each["code"] for each in told["integrity"]["findings"]]
    assert result.code == 1


def test_a_file_that_is_no_round_outweighs_findings_in_others(
    shoeproof: Shoeproof, tmp_path: Path
) -> None:
    wrong, unread = tmp_path / "wrong.round", tmp_path / "unread.round"
    # The dealer had 17 and drew on.
    wrong.write_text(STOOD.replace('"s1 stand"]', '"s1 stand", "deal dealer 2c"]'))
    unread.write_text("no round")
    assert shoeproof("adjudicate", wrong).code == 1
    for files in ((unread, wrong), (wrong, unread)):
        result = shoeproof("adjudicate", *files)
        assert result.code == 3
        assert "surplus_move" in result.out
        assert "unread.round" in result.err
