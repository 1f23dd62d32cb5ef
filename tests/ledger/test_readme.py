"""The specification says what the code does."""

import re
from pathlib import Path

from shoeproof.ledger import findings
from shoeproof.ledger.leaf.envelope import PAYLOAD_TYPE
from shoeproof.ledger.leaf.events import EVENTS

TEXT = (Path(__file__).parents[2] / "ledger" / "README.md").read_text(encoding="utf-8")


def test_every_event_is_described_with_its_signer_and_fields() -> None:
    rows = re.findall(r"^\| ([A-Z]\w+) \| (\w+) \| (.*) \|$", TEXT, re.MULTILINE)
    assert rows == [
        (name, cls.signer, ", ".join(f"`{field}`" for field in cls.__struct_fields__))
        for name, cls in EVENTS.items()
    ]


def test_every_finding_is_described() -> None:
    codes = {value for name, value in vars(findings).items() if name.isupper()}
    assert codes == set(re.findall(r"^\| `(\w+)` \| .* \|$", TEXT, re.MULTILINE)) & codes
    assert f"DSSEv1 {len(PAYLOAD_TYPE)} {PAYLOAD_TYPE} " in TEXT


def test_example_runs() -> None:
    [example] = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    exec(compile(example, "README.md", "exec"), {})
