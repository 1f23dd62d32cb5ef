"""The events of disputes, written: a case opened, a decision signed and paid, a held win released.

Everything of one decision is one transaction, which fails where anybody else has written to what
it rests on. Where a wallet is given, it is asked first, as at the table, and a movement whose event
could not be written is cancelled.
"""

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta

from ledger import Ledger, Recorded
from ledger.clock import format_time
from ledger.errors import EventUnreadable, KeyNotValid, KeyUnusable
from ledger.events import (
    DISPUTES_PREFIX,
    HOLDS_PREFIX,
    Attachment,
    DisputeOpened,
    EventData,
    Funds,
    RoundOpened,
    ShoeCommitted,
)
from ledger.keys import Signer
from ledger.recorded import read_leaf
from ledger.schema import SELECT_IS_WHOLE, StoredLeaf
from replay.disputes.assessment import Assessment, Claim
from replay.disputes.cases import DAYS_TO_ANSWER, Case, dispute_stream, read_cases
from replay.disputes.decide import Plan, payments, round_opened, voiding
from replay.disputes.evidence import Evidence
from replay.errors import DisputeRefused
from replay.holds import HeldWin, release_win
from replay.money_check import Bet
from replay.wallet import Wallet

Draft = tuple[str, EventData]


def open_case(
    ledger: Ledger,
    round_id: str,
    claim: Claim,
    *,
    note: str | None = None,
    attachments: Sequence[Attachment] = (),
    days: int = DAYS_TO_ANSWER,
    signer: Signer | None = None,
) -> Case:
    """Record a claim about a round and return its case, to be answered within `days`.

    `round_id` is the whole id; `signer` is by default the ledger's staff key. Raises DisputeRefused
    when the round's last case is not decided yet or the key is not for staff, UnknownStream when
    the ledger has no such round, and what `Ledger.append` does.
    """
    if not isinstance(ledger.events(round_id)[0].event.data, RoundOpened):
        raise DisputeRefused(f"{round_id} is no round: there is nothing to dispute")
    stream = dispute_stream(round_id)
    # Read before the cases, so that a case opened meanwhile is a conflict.
    head = ledger.store.head(stream)
    last_seq = -1 if head is None else head.version - 1
    before = read_cases(ledger, round_id)
    if before and before[-1].state != "decided":
        raise DisputeRefused(
            f"the case {before[-1].id} about this round is {_in_words(before[-1])}: decide it first"
        )
    sign_as_staff(ledger, signer)
    now = ledger.now()
    deadline = format_time(now + timedelta(days=days))
    opened = DisputeOpened(round_id, claim, note, list(attachments), deadline)
    ledger.append((stream, opened), at=now, after={stream: last_seq})
    return read_cases(ledger, round_id)[-1]


def carry_out(
    ledger: Ledger, evidence: Evidence, plan: Plan, signer: Signer, wallet: Wallet | None = None
) -> list[Recorded]:
    """Sign a planned decision, and pay it where it stands with this signature.

    `evidence` is what the plan was made from, `signer` whose key it was made for. Raises
    DisputeRefused for a key that is not for staff, and where leaves of the ledger are missing or
    moved, by which something may have been paid before; StreamConflict when the case or an open
    round went on since, and what `Ledger.append` does; then nothing is recorded and no money has
    moved.
    """
    sign_as_staff(ledger, signer)
    stream = dispute_stream(plan.case.round)
    after = {stream: plan.dispute_last_seq}
    if plan.stands and plan.decided.remedy != "refer":
        after[plan.case.round] = plan.round_last_seq
    moves = plan.moves if plan.stands else ()
    if moves:
        _must_be_whole(ledger, evidence.round_id)
    amounts = {(move.price.hand, move.price.bet): move.amount_minor for move in moves}
    player = round_opened(evidence).player if moves else ""
    with _credited(wallet, player, plan.case.id, amounts) as funds:
        drafts: list[Draft] = [(stream, plan.decided)]
        if plan.stands and plan.voids_open_round:
            seed = _seed(ledger, evidence)
            drafts += [(plan.case.round, data) for data in voiding(plan, seed, funds)]
        if plan.stands:
            drafts += [(stream, data) for data in payments(plan, funds)]
        return ledger.append(*drafts, after=after)


