"""An inspection in the form a file's name asks for: HTML, PDF, JSON or text."""

from collections.abc import Iterator
from pathlib import Path
from textwrap import wrap
from typing import Final

from shoeproof.audit_reports.errors import ReportError
from shoeproof.audit_reports.inspection.model import (
    FindingGroup,
    InspectedLedger,
    InspectedReturn,
    Inspection,
    Word,
)
from shoeproof.audit_reports.pages.forms import Forms, json_bytes, render_report
from shoeproof.audit_reports.pages.numerals import percent
from shoeproof.audit_reports.pages.pdf import pdf_of
from shoeproof.audit_reports.pages.render import render_page
from shoeproof.audit_reports.pages.words import bet_words
from shoeproof.ledger.files.durable import write_durably
from shoeproof.ledger.files.printable import printable
from shoeproof.replay.currency import unit_words

FORMS: Final[Forms[Inspection]] = {
    ".html": lambda inspection: _page(inspection).encode(),
    ".pdf": lambda inspection: pdf_of(_page(inspection)),
    ".json": json_bytes,
    ".txt": lambda inspection: inspection_text(inspection).encode(),
}

NAME: Final = "inspection"
"""What the files are called, before their suffix."""

WIDTH: Final = 80

TONES: Final[dict[Word, str]] = {
    "sound": "good", "inconclusive": "warn", "findings": "bad", "untrusted": "bad"
}  # fmt: skip

MOST_PLACES: Final = 5
"""How many places of a finding the page and the text name; JSON has more."""


def write_inspection(inspection: Inspection, folder: Path) -> tuple[list[Path], str | None]:
    """Write an inspection in every form, each whole or not at all.

    Returns the files, and why there is no PDF where there is none. Raises OSError.
    """
    written: list[Path] = []
    missing: str | None = None
    for suffix in FORMS:
        file = folder / f"{NAME}{suffix}"
        try:
            content = render_report(FORMS, inspection, suffix)
        except ReportError as error:
            # One that an earlier inspection left would pass for this one's.
            file.unlink(missing_ok=True)
            missing = str(error)
            continue
        write_durably(file, content)
        written.append(file)
    return written, missing


def inspection_text(inspection: Inspection) -> str:
    """Return an inspection as lines of at most 80 characters, but for ids and keys."""
    return "\n".join(_lines(inspection)) + "\n"


def _page(inspection: Inspection) -> str:
    return render_page(
        "inspection.html",
        title="Inspection",
        inspection=inspection,
        tone=TONES[inspection.word],
        most=MOST_PLACES,
        percent=percent,
        bet_words=bet_words,
        unit_words=unit_words,
    )


def _lines(inspection: Inspection) -> Iterator[str]:
    yield f"INSPECTION: {inspection.word.upper()}"
    yield from _wrapped(f"{inspection.headline}.")
    yield ""
    for each in inspection.examined:
        yield from _examined(each)
    yield "What was found"
    for found in inspection.found:
        yield from _found(found)
    if not inspection.found:
        yield "  nothing"
    for title, sentences in (
        ("What could not be judged", inspection.unjudged),
        ("What no inspection of this kind shows", inspection.left_open),
        ("Shuffle", inspection.shuffle),
    ):
        if sentences:
            yield ""
            yield title
            for sentence in sentences:
                yield from _wrapped(sentence, "  · ")
    if inspection.returns:
        yield ""
        yield from _returns(inspection)
    if inspection.statement is not None:
        stated = inspection.statement
        yield ""
        yield from _wrapped(
            f"Statement {printable(stated.file)}, {stated.begin[:19]} to {stated.end[:19]} UTC: of "
            f"its lines, {stated.lines:,} in all, {stated.agreeing:,} are in the ledger as stated"
        )
    yield ""
    yield "How to repeat it"
    yield f"  {printable(inspection.repeat.command)}"
    yield f"  {inspection.repeat.software}"
    for name, digest in inspection.repeat.digests.items():
        yield f"  SHA-256 of the {name}: {digest}"


def _examined(each: InspectedLedger) -> Iterator[str]:
    yield f"Examined: {printable(each.ledger)}"
    span = f"{(each.first_opened or '')[:19]} to {(each.last_ended or '')[:19]} UTC"
    facts = {
        "leaves": f"{each.size:,}, of which a checkpoint covers {each.covered:,}"
        + (" (one you kept)" if each.kept else ""),
        "rounds": f"{each.rounds:,}: {each.void:,} void, {each.open:,} open, {each.fun:,} for fun",
        "span": span if each.first_opened else "",
        "signatures": f"{each.signatures:,} checked one by one",
        "trusted by": each.anchor or "nothing: its key is not the one given",
        "cosigned by": ", ".join(f"{name} {at[:19]}" for name, at in each.cosigned_by.items()),
        "keys": ", ".join(f"{count} {role}" for role, count in each.keys.items()),
        "rules": ", ".join(f"{name} {digest[:16]}…" for digest, name in each.rules.items()),
        "builds": ", ".join(each.builds),
        "operators": ", ".join(each.operators),
    }
    for name, value in facts.items():
        if value:
            yield from _wrapped(printable(value), f"  {name:<12} ", " " * 15)
    yield ""


def _found(found: FindingGroup) -> Iterator[str]:
    rounds = f" ({found.rounds:,} rounds)" if found.rounds > 1 else ""
    yield from _wrapped(printable(f"{found.says}{rounds}"), f"  {found.weight:<7}", " " * 9)
    for place in found.places[:MOST_PLACES]:
        leaf = "" if place.leaf_index is None else f"leaf {place.leaf_index} "
        where = f"{leaf}{place.stream or ''}".strip() or place.text
        yield f"         {printable(where)}"
    if found.cases > MOST_PLACES and found.places:
        yield f"         … {found.cases:,} in all; the JSON form names more"


def _returns(inspection: Inspection) -> Iterator[str]:
    yield "Returns on initial stakes"
    yield f"  {'game, bet':<40}{'rounds':>10}{'realised':>10}{'expected':>10}"
    before = ""
    for each in inspection.returns:
        name = f"{each.title} ({unit_words(each.currency)})"
        yield from _wrapped(name, "  ") if name != before else ()
        before = name
        figures = f"{each.rounds:>10,}{_rate(each.realised):>10}{_rate(each.expected):>10}"
        yield f"    {bet_words(each.bet):<38}{figures}"
        yield from _wrapped(f"{each.word}; {_seen(each)}", "      ")


def _seen(each: InspectedReturn) -> str:
    if each.detectable is None:
        return "too few rounds to say what bias would have been seen"
    return f"a bias of {percent(each.detectable)} or more would have been seen 19 times in 20"


def _rate(value: float | None) -> str:
    return "-" if value is None else percent(value)


def _wrapped(text: str, first: str = "", rest: str | None = None) -> list[str]:
    indent = " " * len(first) if rest is None else rest
    return wrap(
        text, WIDTH, initial_indent=first, subsequent_indent=indent,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
