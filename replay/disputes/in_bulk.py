"""What is owed in many rounds, decided at once: a case of its own for each, two persons a case.

Nothing is judged or paid here that a single case would not: each round is assessed as it stands
now, planned by `decide.plan_payment`, and carried out by `pay.carry_out`. What is bulk is the list,
the caps, which are held before anything is recorded, and the second key, which every decision needs
whatever the policy's limit. The first person's run opens the cases and signs; the second person's
run signs the same, and pays. A run that is cut short leaves whole cases; a repeat goes on with
them, and finds nothing left to do where a decision stands.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

import msgspec

from shoeproof.ledger import Ledger
from shoeproof.ledger.errors import StreamConflict
from shoeproof.ledger.keys.key import Signer
from shoeproof.ledger.leaf.events import RoundOpened
from shoeproof.ledger.verify.workers import Progress
from shoeproof.replay.cases.assessment import Claim
from shoeproof.replay.cases.case import Case, fold_cases, key_names
from shoeproof.replay.currency import amount_text
from shoeproof.replay.disputes.assess import assess
from shoeproof.replay.disputes.decide import Plan, plan_payment, priced_moves
from shoeproof.replay.disputes.evidence import Evidence, common_of, currency_of, gather
from shoeproof.replay.disputes.record import carry_out, open_case, sign_as_staff
from shoeproof.replay.errors import DisputeRefused

KEYS: Final = 2
"""How many persons sign each decision that is made in bulk."""

MOST_CASES: Final = 1_000
"""How many cases one run decides, unless another cap is stated."""

CLAIM: Final[Claim] = "malfunction"
"""What a case is about that nobody complained of."""

_NOTE: Final = "found by the operator, "
"""How the note of such a case begins, by which a repeat knows it again."""

Step: TypeAlias = Literal["open", "sign", "confirm", "signed", "left"]
"""What a run does with a round: open its case and sign, sign a case an earlier run opened, sign as
the second person and pay, nothing as this person has signed, nothing as it is not for bulk.
"""

_DONE: Final[frozenset[Step]] = frozenset({"open", "sign", "confirm"})


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """One round's part in a bulk decision; `why` says what keeps it from being decided here.

    `plan` is what the next signature would record, None before its case is opened.
    """

    round: str
    player: str
    currency: str
    remedy: str
    amount_minor: int
    step: Step
    case: str | None = None
    why: str = ""
    plan: Plan | None = None

    @property
    def is_done(self) -> bool:
        """Whether a run does anything with it."""
        return self.step in _DONE


class Caps(NamedTuple):
    """The most that one run may decide: money by unit of currency in minor units, and cases."""

    money: Mapping[str, int]
    cases: int = MOST_CASES


class Failed(NamedTuple):
    """A round that was left as it was, and why."""

    round: str
    why: str


class DecidedInBulk(NamedTuple):
    """What a run recorded: the shares that were signed first, those that were paid, and the rest.

    What failed had gone on elsewhere meanwhile; a repeat takes it up.
    """

    signed: tuple[Share, ...]
    paid: tuple[Share, ...]
    failed: tuple[Failed, ...]


def note_of(fault: str, size: int, root: str) -> str:
    """Return the note of a case that is opened for a fault, found in a tree."""
    return f"{_NOTE}fault {fault}, in the tree of {size} leaves with the root {root}"


def share_of(evidence: Evidence, person: str) -> Share | None:
    """Return what a run of `person` would do with a round; None where nothing is owed in it. Pure.

    A case that somebody else opened is left to them: the player's complaint wants its own answer.
    """
    cases = fold_cases(evidence.disputes, evidence.persons)
    assessment = assess(evidence, CLAIM)
    governing = assessment.governing
    amount = sum(move.amount_minor for move in priced_moves(evidence, governing))
    waiting = [case for case in cases if case.state != "decided"]
    ours = next((case for case in waiting if _is_ours(case)), None)
    share = Share(
        round=evidence.round_id,
        player=_player(evidence),
        currency=currency_of(evidence),
        remedy=governing.name,
        amount_minor=amount,
        step="open" if ours is None else "sign",
        case=None if ours is None else ours.id,
    )
    if not assessment.money_may_move or governing.name == "refer":
        return _left(share, f"an adjudicator decides it: {governing.why}")
    if not amount:
        return None
    others = [case for case in waiting if case is not ours]
    if others:
        return _left(share, f"the case {others[0].id} about it waits for its own decision")
    if ours is None:
        return share
    try:
        plan = plan_payment(
            evidence, assessment, cases, key=person, number=ours.number, least_keys=KEYS
        )
    except DisputeRefused as error:
        if ours.state == "awaiting_second_key" and person in ours.decisions[-1].keys:
            return msgspec.structs.replace(share, step="signed", why=str(error))
        return _left(share, str(error))
    step: Step = "confirm" if plan.stands else "sign"
    return msgspec.structs.replace(share, step=step, plan=plan)


def prepare(
    ledger: Ledger, rounds: Sequence[str], person: str, progress: Progress | None = None
) -> list[Share]:
    """Return what a run of `person` would do with some rounds, by the ledger as it stands now.

    Nothing is recorded. Rounds in which nothing is owed are left out.
    """
    shares: list[Share] = []
    common = common_of(ledger)
    for number, round_id in enumerate(rounds, start=1):
        shares += filter(None, [share_of(gather(ledger, round_id, common=common), person)])
        if progress is not None:
            progress(number, len(rounds))
    return shares


def totals(shares: Iterable[Share]) -> dict[str, int]:
    """Return what the shares that a run would decide come to, by currency."""
    sums: Counter[str] = Counter()
    for each in shares:
        if each.is_done:
            sums[each.currency] += each.amount_minor
    return dict(sorted(sums.items()))


def hold_to_caps(shares: Sequence[Share], caps: Caps) -> None:
    """Raise DisputeRefused where a run would decide more than it may, or no cap was stated."""
    for currency, minor in totals(shares).items():
        cap, would = caps.money.get(currency), amount_text(minor, currency)
        if cap is None:
            raise DisputeRefused(f"give a cap: the decisions come to {would} in all")
        if minor > cap:
            most = amount_text(cap, currency)
            raise DisputeRefused(f"the decisions come to {would}, above the cap of {most}")
    count = sum(each.is_done for each in shares)
    if count > caps.cases:
        raise DisputeRefused(f"{count:,} cases are above the cap of {caps.cases:,} cases")


def carry_out_shares(
    ledger: Ledger,
    shares: Sequence[Share],
    caps: Caps,
    signer: Signer,
    note: str,
    progress: Progress | None = None,
) -> DecidedInBulk:
    """Decide as prepared, one case after the other, each whole or not at all.

    `note` is that of cases opened here (`note_of`). A round that went on since, or would come to
    another amount, is left and named. Raises DisputeRefused, before anything is recorded, above a
    cap and for a key that is not for staff; and what `Ledger.append` does, but for conflicts.
    """
    hold_to_caps(shares, caps)
    sign_as_staff(ledger, signer)
    person = key_names(ledger)[signer.key_id_hex]
    asked = [each for each in shares if each.is_done]
    signed, paid, failed = list[Share](), list[Share](), list[Failed]()
    for number, share in enumerate(asked, start=1):
        try:
            made = _carry_out(ledger, share, signer, person, note)
        except (DisputeRefused, StreamConflict) as error:
            failed.append(Failed(share.round, str(error)))
        else:
            (paid if made.step == "confirm" else signed).append(made)
        if progress is not None:
            progress(number, len(asked))
    return DecidedInBulk(tuple(signed), tuple(paid), tuple(failed))


def _carry_out(ledger: Ledger, share: Share, signer: Signer, person: str, note: str) -> Share:
    if share.step == "open":
        open_case(ledger, share.round, CLAIM, note=note, signer=signer)
    evidence = gather(ledger, share.round)
    now = share_of(evidence, person)
    if now is None or now.plan is None:
        raise DisputeRefused("it has gone on since the list was made: make the list again")
    listed = share.remedy, share.amount_minor, share.step == "confirm"
    if (now.remedy, now.amount_minor, now.step == "confirm") != listed:
        raise DisputeRefused("it no longer comes to what was listed: make the list again")
    carry_out(ledger, evidence, now.plan, signer)
    return now


def _left(share: Share, why: str) -> Share:
    return msgspec.structs.replace(share, step="left", why=why)


def _is_ours(case: Case) -> bool:
    return case.state != "referred" and (case.opened.note or "").startswith(_NOTE)


def _player(evidence: Evidence) -> str:
    opened = evidence.events[0].event.data if evidence.events else None
    return opened.player if isinstance(opened, RoundOpened) else ""
