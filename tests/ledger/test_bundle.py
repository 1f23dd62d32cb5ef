"""Bundles: a round proven without its ledger, and each alteration refused."""

from base64 import b64encode
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from shoeproof.ledger import findings
from shoeproof.ledger.checkpoint.proof import InclusionProof, parse_head, proof_head
from shoeproof.ledger.checkpoint.signed import parse_checkpoint
from shoeproof.ledger.errors import (
    BundleUnreadable,
    KeyUnusable,
    LedgerError,
    NoteRefused,
    ProofRefused,
)
from shoeproof.ledger.exchange.bundle import (
    Bundle,
    Consistency,
    make_bundle,
    parse_bundle,
    verify_bundle,
)
from shoeproof.ledger.leaf.events import PolicyAdded, RulesAdded
from shoeproof.ledger.ledger import Ledger
from shoeproof.ledger.signing import sign_checkpoint
from tests.ledger.helpers import (
    FIRST,
    OTHER_ROUND,
    ROUND,
    RULES,
    alter,
    digest_of,
    opened,
    play,
    round_id,
    short_round,
)

OTHER_RULES = digest_of({"decks": 8})


@pytest.fixture
def bundled(ledger: Ledger) -> tuple[Ledger, str, bytes]:
    """A ledger, its operator's key, and the bundle of ROUND, whose leaves are 8 to 15."""
    ledger.append(("rules", RulesAdded(RULES, {"decks": 6})))
    ledger.append(("rules", RulesAdded(OTHER_RULES, {"decks": 8})))
    ledger.append(("policies", PolicyAdded(digest_of({}), {})))
    play(ledger)
    key = ledger.public_keys()["operator"]
    return ledger, key, make_bundle(ledger, ROUND)


def test_a_bundle_proves_the_round_and_carries_its_rules(
    bundled: tuple[Ledger, str, bytes],
) -> None:
    ledger, key, data = bundled
    verified = verify_bundle(data, key)
    assert verified.events == ledger.events(ROUND)
    assert (verified.rules, verified.policies, verified.findings) == ([{"decks": 6}], [], [])
    assert verified.checkpoint.checkpoint.size == ledger.size()
    heads = [parse_head(each.proof).leaf_index for each in parse_bundle(data).leaves]
    assert heads == [*range(FIRST + 1), *range(FIRST + 3, FIRST + 11)]


def test_each_proof_with_the_checkpoint_is_a_tlog_proof(
    bundled: tuple[Ledger, str, bytes],
) -> None:
    bundle = parse_bundle(bundled[2])
    proof = bundle.leaves[0].proof + bundle.checkpoint
    assert proof.startswith("c2sp.org/tlog-proof@v1\nindex 0\n")
    assert proof.endswith("\n\n" + bundle.checkpoint)


def test_the_newest_kept_checkpoint_that_covers_the_round_is_used(
    bundled: tuple[Ledger, str, bytes],
) -> None:
    ledger, _, _ = bundled
    note = sign_checkpoint(ledger)
    play(ledger, OTHER_ROUND)
    assert parse_bundle(make_bundle(ledger, ROUND)).checkpoint == note.decode()
    later = parse_bundle(make_bundle(ledger, OTHER_ROUND))
    assert parse_checkpoint(later.checkpoint.encode()).size == ledger.size()
    with pytest.raises(BundleUnreadable, match="use a later one"):
        make_bundle(ledger, OTHER_ROUND, checkpoint=note)


@pytest.mark.parametrize("kept_first", [True, False])
def test_a_bundle_connects_to_a_kept_checkpoint(
    bundled: tuple[Ledger, str, bytes], kept_first: bool
) -> None:
    ledger, key, _ = bundled
    old = sign_checkpoint(ledger)
    play(ledger, OTHER_ROUND)
    new = sign_checkpoint(ledger)
    checkpoint, kept = (new, old) if kept_first else (old, new)
    verify_bundle(make_bundle(ledger, ROUND, checkpoint=checkpoint, kept=kept), key, kept)
    verify_bundle(make_bundle(ledger, ROUND, checkpoint=kept), key, kept)
    with pytest.raises(ProofRefused, match="ask for one made with"):
        verify_bundle(make_bundle(ledger, ROUND, checkpoint=checkpoint), key, kept)


def test_a_checkpoint_of_another_ledger_is_not_bundled(
    bundled: tuple[Ledger, str, bytes], tmp_path: Path
) -> None:
    with Ledger.init(tmp_path / "other", bundled[0].origin) as other:
        foreign = sign_checkpoint(other)
    for given in ({"checkpoint": foreign}, {"kept": foreign}):
        with pytest.raises(BundleUnreadable, match="not of this ledger"):
            make_bundle(bundled[0], ROUND, **given)


Change = Callable[[Bundle], Bundle]


def leaves(place: int, **fields: str) -> Change:
    def change(bundle: Bundle) -> Bundle:
        altered = list(bundle.leaves)
        altered[place] = msgspec.structs.replace(altered[place], **fields)
        return msgspec.structs.replace(bundle, leaves=altered)

    return change


def without(*places: int) -> Change:
    def change(bundle: Bundle) -> Bundle:
        kept = [each for place, each in enumerate(bundle.leaves) if place not in places]
        return msgspec.structs.replace(bundle, leaves=kept)

    return change


def other_leaf(bundle: Bundle) -> Bundle:
    return leaves(9, leaf=bundle.leaves[9].leaf.replace('"Td"', '"Ad"'))(bundle)


