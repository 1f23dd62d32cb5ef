"""A game as its page tells it: every clause as a value with its source beside it.

`rules` is what the digest covers. Everything else here explains it: where the page says so, what
the page leaves open and had to be assumed, what it publishes, what it says of malfunction,
disconnection, history and large wins.
"""

from typing import Any

import msgspec

from shoeproof.replay.engine.rules import Rules, rules_from_data


class Clause(msgspec.Struct, frozen=True):
    """One field of the rules: its value, what it says, the page's section, and if it is assumed."""

    value: Any
    says: str
    source: str
    assumed: bool


def said(value: Any, says: str, source: str) -> Clause:
    """Return a clause that the page states in the section `source`."""
    return Clause(value, says, source, assumed=False)


def assumed(value: Any, says: str, because: str) -> Clause:
    """Return a clause that the page leaves open; `because` says why it is read so."""
    return Clause(value, says, because, assumed=True)


class Page(msgspec.Struct, frozen=True):
    """The published rule page: its title, SHA-256 and date, with the sections disputes rest on.

    `clauses` maps malfunction, disconnection, history and large_win, the acts, and what is paid
    (payouts, insurance, side_bets, cash_out, even_money) to (section, what it says).
    """

    title: str
    sha256: str
    date: str
    clauses: dict[str, tuple[str, str]]


class Published(msgspec.Struct, frozen=True):
    """A return the page publishes: the bet, the percentage as printed, and the section."""

    bet: str
    percent: str
    source: str


class Assumption(msgspec.Struct, frozen=True):
    """A part of a stated clause that the page leaves open; a dispute cites it by its `name`."""

    field: str
    says: str
    because: str
    name: str = ""


class Game(msgspec.Struct, frozen=True):
    """One game: its rules, and what stands outside their digest.

    `limits` maps bets to the smallest and largest stake the page itself names, in minor units,
    None where it names none; the table's own come with each round.
    """

    rules: Rules
    title: str
    currency: str
    clauses: dict[str, Clause]
    assumptions: tuple[Assumption, ...]
    published: tuple[Published, ...]
    limits: dict[str, tuple[int | None, int | None]]
    page: Page


def game(
    game_id: str,
    *,
    title: str,
    currency: str,
    page: Page,
    published: tuple[Published, ...],
    limits: dict[str, tuple[int | None, int | None]],
    assumptions: tuple[Assumption, ...] = (),
    **clauses: Clause,
) -> Game:
    """Build a game from its clauses, one for each field of `Rules`.

    Raises RulesError when a clause is missing, unknown or holds a value the rules cannot have.
    """
    values = {name: clause.value for name, clause in clauses.items()}
    return Game(
        rules=rules_from_data({"id": game_id, **values}),
        title=title,
        currency=currency,
        clauses=clauses,
        assumptions=assumptions,
        published=published,
        limits=limits,
        page=page,
    )
