"""An assessment of a complaint in sentences that a player follows. Pure."""

from collections.abc import Iterator
from zoneinfo import ZoneInfo

import msgspec

from shoeproof.ledger.leaf.clock import parse_time
from shoeproof.replay.cases.assessment import Verdict
from shoeproof.replay.currency import amount_text
from shoeproof.replay.disputes.complaints.luck import SpanLuck
from shoeproof.replay.disputes.complaints.played import FaultyRound
from shoeproof.replay.disputes.complaints.records import ComplaintEvidence, Totals
from shoeproof.replay.disputes.complaints.runs import Streak
from shoeproof.replay.disputes.complaints.statement import Compared
from shoeproof.replay.disputes.complaints.wallet import Jump, WalletSums
from shoeproof.replay.rounds.narrative import counted

_MOST_NAMED = 5
"""How many things of a kind a sentence names before it counts the rest."""


class AssessmentParts(msgspec.Struct, frozen=True, kw_only=True):
    """What the sentences are made of: the parts of an assessment before its verdict."""

    evidence: ComplaintEvidence
    totals: tuple[Totals, ...]
    luck: tuple[SpanLuck, ...]
    runs: tuple[Streak, ...]
    wallet: tuple[WalletSums, ...]
    jumps: tuple[Jump, ...]
    faults: tuple[FaultyRound, ...]
    compared: Compared | None

    @property
    def follows_the_money(self) -> bool:
        """Whether the wallet told the balance after every movement, and all of them follow."""
        told = all(each.with_balance == each.movements for each in self.wallet)
        return bool(self.wallet) and told and not self.jumps

    def at(self, time: str) -> str:
        """Return a time as the player's clock showed it."""
        return clock_text(time, self.evidence.complaint.opened.zone)

    def between(self, begin: str, end: str) -> str:
        """Return a span of time as the player's clock showed it."""
        return span_text(begin, end, self.evidence.complaint.opened.zone)


def clock_text(time: str, zone: str | None) -> str:
    """Return a time of the ledger as a clock in a zone showed it, in UTC without one."""
    moment = parse_time(time)
    local = moment if zone is None else moment.astimezone(ZoneInfo(zone))
    return f"{local:%Y-%m-%d %H:%M:%S %Z}"


def span_text(begin: str, end: str, zone: str | None) -> str:
    """Return two times of the ledger as `from … to …`, as `at …` where they are one second."""
    first, last = clock_text(begin, zone), clock_text(end, zone)
    return f"at {first}" if first == last else f"from {first} to {last}"


def chance_text(probability: float) -> str:
    """Return a probability as people say it: `3.1%, about one in 32`."""
    if probability <= 0:
        return "0%"
    if probability < 0.00001:
        return f"about one in {1 / probability:,.0f}"
    percent = f"{100 * probability:.{1 if probability >= 0.01 else 3}f}%"
    return percent if probability > 0.3 else f"{percent}, about one in {1 / probability:,.0f}"


def answer_of(told: AssessmentParts, verdict: Verdict) -> str:
    """Return what the player is told first: the answer to the question that was asked."""
    return " ".join(filter(None, [_asked(told), _wrong(told), _last_word(told, verdict)]))


def reasons_of(told: AssessmentParts) -> Iterator[str]:
    """Yield the sentences behind the answer, from what was played to what became of the money."""
    opened = told.evidence.complaint.opened
    # Of what was recorded of a statement nothing need be said when it is read again.
    yield from opened.searched[: None if told.compared is None else 1]
    if told.compared is not None:
        yield from compared_words(told.compared, opened.zone)
    yield from map(_played, told.totals)
    if not opened.missing_round:
        yield from _of_chance(told)
    for wallet in told.wallet:
        yield _wallet(wallet)
    yield from (_jump(told, jump) for jump in told.jumps)
    yield from _rounds_apart(told)
    yield from _of_others(told.evidence)


