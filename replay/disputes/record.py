"""The events of disputes, written: a case opened, a decision signed and paid, a held win released.

Everything of one decision is one transaction, which fails where anybody else has written to what
it rests on. Where a wallet is given, it is asked first, as at the table: what it declines is not
recorded as paid, and a movement whose event could not be written is cancelled.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from shoeproof.ledger import Ledger, Recorded
from shoeproof.ledger.errors import EventUnreadable, KeyNotValid, KeyUnusable
from shoeproof.ledger.keys.key import Signer
from shoeproof.ledger.leaf.clock import format_time, parse_time
from shoeproof.ledger.leaf.events import (
    Attachment,
    Awarded,
    BetResettled,
    BetSettled,
    DisputeOpened,
    EventData,
    Funds,
    Refund,
    Refunded,
    RoundClosed,
    RoundOpened,
    RoundVoided,
    ShoeCommitted,
    ShoeRevealed,
    WinReleased,
)
from shoeproof.ledger.leaf.recorded import read_leaf
from shoeproof.ledger.leaf.stored import StoredLeaf
from shoeproof.ledger.leaf.streams import DISPUTES_PREFIX, HOLDS_PREFIX
from shoeproof.ledger.store.schema import SELECT_IS_WHOLE
from shoeproof.replay.cases.assessment import Assessment, Claim
from shoeproof.replay.cases.case import DAYS_TO_ANSWER, Case, dispute_stream, key_names, read_cases
from shoeproof.replay.disputes.decide import Move, Plan, already_signed, round_opened
from shoeproof.replay.disputes.evidence import Evidence
from shoeproof.replay.disputes.money import SURPLUS, chips_laid
from shoeproof.replay.errors import DisputeRefused
from shoeproof.replay.interruptions.holds import release_win
from shoeproof.replay.rounds.money_check import Bet
from shoeproof.replay.wallet.credit import credited
from shoeproof.replay.wallet.wallet import AnyWallet, for_round

Draft = tuple[str, EventData]

_SUM: Final[Bet] = ("round", "sum")
"""Where an amount that is for no bet stands among those that are."""


def open_case(
    ledger: Ledger,
    round_id: str,
    claim: Claim,
    *,
    note: str | None = None,
    attachments: Sequence[Attachment] = (),
    received: datetime | None = None,
    days: int = DAYS_TO_ANSWER,
    signer: Signer | None = None,
) -> Case:
    """Record a claim about a round and return its case.

    `round_id` is the whole id. The player's complaint came in at `received`, aware and by default
    now, and is to be answered within `days` of that; a case opened after that says so (`is_late`).
    `signer` is by default the ledger's staff key. Raises DisputeRefused when a case about the round
    waits for its decision, a complaint was received before its round was opened or is yet to be,
    or the key is not for staff; UnknownStream when the ledger has no such round, and what
    `Ledger.append` does.
    """
    first = ledger.events(round_id)[0].event
    if not isinstance(first.data, RoundOpened):
        raise DisputeRefused(f"{round_id} is not a round: there is nothing to dispute")
    stream = dispute_stream(round_id)
    # Read before the cases, so that a case opened meanwhile is a conflict.
    head = ledger.store.head(stream)
    last_seq = -1 if head is None else head.version - 1
    for case in read_cases(ledger, round_id):
        if case.bars_another:
            raise DisputeRefused(
                f"the case {case.id} about this round is {_in_words(case)}: decide it first"
            )
    sign_as_staff(ledger, signer)
    now = ledger.now()
    if received is not None:
        must_be_past(received, parse_time(first.at), now)
    deadline = format_time((received or now) + timedelta(days=days))
    came_in = None if received is None else format_time(received)
    opened = DisputeOpened(round_id, claim, note, list(attachments), deadline, came_in)
    ledger.append((stream, opened), at=now, after={stream: last_seq})
    return read_cases(ledger, round_id)[-1]


def must_be_past(
    received: datetime, begun: datetime | None, now: datetime, what: str = "its round was opened"
) -> None:
    """Raise DisputeRefused for a complaint received after `now`, or before what it is about.

    That, which `what` says of it, was at `begun`, None where nothing tells.
    """
    said = format_time(received)
    if received > now:
        raise DisputeRefused(f"a complaint cannot have been received in the future, at {said}")
    if begun is not None and received < begun:
        raise DisputeRefused(
            f"a complaint cannot have been received at {said}: {what} after that, "
            f"at {format_time(begun)}"
        )


def carry_out(
    ledger: Ledger, evidence: Evidence, plan: Plan, signer: Signer, wallet: AnyWallet | None = None
) -> list[Recorded]:
    """Sign a planned decision, and pay it where it stands with this signature.

    `evidence` is what the plan was made from, `signer` whose key it was made for. Raises
    DisputeRefused for a key that is not for staff or of a person who signed before, where the
    wallet declines, and where leaves of the ledger are missing or moved, by which something may
    have been paid before; StreamConflict when the case or an open round went on since, and what
    `Ledger.append` does; then nothing is recorded and no money has moved.
    """
    sign_as_staff(ledger, signer)
    person = key_names(ledger)[signer.key_id_hex]
    if person in plan.confirms:
        raise already_signed(person)
    stream = dispute_stream(plan.case.round)
    after = {stream: plan.dispute_last_seq}
    if plan.stands and (plan.moves or plan.decided.remedy not in ("refer", "withdraw")):
        after[plan.case.round] = plan.round_last_seq
    amounts = _amounts(plan) if plan.stands else {}
    if amounts:
        must_be_whole(ledger, evidence.round_id)
    opened = round_opened(evidence) if amounts else None
    player, currency = ("", "") if opened is None else (opened.player, opened.currency)
    paying = None if opened is None else for_round(wallet, opened)
    of_bet = {"/".join((plan.case.id, *bet)): bet for bet in amounts}
    asked = {what: amounts[bet] for what, bet in of_bet.items()}
    with credited(ledger, stream, paying, player, asked, plan.currency) as paid:
        funds = {of_bet[what]: answer for what, answer in paid.answers.items()}
        drafts: list[Draft] = [(stream, plan.decided)]
        if plan.stands and plan.ends_round:
            seed = _seed(ledger, evidence)
            ending = _ending(plan, evidence.events, seed, funds)
            drafts += [(plan.case.round, data) for data in ending]
        if plan.stands:
            drafts += [(stream, data) for data in _payments(plan, currency, funds)]
        return ledger.append(*drafts, after=after, records=paid.records)


def _amounts(plan: Plan) -> dict[Bet, int]:
    moved = {(move.price.hand, move.price.bet): move.amount_minor for move in plan.moves}
    return {bet: minor for bet, minor in {**moved, _SUM: plan.sum_minor}.items() if minor}


def _payments(plan: Plan, currency: str, funds: Mapping[Bet, Funds]) -> Iterator[EventData]:
    """Yield the events in the case's stream that move a plan's money, of the round's currency.

    A void names every bet, also one for which nothing more goes back: it counts for nothing.
    """
    round_id, remedy = plan.case.round, plan.decided.remedy
    if plan.sum_minor:
        yield Awarded(round_id, None, None, plan.sum_minor, currency, funds.get(_SUM))
    for move in plan.moves:
        if _is_of_ending(plan, move):
            continue
        bet = move.price
        moved = funds.get((bet.hand, bet.bet))
        if remedy == "award":
            amount = move.amount_minor
            yield Awarded(round_id, bet.hand, bet.bet, amount, currency, moved)
        elif remedy == "void" and not move.is_win:
            yield Refunded(round_id, bet.hand, bet.bet, move.amount_minor, moved)
        elif move.amount_minor:
            yield BetResettled(
                round=round_id,
                seat=bet.seat,
                hand=bet.hand,
                bet=bet.bet,
                stake_minor=bet.stake_minor,
                paid_before_minor=move.before_minor,
                paid_minor=move.after_minor,
                line=bet.line or "",
                funds=moved,
            )


def _ending(
    plan: Plan, events: Sequence[Recorded], seed: str | None, funds: Mapping[Bet, Funds]
) -> Iterator[EventData]:
    """Yield the events that end an open round.

    A bet that comes to more than its stake is settled, other stakes go back with the void. Where
    the outcome of every bet is known and honoured, all are settled and the round is closed. `seed`
    is the round's server seed in lower hex, None where it does not open any more.
    """
    settled = [each.event.data for each in events if isinstance(each.event.data, BetSettled)]
    # Chips that were laid and never dealt on go back as they lie: no money was debited for them.
    refunds = [Refund(*bet, minor) for bet, minor in chips_laid(events).items()]
    for move in plan.moves:
        if not _is_of_ending(plan, move):
            continue
        bet, after = move.price, move.after_minor
        moved = funds.get((bet.hand, bet.bet))
        if move.is_win or _closes(plan):
            stake, line = bet.stake_minor, bet.line or ""
            settled.append(BetSettled(bet.seat, bet.hand, bet.bet, stake, after, line, moved))
            yield settled[-1]
        elif move.amount_minor:
            refunds.append(Refund(bet.hand, bet.bet, move.amount_minor, moved))
    if seed is not None:
        yield ShoeRevealed(seed)
    if _closes(plan):
        staked, paid = sum(b.stake_minor for b in settled), sum(b.paid_minor for b in settled)
        yield RoundClosed(staked, paid)
    else:
        basis = (f"case {plan.case.id}", plan.decided.clause, plan.decided.reference)
        yield RoundVoided(", ".join(filter(None, basis)), refunds)


def _closes(plan: Plan) -> bool:
    """Tell whether the round ends with its outcome, and not by a void."""
    lines = [move.price.line for move in plan.moves if move.price.bet != SURPLUS]
    return plan.decided.remedy == "honour" and None not in lines


def _is_of_ending(plan: Plan, move: Move) -> bool:
    """Tell whether a bet is settled or refunded by the events that end the round.

    Of one that was settled before, only what is missing of its stake.
    """
    if not plan.ends_round or move.price.bet == SURPLUS:
        return False
    return move.price.paid_minor is None or not (move.is_win or _closes(plan))


def release_held(
    ledger: Ledger,
    evidence: Evidence,
    assessment: Assessment,
    cases: Sequence[Case],
    signer: Signer | None = None,
    wallet: AnyWallet | None = None,
) -> WinReleased:
    """Release what is left of a round's held win, once verified, where nothing speaks against that.

    Raises DisputeRefused when the evidence is not sound, leaves of the ledger are missing or moved,
    a case about the round is open or voided it, or the key is not for staff; StreamConflict when
    somebody wrote to a case about it since the evidence was read; and what `holds.release_win`
    does.
    """
    if not assessment.money_may_move:
        raise DisputeRefused("evidence of this round is forged or missing: no money moves on it")
    for case in cases:
        if case.state != "decided":
            raise DisputeRefused(f"the case {case.id} about this round is not decided yet")
    decided = {case.decisions[-1].data.remedy for case in cases}
    if "void" in decided:
        raise DisputeRefused("this round was voided by a decision: nothing was won in it")
    if assessment.findings and decided <= {"withdraw", "goodwill"}:
        first = assessment.findings[0].code
        raise DisputeRefused(f"the round has findings ({first}): open and decide a case about it")
    must_be_whole(ledger, evidence.round_id)
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


def must_be_whole(ledger: Ledger, round_id: str) -> None:
    """Refuse to pay on a round or a complaint where what was paid before may have been taken away.

    No look-up by name finds that a leaf is missing, or stands under another name than it was signed
    for: events and leaves are counted, and every case and hold is looked at. Raises DisputeRefused.
    """
    if not ledger.store.query(SELECT_IS_WHOLE)[0][0]:
        raise DisputeRefused(
            "leaves of this ledger are missing: no money moves; `verify` says which"
        )
    own, name = {DISPUTES_PREFIX + round_id, HOLDS_PREFIX + round_id}, round_id.encode()
    for prefix in (DISPUTES_PREFIX, HOLDS_PREFIX):
        for leaf in ledger.store.under(prefix):
            if leaf.stream not in own and name in leaf.state and signed_for(leaf) in own:
                raise DisputeRefused(
                    f"leaf {leaf.leaf_index} about {round_id} was moved to {leaf.stream}: no money "
                    "moves; `verify` says what else is wrong"
                )


def signed_for(leaf: StoredLeaf) -> str | None:
    """Return the stream that a leaf was signed for, None where it cannot be read."""
    try:
        return read_leaf(leaf).event.stream
    except EventUnreadable:
        return None


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
