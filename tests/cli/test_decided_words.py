"""What was decided is told in the words people type, and the hints name those words."""

import re
import shlex
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest

from shoeproof.ledger import Ledger
from tests.cli.conftest import Shoeproof
from tests.cli.test_bad_input import told
from tests.cli.test_decide import listed
from tests.cli.test_dispute import Place, call, made, opened, place, size
from tests.disputes import live

__all__ = ["call", "made", "place"]


def hinted(call: Shoeproof, case: str) -> list[str]:
    """The words of the command that `dispute assess` ends with, after `shoeproof dispute`."""
    last = call("assess", case).out.rstrip().splitlines()[-1]
    words = shlex.split(last)
    assert words[:2] == ["shoeproof", "dispute"]
    return words[2 : words.index("--key")]


def paid_in_full(place: Place) -> str:
    """A round that was won and paid by the rules, without any wallet on record."""
    with Ledger.open(place.path) as ledger:
        return live.play(ledger, live.won, player="p-4")


def test_a_rejected_complaint_is_called_so_everywhere(call: Shoeproof, place: Place) -> None:
    case = opened(call, place.lost)
    assert hinted(call, case) == ["reject", case]
    assert "Decided: rejected, nothing paid" in call("reject", case, "--key", "ann", "--yes").out
    assert "rejected" in call("list", "--all").out
    assert "was decided: rejected" in call("assess", case).out
    told(call("reject", case, "--key", "ann", "--yes"), 2, "was decided (rejected, ")
    letter = place.path.parent / "letter.txt"
    assert call("report", case, "--for", "player", "-o", letter).code == 0
    assert "Complaint rejected: the result stands." in letter.read_text()


def test_an_inconclusive_complaint_is_not_rejected(call: Shoeproof, place: Place) -> None:
    case = opened(call, paid_in_full(place))
    assert "INCONCLUSIVE" in call("assess", case).out.splitlines()[0]
    before = size(place)
    lacking = "no wallet is recorded: the ledger cannot show that this payment reached"
    words = ("inconclusive", lacking, "refer the case", "`dispute decide --remedy honour`")
    told(call("reject", case, "--key", "ann", "--yes"), 2, "cannot be rejected", *words)
    assert size(place) == before


def test_the_result_of_an_inconclusive_complaint_may_stand(call: Shoeproof, place: Place) -> None:
    case = opened(call, paid_in_full(place))
    words = hinted(call, case)
    assert words == ["decide", case, "--remedy", "honour"]
    done = call(*words, "--key", "ann", "--yes")
    assert "Decided: result stands, nothing paid" in done.out
    listing = call("list", "--all").out
    assert "result stands" in listing
    assert "rejected" not in listing
    letter = place.path.parent / "letter.txt"
    assert call("report", case, "--for", "player", "-o", letter).code == 0
    assert "Complaint not upheld:" in letter.read_text()


def test_a_fault_that_cost_nothing_is_not_rejected(call: Shoeproof, place: Place) -> None:
    case = opened(call, place.underpaid)
    assert call("pay", case, "--key", "ann", "--yes").code == 0
    again = opened(call, place.underpaid)
    told(call("reject", again, "--key", "ann", "--yes"), 2, "upheld, because")


def test_what_is_due_is_paid_by_the_words_of_the_hint(call: Shoeproof, place: Place) -> None:
    case = opened(call, place.underpaid)
    words = hinted(call, case)
    assert words == ["pay", case]
    assert "Decided: paid, " in call(*words, "--key", "ann", "--yes").out
    assert "paid" in call("list", "--all").out


def test_an_open_round_is_resumed_by_the_words_of_the_hint(call: Shoeproof, place: Place) -> None:
    case = opened(call, place.open, "disconnection")
    assert hinted(call, case) == ["resume", case]
    assert "Decided: resumed" in call("resume", case, "--key", "ann", "--yes").out


def test_a_second_person_is_told_the_same_words(call: Shoeproof, place: Place) -> None:
    case = opened(call, place.large)
    assert call("pay", case, "--key", "ann", "--yes").code == 0
    assert hinted(call, case) == ["pay", case]
    other = opened(call, place.lost)
    by = ("--reference", "ADJ 1", "--yes", "--key")
    assert call("award", other, "20.00", *by, "ann").code == 0
    assert hinted(call, other) == ["award", other, "AMOUNT", "--reference", "ADJ 1"]
    assert call("award", other, "20.00", *by, "bob").code == 0
    assert "awarded" in call("list", "--all").out
    assert listed(call, other)["remedy"] == "award"


def test_the_page_for_support_names_every_word() -> None:
    page = (Path(__file__).parents[2] / "docs" / "support.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `([a-z]+)[^`]*` \|", page, re.MULTILINE)
    verbs = "reject pay void resume award goodwill refer withdraw uphold decide"
    assert sorted(listed) == sorted(verbs.split())


@pytest.mark.parametrize("verb", ["reject", "pay", "refer", "void", "resume"])
def test_every_word_says_what_it_does(call: Shoeproof, verb: str) -> None:
    usage, _, says, *_ = map(str.strip, call(verb, "--help").out.splitlines())
    assert usage.endswith("{CASE}")
    assert says[:1].isupper()


@pytest.mark.parametrize(
    ("of", "words"),
    [
        ("shoeproof.cli.commands.dispute.cases.assess", ("reject", "CASE")),
        ("shoeproof.cli.commands.dispute.complaint.gather_complaint", ("reject", "COMPLAINT")),
        ("shoeproof.cli.commands.dispute.complaint.gather_complaint", ("assess", "COMPLAINT")),
    ],
)
def test_a_command_assesses_once(
    call: Shoeproof,
    place: Place,
    monkeypatch: pytest.MonkeyPatch,
    of: str,
    words: tuple[str, ...],
) -> None:
    span = ("--player", "p-2", "--from", "2020-01-01", "--to", "2099-01-01", "--zone", "UTC")
    complaint = call("open", *span, "--claim", "rigged").out.split()[2]
    names = {"CASE": opened(call, place.lost), "COMPLAINT": complaint}
    module, _, name = of.rpartition(".")
    real: Callable[..., object] = getattr(import_module(module), name)
    asked: list[object] = []

    def counting(*arguments: object, **more: object) -> object:
        asked.append(arguments)
        return real(*arguments, **more)

    monkeypatch.setattr(of, counting)
    signed = () if words[0] == "assess" else ("--key", "ann", "--yes")
    assert call(*(names.get(word, word) for word in words), *signed).code == 0
    assert len(asked) == 1