def _of_chance(told: AssessmentParts) -> Iterator[str]:
    if told.evidence.rounds:
        yield _proof(told)
    for luck in told.luck:
        yield from _luck(luck)
    yield from (_run(told, run) for run in told.runs)


def lacks_of(told: AssessmentParts) -> Iterator[str]:
    """Yield what the ledger cannot show about the complaint."""
    evidence = told.evidence
    yield completeness_words(evidence.size, evidence.covered, is_whole=evidence.is_whole)
    if evidence.unreadable:
        yield f"The opening of these rounds does not verify: {_named(evidence.unreadable)}."
    attached = [each.name for each in evidence.complaint.opened.attachments]
    if told.compared is None and any(name.lower().endswith(".csv") for name in attached):
        yield "The attached statement was not read: give it with --evidence."
    yield from _money_lacking(told)
    if not evidence.complaint.opened.missing_round:
        yield from _chance_lacking(told)


def _money_lacking(told: AssessmentParts) -> Iterator[str]:
    for wallet in told.wallet:
        if wallet.told < wallet.movements:
            untold = wallet.movements - wallet.told
            movements = counted(wallet.movements, "movement")
            yield (
                f"The wallet's answer is not recorded for {untold:,} of {movements} in "
                f"{wallet.currency}: the ledger cannot show that this money was moved."
            )
        elif wallet.with_balance < wallet.movements:
            yield f"The wallet did not always state the balance in {wallet.currency}."


def _chance_lacking(told: AssessmentParts) -> Iterator[str]:
    rounds = told.evidence.rounds
    if rounds and not any(each.seeded for each in rounds):
        yield (
            "You gave no seed of your own in any round, so the ledger cannot show that the "
            "operator did not draw several shoes before a round and choose one."
        )
    for luck in told.luck:
        if luck.least_bias is not None:
            yield (
                f"{counted(luck.rounds, 'round')} would show a game that takes "
                f"{100 * luck.least_bias:.1f}% of each stake more than its rules say four times "
                "out of five. A smaller bias can only be seen in more rounds; `rtp` has those of "
                "all players."
            )
    if any(run.exact_rounds < run.rounds for run in told.runs):
        yield "Some rounds were played at several seats: they are counted with the chance of one."
    if told.runs:
        yield (
            "A round counts as lost by its main bet. The chances are those of the best play, which "
            "few people keep to; other play loses somewhat more often. The span was chosen after "
            "it was played, and a span chosen for its bad luck shows more of it."
        )


def completeness_words(size: int, covered: int, *, is_whole: bool) -> str:
    """Return how far the ledger proves that no round is missing from it."""
    count = (
        f"The ledger counts {size:,} entries without a gap"
        if is_whole
        else f"The ledger counts {size:,} entries, and SOME ARE MISSING (`verify` says which)"
    )
    return (
        f"{count}; the first {covered:,} stand under a signed checkpoint. A round taken out of "
        "those would contradict every kept copy of the checkpoint (`verify --checkpoint`). A round "
        "that was never written at all leaves no trace here: only balances that do not follow, or "
        "a record kept by somebody else, can show it."
    )


def compared_words(found: Compared, zone: str | None) -> Iterator[str]:
    """Yield what comparing a wallet's statement with the ledger showed."""
    lines = counted(found.lines, "movement")
    yield f"The statement holds {lines}; {_count(found.without_round)} no round here."
    for line in found.without_round[:_MOST_NAMED]:
        name = f", {line.reference}" if line.reference else ""
        yield f"Without a round: {line.amount} at {clock_text(line.at, zone)}{name}."
    if found.differing:
        yield f"{len(found.differing):,} have another amount than the ledger."
    if found.not_following:
        numbers = _named([str(line.line) for line in found.not_following])
        yield f"In the statement itself the balance does not follow at line {numbers}."
    if found.not_stated:
        number = counted(len(found.not_stated), "movement")
        yield f"Not in the statement, but in the ledger: {number}."


