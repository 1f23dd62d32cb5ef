"""A complaint opened: what was claimed, and what was looked for, as one signed event."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from shoeproof.ledger import Ledger
from shoeproof.ledger.keys.key import Signer
from shoeproof.ledger.leaf.clock import format_time, parse_time
from shoeproof.ledger.leaf.events import Attachment, ComplaintOpened
from shoeproof.replay.cases.case import DAYS_TO_ANSWER, dispute_stream
from shoeproof.replay.disputes.complaints.cases import Complaint, read_complaint
from shoeproof.replay.disputes.complaints.gather import rounds_played
from shoeproof.replay.disputes.complaints.statement import StatementLine, compare
from shoeproof.replay.disputes.complaints.wallet import movements
from shoeproof.replay.disputes.complaints.words import clock_text, compared_words
from shoeproof.replay.disputes.evidence import common_of, covered_leaves, gather
from shoeproof.replay.disputes.record import must_be_past, sign_as_staff
from shoeproof.replay.errors import DisputeRefused
from shoeproof.replay.rounds.round_id import new_round_id


def open_complaint(
    ledger: Ledger,
    claim: str,
    *,
    player: str,
    begin: datetime | None = None,
    end: datetime | None = None,
    zone: str | None = None,
    missing_round: bool = False,
    note: str | None = None,
    attachments: Sequence[Attachment] = (),
    statement: Sequence[StatementLine] = (),
    received: datetime | None = None,
    days: int = DAYS_TO_ANSWER,
    signer: Signer | None = None,
) -> Complaint:
    """Record a complaint about a player's rounds in a span, or about one the ledger lacks.

    `claim` is in the player's words. The span is from `begin` to `end`, aware, the latter
    exclusive; both are needed unless it is about a `missing_round`. `zone` is the IANA name of the
    player's time zone. `statement` are the movements of a wallet's statement among the
    `attachments`. It is to be answered within `days` of `received`, by default now. Raises
    DisputeRefused for an empty claim, a span that ends before it begins, a player the ledger does
    not know or who played nothing then, a missing round with nothing attached, a receipt in the
    future or before what it is about (`begun_at`), or a key that is not for staff; and what
    `Ledger.append` does.
    """
    now = ledger.now()
    _check(claim, begin, end)
    if received is not None:
        begun = begun_at(ledger, player, begin, end, missing_round=missing_round)
        what = "its time began" if missing_round else "the first of its rounds was opened"
        must_be_past(received, begun, now, what)
    begins, ends = (None if each is None else format_time(each) for each in (begin, end))
    if missing_round:
        if not attachments:
            raise DisputeRefused(
                "a round that the ledger does not hold needs something that shows it: give a file "
                "with --evidence"
            )
        searched = list(_search(ledger, player, begins, ends, zone, statement))
    else:
        _must_have_played(ledger, player, begins, ends, zone)
        searched = []
    sign_as_staff(ledger, signer)
    complaint_id = new_round_id()
    opened = ComplaintOpened(
        complaint=complaint_id,
        missing_round=missing_round,
        player=player,
        begin=begins,
        end=ends,
        zone=zone,
        searched=searched,
        claim=claim.strip(),
        note=note,
        attachments=list(attachments),
        received=None if received is None else format_time(received),
        deadline=format_time((received or now) + timedelta(days=days)),
    )
    stream = dispute_stream(complaint_id)
    ledger.append((stream, opened), at=now, after={stream: -1})
    return read_complaint(ledger, complaint_id)


def begun_at(
    ledger: Ledger,
    player: str,
    begin: datetime | None,
    end: datetime | None,
    *,
    missing_round: bool,
) -> datetime | None:
    """Return when what a complaint is about began: its first round, by index, None for none.

    Of a round that the ledger lacks only the span is known, if any.
    """
    if missing_round:
        return begin
    begins, ends = (None if each is None else format_time(each) for each in (begin, end))
    times = (parse_time(row.opened_at) for row in rounds_played(ledger, player, begins, ends))
    return min(times, default=None)


def _check(claim: str, begin: datetime | None, end: datetime | None) -> None:
    if not claim.strip():
        raise DisputeRefused("the claim is empty: write what the player says went wrong")
    if begin is not None and end is not None and end <= begin:
        raise DisputeRefused("the time ends before it begins: nothing was played between the two")


def _must_have_played(
    ledger: Ledger, player: str, begin: str | None, end: str | None, zone: str | None
) -> None:
    if begin is None or end is None:
        raise DisputeRefused("say which time the player means: give --from and --to")
    if not ledger.rounds(player=player, limit=1):
        raise DisputeRefused(
            f"this ledger has no round of the player {player!r}; `rounds` lists its players. For a "
            "round that the ledger does not hold open the case with --no-round"
        )
    if not rounds_played(ledger, player, begin, end):
        between = f"between {clock_text(begin, zone)} and {clock_text(end, zone)}"
        raise DisputeRefused(
            f"{player!r} played no round {between}: widen the times. For a round that the ledger "
            "does not hold open the case with --no-round"
        )


def _search(
    ledger: Ledger,
    player: str,
    begin: str | None,
    end: str | None,
    zone: str | None,
    statement: Sequence[StatementLine],
) -> Iterator[str]:
    """Yield in sentences what was looked for, and how far the ledger proves it complete."""
    rows = rounds_played(ledger, player, begin, end)
    since = "the beginning" if begin is None else clock_text(begin, zone)
    until = "now" if end is None else clock_text(end, zone)
    size = ledger.size()
    covered = min(covered_leaves(ledger), size)
    common = common_of(ledger)
    moved = [each for row in rows for each in movements(gather(ledger, row.round, common=common))]
    yield (
        f"Searched were the rounds of player {player} from {since} to {until}: {len(rows):,} found "
        f"in a ledger of {size:,} entries, of which {covered:,} stood under a checkpoint."
    )
    if statement:
        yield from compared_words(compare(statement, moved), zone)
