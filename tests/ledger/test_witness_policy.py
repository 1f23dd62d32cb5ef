"""Policies: who must have seen a checkpoint, and how lately."""

from datetime import UTC, datetime, timedelta
from hashlib import sha256

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from shoeproof.ledger.checkpoint.note import COSIGNATURE, NoteKey, cosignature_line, sign_note
from shoeproof.ledger.checkpoint.signed import Checkpoint
from shoeproof.ledger.errors import NoteRefused, PolicyUnmet, PolicyUnreadable
from shoeproof.ledger.keys.key import FileSigner
from shoeproof.ledger.witness.witness_policy import parse_policy, require

NOW = datetime(2026, 1, 2, tzinfo=UTC)
SECONDS = int(NOW.timestamp())


def signer(name: str) -> FileSigner:
    """A key that is the same in every process, since the cases' names hold it."""
    return FileSigner(name, Ed25519PrivateKey.from_private_bytes(sha256(name.encode()).digest()))


LOG = signer("log.example")
TEXT = Checkpoint("log.example", 7, bytes(32)).text
WITNESSES = {name: signer(f"{name}.example") for name in ("x1", "x2", "x3", "y1", "y2")}


def vkey(name: str) -> str:
    witness = WITNESSES[name]
    return NoteKey(witness.name, witness.public_key, COSIGNATURE).vkey


LOG_LINE = f"log {NoteKey(LOG.name, LOG.public_key).vkey}\n"
LINES = "".join(f"witness {name} {vkey(name)}\n" for name in WITNESSES)
TWO_ORGANISATIONS = f"""# Two of the first organisation and anyone of the second.
{LOG_LINE}
  {LINES}
group X 2 x1 x2\tx3
group Y any y1 y2
group both all X Y
quorum both
"""


def note(*names: str, seconds: int = SECONDS) -> bytes:
    lines = [cosignature_line(TEXT, WITNESSES[name], seconds) for name in names]
    return sign_note(TEXT, LOG) + b"".join(lines)


@pytest.mark.parametrize("names", [("x1", "x2", "y1"), ("x3", "x1", "y2"), tuple(WITNESSES)])
def test_quorum_reached(names: tuple[str, ...]) -> None:
    times = require(parse_policy(TWO_ORGANISATIONS.encode()), note(*names), now=NOW)
    assert times == dict.fromkeys(sorted(names), SECONDS)


@pytest.mark.parametrize("names", [(), ("x1", "y1"), ("x1", "x2", "x3"), ("y1", "y2", "x3")])
def test_quorum_not_reached(names: tuple[str, ...]) -> None:
    with pytest.raises(PolicyUnmet, match="both is not reached"):
        require(parse_policy(TWO_ORGANISATIONS.encode()), note(*names), now=NOW)


def test_cosignature_by_a_witness_nobody_named_counts_for_nothing() -> None:
    policy = parse_policy(f"witness x1 {vkey('x1')}\nquorum x1\n".encode())
    with pytest.raises(PolicyUnmet, match="nobody"):
        require(policy, note("x2", "y1"), now=NOW)


def test_cosignature_that_does_not_hold_makes_the_note_worthless() -> None:
    policy = parse_policy(f"{LINES}group any any x1 x2\nquorum any\n".encode())
    forged = note("x1") + cosignature_line("another text\n", WITNESSES["x2"], SECONDS)
    with pytest.raises(NoteRefused, match=r"x2\.example is not valid"):
        require(policy, forged, now=NOW)


def test_log_that_the_policy_does_not_name() -> None:
    other = FileSigner("log.example", Ed25519PrivateKey.generate())
    policy = parse_policy(f"{LOG_LINE}quorum none\n".encode())
    assert require(policy, note(), now=NOW) == {}
    with pytest.raises(PolicyUnmet, match="no log of the policy"):
        require(policy, sign_note(TEXT, other), now=NOW)


def test_newest_cosignature_too_old() -> None:
    policy = parse_policy(f"{LINES}group two 2 x1 x2 y1\nquorum two\n".encode())
    day = timedelta(days=1)
    aged = note("x1", seconds=SECONDS - 3 * 86_400) + cosignature_line(
        TEXT, WITNESSES["x2"], SECONDS - 86_401
    )
    with pytest.raises(PolicyUnmet, match="ask for a newer checkpoint"):
        require(policy, aged, now=NOW, max_age=day)
    fresh = aged + cosignature_line(TEXT, WITNESSES["y1"], SECONDS - 86_400)
    assert len(require(policy, fresh, now=NOW, max_age=day)) == 3


@pytest.mark.parametrize("max_age", [None, timedelta(days=1)])
@pytest.mark.parametrize("seconds", [SECONDS + 301, 2**62, 2**63, 2**64 - 1])
def test_cosignature_from_the_future(seconds: int, max_age: timedelta | None) -> None:
    policy = parse_policy(f"{LINES}quorum x1\n".encode())
    with pytest.raises(PolicyUnmet, match="in the future"):
        require(policy, note("x1", seconds=seconds), now=NOW, max_age=max_age)
    within = note("x1", seconds=SECONDS + 300)
    assert require(policy, within, now=NOW, max_age=max_age) == {"x1": SECONDS + 300}