def _asked(told: AssessmentParts) -> str:
    evidence = told.evidence
    opened = evidence.complaint.opened
    if opened.missing_round:
        unmatched = 0 if told.compared is None else len(told.compared.without_round)
        movements = counted(unmatched, "movement")
        statement = f" The statement has {movements} without one." * bool(unmatched)
        searched = counted(len(evidence.rounds), "round")
        return (
            f"The ledger holds no such round among the {searched} of this player that were "
            f"searched.{statement}"
        )
    if not evidence.rounds:
        return "The ledger shows no round of this player in that time that can be read."
    question = evidence.complaint.question
    if question == "run" and told.runs:
        return _run(told, told.runs[0])
    if question == "balance":
        return _money(told)
    if question == "run":
        return f"You lost none of {counted(len(evidence.rounds), 'round')}."
    return _proof(told)


def _money(told: AssessmentParts) -> str:
    if not told.wallet:
        return "The ledger records no movement of real money in that time."
    if told.follows_the_money:
        return (
            "Every movement of your money is recorded with the balance after it, and each balance "
            "follows from the one before."
        )
    if told.jumps:
        times = "once" if len(told.jumps) == 1 else f"{len(told.jumps):,} times"
        return (
            f"Your balance changed {times} in between without any round of this ledger: a deposit, "
            "a withdrawal, a bonus or another game does that, and the wallet's own statement says "
            "which."
        )
    return "The wallet's answers are not recorded throughout, so the balance cannot be followed."


def _wrong(told: AssessmentParts) -> str:
    if not told.faults:
        return ""
    rounds = len(told.faults)
    due: dict[str, int] = {}
    for fault in told.faults:
        due[fault.currency] = due.get(fault.currency, 0) + fault.due_minor
    owed = ", ".join(amount_text(minor, currency) for currency, minor in due.items() if minor)
    owing = f"{owed} is due, by a case about each" if owed else "nothing more is due by them"
    of = counted(len(told.evidence.rounds), "round")
    return f"Something is wrong in {rounds:,} of {of}: {owing}."


def _last_word(told: AssessmentParts, verdict: Verdict) -> str:
    if verdict == "rejected":
        return "Nothing was found wrong, and nothing is due."
    if verdict != "inconclusive":
        return ""
    if any(each.is_beyond_chance for each in told.luck):
        return (
            "Your cards were worse than chance brings once in a thousand such spans. That proves "
            "no fault, and it is for an adjudicator."
        )
    return "The ledger alone cannot decide this: it is for an adjudicator."


def _played(totals: Totals) -> str:
    currency = totals.currency
    staked, paid = (amount_text(m, currency) for m in (totals.staked_minor, totals.paid_minor))
    back = totals.refunded_minor
    voids = f", {amount_text(back, currency)} was returned" if back else ""
    fun = " for fun" if totals.mode == "fun" else ""
    return (
        f"You played {counted(totals.rounds, 'round')}{fun}: "
        f"{totals.won:,} won, {totals.pushed:,} pushed, {totals.lost:,} lost; staked {staked}, "
        f"paid {paid}{voids}."
    )


def _proof(told: AssessmentParts) -> str:
    rounds = told.evidence.rounds
    proven = [each for each in rounds if each.is_proven]
    cards = sum(each.cards for each in proven)
    which = "all " if len(rounds) > 1 else ""
    if len(proven) < len(rounds):
        which = f"{len(proven):,} of "
    return (
        f"In {which}{counted(len(rounds), 'round')} the shoe was sealed before you staked and "
        f"opened afterwards, and every one of {counted(cards, 'card')} is the one that shoe gives."
    )


