"""Every parser of foreign bytes returns or raises its own error, soon and in little memory."""

import os
import resource
import sys
import time
from typing import Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shoeproof.ledger.files.printable import printable
from tests.fuzz.mutations import mutated, whole_files, with_a_value_replaced
from tests.fuzz.targets import TARGETS, Target

EXAMPLES: Final = int(os.environ.get("SHOEPROOF_FUZZ", "120"))
"""How many mutations of each parser's files are tried (README.md)."""

MOST_SECONDS: Final = 5.0
"""Of the processor, for one reading; even the slowest take hundredths."""

MOST_MEMORY: Final = 512 * 2**20
"""Bytes by which one reading may let the process grow."""

each_target = pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)


def feed(target: Target, data: bytes) -> None:
    """Have a parser read bytes, and hold it to what is promised of every parser."""
    said = "read"
    before, begun = _memory(), time.process_time()
    try:
        target.read(data)
    except target.errors as error:
        said = printable(str(error))
    assert said.split()
    assert time.process_time() - begun < MOST_SECONDS
    assert _memory() - before < MOST_MEMORY


def _memory() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


@each_target
def test_what_is_kept_is_sound_and_more_than_nothing(target: Target) -> None:
    """A seed that is refused at the first byte would leave all behind it untried."""
    read = 0
    for seed in target.seeds():
        try:
            target.read(seed)
        except target.errors:
            continue
        read += 1
    # These name files beside them, which are too large to be kept here.
    assert read or target.name in ("export_manifest", "segments")


@each_target
def test_whole_files_of_every_kind(target: Target) -> None:
    for name, data in whole_files(target.seeds()[:3]):
        with _Named(name):
            feed(target, data)


@each_target
def test_every_kind_of_value_in_place_of_another(target: Target) -> None:
    for seed in target.seeds()[:3]:
        for name, data in with_a_value_replaced(seed, most=max(2, 24 // target.weight)):
            with _Named(name):
                feed(target, data)


@each_target
def test_mutations(target: Target) -> None:
    seeds = target.seeds() or [b"{}"]

    @settings(
        max_examples=max(5, EXAMPLES // target.weight),
        derandomize="SHOEPROOF_FUZZ" not in os.environ,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def run(data: st.DataObject) -> None:
        feed(target, data.draw(mutated(seeds)))

    run()


class _Named:
    """Says which bytes a parser failed at."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is not None:
            error.add_note(f"given: {self._name}")
