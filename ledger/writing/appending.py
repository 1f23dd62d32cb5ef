"""How events are appended: signed by the caller's thread, written together with what others write.

An append is signed before it waits for its turn, so that a slow signer holds nobody up, on the ends
of its streams as they are known then. Where another thread's append to one of them came first it is
signed once more, in the transaction, on what that one left.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple, TypeAlias

from shoeproof.ledger.errors import (
    KeyNotValid,
    LedgerError,
    OutcomeUnknown,
    StoreDamaged,
    StoreUnavailable,
    StreamConflict,
)
from shoeproof.ledger.keys.key import Signer
from shoeproof.ledger.keys.trust import Admission
from shoeproof.ledger.leaf.events import Role, Seen
from shoeproof.ledger.leaf.recorded import Recorded
from shoeproof.ledger.leaf.stored import StoredLeaf
from shoeproof.ledger.store.extends import Growth
from shoeproof.ledger.store.round_index import Alone
from shoeproof.ledger.store.sqlite import Store
from shoeproof.ledger.store.transaction import Conditions, Transaction
from shoeproof.ledger.writing.heads import Draft, Head, Heads, Sealed, chain, dated
from shoeproof.ledger.writing.signers import Signers

_OUTCOME_UNKNOWN: Final = (StoreUnavailable, StoreDamaged, OSError)
"""The errors after which the store alone knows whether a transaction was committed."""

_Last: TypeAlias = Callable[[str], StoredLeaf | None]
"""Gives a stream's last leaf."""


class PendingAppend(NamedTuple):
    """What is to be appended: the events, made from the tree's size, and `Ledger.append`'s terms.

    Where they hang on that size `is_late`.
    """

    make: Callable[[int], Sequence[Draft]]
    at: datetime
    after: Mapping[str, int]
    alone: Alone | None = None
    records: Sequence[str] = ()
    is_late: bool = False


class _Signed(NamedTuple):
    """Events that were signed on the ends of their streams, at a size of the tree."""

    size: int
    heads: dict[str, Head]
    sealed: list[Sealed]
    ends: dict[str, Head]


class _Attempt:
    """One attempt to append: what it signed last, and by whom."""

    def __init__(
        self,
        asked: PendingAppend,
        origin: str,
        heads: Heads,
        signer: Callable[[Role], Signer],
        seen: Seen,
    ) -> None:
        self.signers: dict[Role, Signer] = {}
        self._asked, self._origin, self._heads, self._signer = asked, origin, heads, signer
        self._seen = seen
        self._signed = _Signed(0, {}, [], {})

    @property
    def sealed(self) -> list[Sealed]:
        """The events as they were signed last."""
        return self._signed.sealed

    def sign(self, size: int, last: _Last) -> None:
        """Sign what is to be written into a tree of `size` leaves, unless that is signed already.

        Raises StreamConflict where a stream went on beyond what the caller saw of it.
        """
        drafts = self._asked.make(size)
        heads = self._follow(drafts, last)
        is_signed = self._signed.sealed and heads == self._signed.heads
        if is_signed and (size == self._signed.size or not self._asked.is_late):
            return
        at, ends = dated(self._asked.at, heads.values()), dict(heads)
        sealed = chain(drafts, ends, at, self._origin, self._by, self._seen)
        self._signed = _Signed(size, heads, sealed, ends)

    def _follow(self, drafts: Sequence[Draft], last: _Last) -> dict[str, Head]:
        heads: dict[str, Head] = {}
        for stream, data in drafts:
            if stream in heads:
                continue
            seen = self._asked.after.get(stream, -1)
            heads[stream] = head = self._heads.find(last, stream, data, seen)
            if self._asked.after.get(stream, head.seq) != head.seq:
                self._heads.forget([stream])
                raise StreamConflict(
                    f"another writer appended to {stream}: read it again, then decide"
                )
        return heads

    def _by(self, role: Role) -> Signer:
        # In the transaction nobody may read the store for a key: who signed first signs again.
        if role not in self.signers:
            self.signers[role] = self._signer(role)
        return self.signers[role]

    def write(self, transaction: Transaction, conditions: Conditions) -> list[int]:
        """Write it inside the transaction, and return the places of the events."""
        self.sign(transaction.size, transaction.head)
        read = {stream: seq for stream, seq in self._asked.after.items()
                if stream not in self._signed.heads}  # fmt: skip
        events = [each.to_store() for each in self.sealed]
        places = transaction.append(events, conditions._replace(after=read))
        self._heads.take_in(self._signed.ends)
        return places

    def forget(self) -> None:
        """Look up again where the streams end that it was to go on from."""
        self._heads.forget(self._signed.heads)


class Appender:
    """Appends to one open ledger; threads share it. `heads` are the ends of streams it knows."""

    def __init__(
        self,
        store: Store,
        origin: str,
        signers: Signers,
        growth: Growth,
        seen: Callable[[], Seen],
    ) -> None:
        """Write to `store` what the signers sign, while the ledger extends its guard (`growth`).

        `seen` tells what this process saw last of the tree.
        """
        self.heads = Heads()
        self._seen = seen
        self._store, self._origin, self._signers, self._growth = store, origin, signers, growth
        self._admission = Admission()
        self._keys_known = 0

    def append(self, asked: PendingAppend) -> list[Recorded]:
        """Append what is asked; see `Ledger.append` for what it raises."""
        self._growth.check_if_signed()
        while True:
            signer, seen = self._signers.signer, self._seen()
            attempt = _Attempt(asked, self._origin, self.heads, signer, seen)
            try:
                return self._try(attempt, asked)
            except KeyNotValid:
                # The key was revoked: its file may hold another by now.
                if not self._signers.renew(attempt.signers):
                    raise

    def _try(self, attempt: _Attempt, asked: PendingAppend) -> list[Recorded]:
        attempt.sign(self._store.size() if asked.is_late else 0, self._store.head)

        def write(transaction: Transaction) -> list[int]:
            conditions = Conditions(
                self._admission, asked.alone, {}, asked.records, self._growth.least
            )
            return attempt.write(transaction, conditions)

        def undo() -> None:
            self._admission = Admission()
            attempt.forget()

        try:
            places: list[int] | None = self._store.append(write, undo=undo)
        except _OUTCOME_UNKNOWN as error:
            places = self._written(attempt.sealed, error)
            if places is None:
                raise
        assert places is not None
        self._growth.reached(places[-1] + 1 if places else 0)
        self._take_up_keys()
        return [Recorded(place, *each) for place, each in zip(places, attempt.sealed, strict=True)]

    def _written(self, sealed: list[Sealed], error: Exception) -> list[int] | None:
        try:
            return self._store.written([each.to_store() for each in sealed])
        except LedgerError:
            raise OutcomeUnknown(
                f"it is not known whether this was written, because the store no longer "
                f"answers: {error}"
            ) from error

    def _take_up_keys(self) -> None:
        if self._admission.known != self._keys_known:
            self._keys_known = self._admission.known
            self._signers.read_again()
