"""How cards, hands, amounts and findings look in a terminal."""

import json
import os
import re
import shlex
import sys
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from rich.console import Console, ConsoleOptions
from rich.padding import Padding
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from shoeproof.cli.exit_codes import READER_GONE
from shoeproof.ledger import Finding
from shoeproof.ledger.files.printable import printable, printable_json
from shoeproof.replay.currency import amount_text
from shoeproof.replay.engine.cards import FACE_DOWN, VALUE, is_red, pretty
from shoeproof.replay.engine.round import RoundState, SeatHand
from shoeproof.replay.rounds.narrative import dealer_cards, dealer_total, hand_total

ID_WIDTH = 36
"""The width of a round's id, which must survive copying from the screen."""

MOST_SHOWN = 20
"""How many findings a terminal shows; `--json` has all."""


_beyond_ascii = re.compile(r"[^\n -~]")
_blanks_at_ends = re.compile(" +(?=\n)")


class _Printable(Console):
    """A console that shows what does not print written out, even if the caller forgot to."""

    def render(self, renderable: Any, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield what a terminal is told, as every console does."""
        for each in super().render(renderable, options):
            if each.control is None and not each.text.isprintable():
                yield Segment(printable(each.text, "\n"), each.style)
            else:
                yield each


class _Screen(_Printable):
    """A console whose reader may go away (`| head`) without that looking like findings.

    If it is not a terminal, no line ends in the blanks that tables and paddings are filled up by.
    """

    def print(self, *objects: Any, **options: Any) -> None:
        """Print as every console does."""
        if self.is_terminal:
            super().print(*objects, **options)
            return
        with self.capture() as captured:
            super().print(*objects, **options)
        super().print(_blanks_at_ends.sub("", captured.get()), end="", soft_wrap=True)

    def on_broken_pipe(self) -> None:
        """End as SIGPIPE would."""
        self.quiet = True
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(READER_GONE)


def console() -> Console:
    """Return a console on stdout."""
    return _Screen(highlight=False, markup=False, emoji=False)


def error_console() -> Console:
    """Return a console on stderr, for progress and prompts."""
    return _Printable(stderr=True, highlight=False, markup=False, emoji=False)


def print_error(text: str) -> None:
    """Print text on stderr, broken between words."""
    print(broken(text), file=sys.stderr)


def broken(text: str) -> str:
    """Return text for stderr, broken between words; a path or a key stays whole, to be copied."""
    lines = textwrap.wrap(
        plain(text),
        error_console().width,
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(lines)


class _RateColumn(ProgressColumn):
    """How many steps a second are made."""

    def render(self, task: Task) -> Text:
        """Return the rate, nothing before there is one."""
        return Text("" if task.speed is None else f"{task.speed:,.0f}/s")


def progress_bar() -> Progress:
    """Return a progress bar on stderr that vanishes when done; where nobody looks there is none."""
    shown_on = error_console()
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        _RateColumn(),
        TimeRemainingColumn(),
        console=shown_on,
        transient=True,
        disable=not shown_on.is_terminal,
    )


def plain(text: str) -> str:
    """Return text from a ledger or a file with all that a terminal would obey made visible."""
    return printable(text)


def json_text(value: object, indent: int | None = 2) -> str:
    """Return a value as JSON that stdout can show: what it lacks is escaped, and says the same."""
    text = printable_json(value, indent)
    try:
        text.encode(sys.stdout.encoding)
    except UnicodeEncodeError:
        return _beyond_ascii.sub(lambda match: json.dumps(match[0])[1:-1], text)
    return text


def print_json(value: object) -> None:
    """Print a value as indented JSON."""
    print(json_text(value))


def print_verdict(value: object, *, sound: bool) -> None:
    """Print a verdict as JSON: whether all is `sound`, as the exit code says, and its reasons."""
    print_json({"sound": sound, **msgspec.to_builtins(value)})


def print_sentence(out: Console, text: str, indent: int = 0, style: str = "") -> None:
    """Print a sentence broken between words, every line of it indented alike."""
    out.print(Padding(Text(plain(text), style), (0, 0, 0, indent)))


def print_command(out: Console, command: str) -> None:
    """Print a command to be copied from the screen; a long one goes on after a backslash."""
    parts: list[str] = []
    for word in shlex.split(command):
        # The value of an option stays beside it.
        if parts and parts[-1].startswith("--") and not word.startswith("--"):
            parts[-1] += f" {shlex.quote(word)}"
        else:
            parts.append(shlex.quote(word))
    lines = [f"  {parts[0]}"]
    for part in parts[1:]:
        if len(lines[-1]) + len(part) + len("  \\") > out.width:
            lines[-1] += " \\"
            lines.append(f"    {part}")
        else:
            lines[-1] += f" {part}"
    for line in lines:
        out.print(Text(line), soft_wrap=True)


def card_text(card: str) -> Text:
    """Return a card in the colour of its suit; other text is shown as it was recorded."""
    if card not in VALUE:
        return Text(plain(card), style="dim" if card == FACE_DOWN else "reverse")
    return Text(pretty(card), style="bold red" if is_red(card) else "bold")


def cards_text(cards: Iterable[str]) -> Text:
    """Return cards with spaces between them."""
    return Text(" ").join(card_text(card) for card in cards)


def amount(minor: int | None, currency: str = "") -> str:
    """Return minor units as people write them, `12.50 EUR`; a dash for None."""
    return plain(amount_text(minor, currency))


def dealer_line(state: RoundState) -> Text:
    """Return the dealer's cards and total; the hole card is `??` until it is shown."""
    line = cards_text(dealer_cards(state))
    if state.dealer.count > 1:
        line.append(f"  {dealer_total(state.dealer)}", "dim")
    return line


def hand_line(held: SeatHand) -> Text:
    """Return a hand's cards and total."""
    line = cards_text(held.cards)
    if held.cards:
        line.append(f"  {hand_total(held.hand)}", "dim")
    return line


def plain_table(
    *columns: str, right: Sequence[str] = (), whole: Sequence[str] = (), gap: int = 2
) -> Table:
    """Return an unboxed table; `right` names columns set flush right, `whole` those never cut."""
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, gap, 0, 0))
    for column in columns:
        table.add_column(
            column,
            justify="right" if column in right else "left",
            no_wrap=column in whole,
            overflow="fold",
            min_width=ID_WIDTH if column in whole else None,
        )
    return table


def print_findings(out: Console, findings: Sequence[Finding]) -> None:
    """Print findings, the first ones only where there are many."""
    for finding in findings[:MOST_SHOWN]:
        leaf = "" if finding.leaf_index is None else f"leaf {finding.leaf_index}"
        event = "" if finding.seq is None else f"event {finding.seq}"
        place = " ".join(part for part in (leaf, event, finding.stream) if part)
        out.print(Text.assemble((finding.code, "bold red"), f"  {plain(place)}"))
        print_sentence(out, finding.text, 4)
    if len(findings) > MOST_SHOWN:
        out.print(f"… and {len(findings) - MOST_SHOWN:,} more; --json has them all")