def _luck(luck: SpanLuck) -> Iterator[str]:
    currency = luck.currency
    taken = amount_text(round(abs(luck.luck_minor)), currency)
    way = "for" if luck.luck_minor >= 0 else "against"
    usual = amount_text(round(luck.luck_interval_minor), currency)
    if luck.standard_errors is None:
        yield f"The cards fell {way} you by {taken}: too few rounds to test whether that is chance."
    else:
        meaning = (
            "so this is normal"
            if abs(luck.luck_minor) <= luck.luck_interval_minor
            else "so this is unusual; it is beyond chance only below one in a thousand"
        )
        yield (
            f"The cards fell {way} you by {taken}. Chance alone moves it by up to {usual} "
            f"either way 19 times out of 20, {meaning}."
        )
    price = amount_text(round(luck.start_minor), currency)
    skill = amount_text(round(luck.skill_minor), currency)
    known = amount_text(round(luck.skill_interval_minor), currency)
    error = amount_text(luck.error_minor, currency)
    yield (
        f"On average such stakes come to {price} under the best play. Your decisions came to "
        f"{skill} beside that (± {known}), wrong payments to {error}."
    )


def _run(told: AssessmentParts, run: Streak) -> str:
    where = {each.round: each for each in told.evidence.rounds}
    when = told.between(where[run.first].opened_at, where[run.last].last_at)
    what = "losses" if run.kind == "lost" else "rounds without a win"
    rounds = counted(run.rounds, "round")
    text = f"Your longest run of {what} in {rounds} was {run.length}, {when}."
    if run.probability is None:
        return f"{text} How likely that is cannot be said: some rules are not in the ledger."
    return (
        f"{text} By the rules of the game the chance of one so long somewhere in {rounds} is "
        f"{chance_text(run.probability)}."
    )


def _wallet(wallet: WalletSums) -> str:
    currency = wallet.currency
    taken, paid = (amount_text(m, currency) for m in (wallet.taken_minor, wallet.paid_minor))
    text = f"{counted(wallet.movements, 'movement')}: {taken} was taken, {paid} was paid"
    if wallet.first_minor is None:
        return f"{text}."
    first, last = (amount_text(m, currency) for m in (wallet.first_minor, wallet.last_minor))
    return f"{text}; the balance went from {first} to {last}."


def _jump(told: AssessmentParts, jump: Jump) -> str:
    rose = "rose" if jump.amount_minor > 0 else "fell"
    amount = amount_text(abs(jump.amount_minor), jump.currency)
    when = told.between(jump.after, jump.before)
    where = f"Within round {jump.round}" if jump.is_within_round else "Between two rounds"
    return f"{where}, {when}, the balance {rose} by {amount} without any movement of this ledger."


def _rounds_apart(told: AssessmentParts) -> Iterator[str]:
    for each in told.evidence.rounds:
        if each.state == "open":
            staked = amount_text(each.staked_minor, each.currency)
            last = told.at(each.last_at)
            yield f"Round {each.round} is open: {staked} is held in it since {last}."
        elif each.state == "void":
            back = amount_text(each.refunded_minor, each.currency)
            yield f"Round {each.round} was voided ({each.void_reason}): {back} went back."
        if each.held_minor > 0:
            held = amount_text(each.held_minor, each.currency)
            yield f"{held} of the win of round {each.round} waits for a person to verify it."


def _of_others(evidence: ComplaintEvidence) -> Iterator[str]:
    if evidence.others_read:
        most = "the first " if evidence.others_left else ""
        yield (
            f"Of {most}{counted(evidence.others_read, 'round')} of other players at the same "
            f"tables, {_count(evidence.others)} something wrong."
        )


def _count(found: tuple[object, ...]) -> str:
    return f"{len(found):,} {'has' if len(found) == 1 else 'have'}"


def _named(names: list[str] | tuple[str, ...]) -> str:
    rest = len(names) - _MOST_NAMED
    more = f" and {rest:,} more" if rest > 0 else ""
    return ", ".join(names[:_MOST_NAMED]) + more