def other_place(bundle: Bundle) -> Bundle:
    return leaves(8, proof=bundle.leaves[8].proof.replace("index 10", "index 11"))(bundle)


def other_checkpoint(bundle: Bundle) -> Bundle:
    lines = bundle.checkpoint.split("\n")
    forged = "\n".join([lines[0], lines[1], b64encode(bytes(32)).decode(), *lines[3:]])
    return msgspec.structs.replace(bundle, checkpoint=forged)


def other_size(bundle: Bundle) -> Bundle:
    text = bundle.checkpoint
    return msgspec.structs.replace(bundle, checkpoint=text.replace("\n16\n", "\n15\n", 1))


def twice(bundle: Bundle) -> Bundle:
    return msgspec.structs.replace(bundle, leaves=[*bundle.leaves, bundle.leaves[0]])


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (other_leaf, ProofRefused),
        (other_place, ProofRefused),
        (leaves(8, proof="index 10"), ProofRefused),
        (other_checkpoint, ProofRefused),
        (other_size, ProofRefused),
        (twice, BundleUnreadable),
        (without(0), KeyUnusable),
        (without(4), NoteRefused),
        (without(*range(6, 14)), BundleUnreadable),
    ],
)
def test_bundle_altered(
    bundled: tuple[Ledger, str, bytes], change: Change, error: type[LedgerError]
) -> None:
    altered = change(parse_bundle(bundled[2]))
    with pytest.raises(error):
        verify_bundle(msgspec.json.encode(altered), bundled[1])


def test_event_left_out_of_a_bundle(bundled: tuple[Ledger, str, bytes]) -> None:
    altered = msgspec.json.encode(without(9)(parse_bundle(bundled[2])))
    found = verify_bundle(altered, bundled[1]).findings
    assert [(each.leaf_index, each.code) for each in found] == [(FIRST + 7, findings.SEQ_GAP)]


def test_end_of_the_round_cut_from_a_bundle(bundled: tuple[Ledger, str, bytes]) -> None:
    """What is left is proven and unbroken; the bundle cannot prove that it is all."""
    bundle = parse_bundle(bundled[2])
    whole = verify_bundle(bundled[2], bundled[1])
    last = len(bundle.leaves) - 1
    cut = verify_bundle(msgspec.json.encode(without(last, last - 1)(bundle)), bundled[1])
    assert (whole.end_is_proven, cut.end_is_proven, cut.findings) == (True, False, [])


def test_consistency_proof_altered(bundled: tuple[Ledger, str, bytes]) -> None:
    ledger, key, _ = bundled
    kept = sign_checkpoint(ledger)
    play(ledger, OTHER_ROUND)
    bundle = parse_bundle(make_bundle(ledger, ROUND, checkpoint=sign_checkpoint(ledger), kept=kept))
    for hashes in ([], ["not base64!"], [b64encode(bytes(32)).decode()] * 3):
        size = parse_checkpoint(kept).size
        altered = msgspec.structs.replace(bundle, consistency=Consistency(size, hashes))
        with pytest.raises(ProofRefused):
            verify_bundle(msgspec.json.encode(altered), key, kept)


def test_bundle_with_another_operators_key(
    bundled: tuple[Ledger, str, bytes], tmp_path: Path
) -> None:
    with Ledger.init(tmp_path / "other", bundled[0].origin) as other:
        key = other.public_keys()["operator"]
    with pytest.raises(KeyUnusable, match="do not begin with the key given"):
        verify_bundle(bundled[2], key)


@pytest.mark.parametrize("data", [b"", b"{}", b"[" * 100_000, b'{"format":"other"}', b"\xff"])
def test_file_that_is_no_bundle(data: bytes) -> None:
    with pytest.raises(BundleUnreadable, match="not a bundle"):
        parse_bundle(data)


def test_damaged_round_is_not_bundled(ledger: Ledger) -> None:
    assert ledger.path is not None
    play(ledger)
    note = sign_checkpoint(ledger)
    alter(ledger.path, FIRST + 3, b'"Td"', b'"Ad"')
    data = make_bundle(ledger, ROUND, checkpoint=note)
    with pytest.raises(ProofRefused):
        verify_bundle(data, ledger.public_keys()["operator"])


def test_open_round_has_a_bundle_too(ledger: Ledger) -> None:
    ledger.append(*((round_id(1), data) for data in [opened(), *short_round()[1:4]]))
    verified = verify_bundle(make_bundle(ledger, round_id(1)), ledger.public_keys()["operator"])
    assert (len(verified.events), verified.findings) == (4, [])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "c2sp.org/tlog-proof@v2\nindex 0\n\n",
        "c2sp.org/tlog-proof@v1\nindex 00\n\n",
        "c2sp.org/tlog-proof@v1\nindex -1\n\n",
        "c2sp.org/tlog-proof@v1\nindex 0\n",
        "c2sp.org/tlog-proof@v1\nindex 0\nAAAA\n\n",
        "c2sp.org/tlog-proof@v1\nindex 0\n" + "A" * 42 + "B=\n\n",
        "c2sp.org/tlog-proof@v1\nindex 0\n" + ("A" * 43 + "=\n") * 64 + "\n",
    ],
)
def test_head_of_a_proof_malformed(text: str) -> None:
    with pytest.raises(ProofRefused):
        parse_head(text)


def test_head_of_a_proof_is_read_back_and_extra_data_passed_over() -> None:
    proof = InclusionProof(7, [bytes(32), b"\1" * 32])
    head = proof_head(proof)
    assert parse_head(head) == proof
    assert parse_head(head.replace("\n", "\nextra AAAA\n", 1)) == proof