@pytest.mark.parametrize("max_age", [timedelta(days=2_000_000), timedelta.max])
def test_longest_age_is_no_error(max_age: timedelta) -> None:
    policy = parse_policy(f"{LINES}quorum x1\n".encode())
    assert require(policy, note("x1", seconds=0), now=NOW, max_age=max_age) == {"x1": 0}


def test_age_of_what_nobody_cosigned() -> None:
    policy = parse_policy(f"{LOG_LINE}quorum none\n".encode())
    with pytest.raises(PolicyUnmet, match="age is not known"):
        require(policy, note(), now=NOW, max_age=timedelta(days=1))


W1 = f"witness a {vkey('x1')}\n"
W2 = f"witness b {vkey('x2')} https://witness.example/w\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "does not end in a line feed"),
        ("quorum none", "does not end in a line feed"),
        ("quorum none\r\n", "control character"),
        ("\x00quorum none\n", "control character"),
        (W1, "has no line `quorum NAME`"),
        ("quorum none\nquorum none\n", "line 2: the quorum was already given"),
        ("quorum a\n" + W1, "line 1: .* defines 'a'"),
        ("group g any a\n" + W1 + "quorum g\n", "line 1: .* defines 'a'"),
        ("group g any g\nquorum g\n", "defines 'g'"),
        ("group g any none\nquorum g\n", "defines 'none'"),
        (W1 + W2 + "group g 3 a b\nquorum g\n", "3 of 2 members"),
        (W1 + W2 + "group g 0 a b\nquorum g\n", "neither all, any nor a number"),
        (W1 + W2 + "group g -1 a b\nquorum g\n", "neither all, any nor a number"),
        (W1 + W2 + "group g 01 a b\nquorum g\n", "neither all, any nor a number"),
        (W1 + W2 + "group g any\nquorum g\n", "2 words"),
        (W1 + W2 + "group g any a a\nquorum g\n", "'a' would count twice"),
        (W1 + W2 + "group g any a\ngroup h all a b\nquorum h\n", "'a' would count twice"),
        (W1 + W1.replace(" a ", " c ") + "quorum a\n", "appears twice"),
        (W1 + W2.replace(" b ", " a ") + "quorum a\n", "the name 'a' is taken"),
        (W1.replace(" a ", " none ") + "quorum none\n", "the name 'none' is taken"),
        (f"witness a {NoteKey('a', WITNESSES['x1'].public_key).vkey}\nquorum a\n", "of kind 4"),
        (f"log {vkey('x1')}\nquorum none\n", "of kind 1"),
        ("witness a nonsense\nquorum a\n", "line 1: not a verifier key"),
        (f"witness a {NoteKey('w', bytes(32), COSIGNATURE).vkey}\nquorum a\n", "small order"),
        ("witnesses a b\nquorum none\n", "line 1: unknown keyword 'witnesses'"),
        (W1.replace(" ", "\N{NO-BREAK SPACE}") + "quorum none\n", "unknown keyword"),
    ],
)
def test_file_that_is_no_policy(text: str, message: str) -> None:
    with pytest.raises(PolicyUnreadable, match=message):
        parse_policy(text.encode())


def test_names_are_octets() -> None:
    names = [b"K", "\N{KELVIN SIGN}".encode(), b"\xff"]
    lines = [b"witness %b %b" % (name, vkey(each).encode())
             for name, each in zip(names, WITNESSES, strict=False)]  # fmt: skip
    policy = parse_policy(
        b"\n".join([*lines, b"group g all %b %b %b" % tuple(names), b"quorum g\n"])
    )
    assert len(policy.witnesses) == 3
    with pytest.raises(PolicyUnmet, match="K"):
        require(policy, note("x1"), now=NOW)
    times = require(policy, note("x1", "x2", "x3"), now=NOW)
    assert list(times) == ["K", "\N{KELVIN SIGN}", r"\xff"]
    " ".join(times).encode()


def test_groups_of_groups_without_end() -> None:
    groups = "".join(f"group g{n} any g{n - 1}\n" for n in range(1, 3_000))
    lines = f"{LOG_LINE}{LINES}group g0 any x1\n{groups}quorum g2999\n"
    policy = parse_policy(lines.encode())
    assert list(require(policy, note("x1"), now=NOW)) == ["x1"]
    with pytest.raises(PolicyUnmet, match="g2999 is not reached"):
        require(policy, note("x2"), now=NOW)


@pytest.mark.parametrize("threshold", ["9" * 5_000, "9" * 10])
def test_threshold_of_digits_without_end(threshold: str) -> None:
    with pytest.raises(PolicyUnreadable, match="neither all, any nor a number"):
        parse_policy(f"{LINES}group g {threshold} x1\nquorum g\n".encode())


def test_as_many_lines_as_anyone_needs() -> None:
    """The specification asks for 32 logs, witnesses and groups at least."""
    keys = [Ed25519PrivateKey.generate().public_key().public_bytes_raw() for _ in range(64)]
    lines = [f"log {NoteKey('l', key).vkey}" for key in keys[:32]]
    lines += [f"witness w{n} {NoteKey('w', key, COSIGNATURE).vkey}"
              for n, key in enumerate(keys[32:])]  # fmt: skip
    lines += ["group g0 any w0", *(f"group g{n} any w{n} g{n - 1}" for n in range(1, 32))]
    policy = parse_policy("\n".join([*lines, "quorum g31", ""]).encode())
    assert policy.is_met(["w0"])
    assert not policy.is_met([])