def release_held(
    ledger: Ledger,
    evidence: Evidence,
    assessment: Assessment,
    cases: Sequence[Case],
    signer: Signer | None = None,
    wallet: Wallet | None = None,
) -> HeldWin:
    """Release a round's held win, once a person verified it, where nothing speaks against that.

    Raises DisputeRefused when the evidence is not sound, leaves of the ledger are missing or moved,
    a case about the round is open or voided it, or the key is not for staff; StreamConflict when
    somebody wrote to a case about it since the evidence was read; and what `holds.release_win`
    does.
    """
    if not assessment.money_may_move:
        raise DisputeRefused("evidence of this round is forged or missing: no money moves on it")
    if cases and cases[-1].state != "decided":
        raise DisputeRefused(f"the case {cases[-1].id} about this round is not decided yet")
    if any(case.decisions[-1].data.remedy == "void" for case in cases):
        raise DisputeRefused("this round was voided by a decision: nothing was won in it")
    if assessment.findings and not cases:
        first = assessment.findings[0].code
        raise DisputeRefused(f"the round has findings ({first}): open and decide a case about it")
    _must_be_whole(ledger, evidence.round_id)
    sign_as_staff(ledger, signer)
    last = evidence.disputes[-1].event.seq if evidence.disputes else -1
    after = {dispute_stream(evidence.round_id): last}
    return release_win(ledger, evidence.round_id, wallet=wallet, after=after)


def sign_as_staff(ledger: Ledger, signer: Signer | None) -> None:
    """Let a key sign what staff signs; None leaves the ledger's own staff key.

    Raises DisputeRefused for a key the ledger does not know, or not for staff.
    """
    if signer is None:
        return
    try:
        ledger.key_ring().signer(signer.key_id_hex, "staff", ledger.size())
    except KeyNotValid as error:
        raise DisputeRefused(f"this key may not sign for staff: {error}") from None
    ledger.sign_with("staff", signer)


def _must_be_whole(ledger: Ledger, round_id: str) -> None:
    """Refuse to pay where what was paid before may have been taken away.

    No look-up by name finds that a leaf is missing, or stands under another name than it was signed
    for: events and leaves are counted, and every case and hold is looked at.
    """
    if not ledger.store.query(SELECT_IS_WHOLE)[0][0]:
        raise DisputeRefused(
            "leaves of this ledger are missing: no money moves; `verify` says which"
        )
    own = {DISPUTES_PREFIX + round_id, HOLDS_PREFIX + round_id}
    for prefix in (DISPUTES_PREFIX, HOLDS_PREFIX):
        for leaf in ledger.store.under(prefix):
            if leaf.stream not in own and round_id.encode() in leaf.state and _said(leaf) in own:
                raise DisputeRefused(
                    f"leaf {leaf.leaf_index} about this round was moved to {leaf.stream}: no money "
                    "moves; `verify` says what else is wrong"
                )


def _said(leaf: StoredLeaf) -> str | None:
    """Return the stream that a leaf was signed for, None where it cannot be read."""
    try:
        return read_leaf(leaf).event.stream
    except EventUnreadable:
        return None


@contextmanager
def _credited(
    wallet: Wallet | None, player: str, what: str, amounts: Mapping[Bet, int]
) -> Iterator[dict[Bet, Funds]]:
    """Credit amounts, give what the wallet answered, and cancel all of it if the block fails."""
    # A name of its own for each attempt: to cancel one that lost a race must not cancel the winner.
    attempt = f"{what}/{secrets.token_hex(4)}"
    references = {bet: "/".join((attempt, *bet)) for bet, amount in amounts.items() if amount}
    if wallet is None:
        yield {}
        return
    try:
        yield {bet: wallet.credit(player, amounts[bet], name) for bet, name in references.items()}
    except BaseException:
        for name in references.values():
            wallet.cancel(player, name)
        raise


def _seed(ledger: Ledger, evidence: Evidence) -> str | None:
    """Return a round's server seed in lower hex, None where the sealed one does not open."""
    # A key that is not here is for the user to bring; a seed that does not open is lost.
    ledger.seal_public_key()
    for recorded in evidence.events:
        data = recorded.event.data
        if isinstance(data, ShoeCommitted):
            try:
                return ledger.unseal(data.sealed_seed, bytes.fromhex(data.commitment)).hex()
            except (KeyUnusable, ValueError):
                return None
    return None


def _in_words(case: Case) -> str:
    return case.state.replace("_", " ")
