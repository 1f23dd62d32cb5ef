"""The README's example runs."""

import re
from pathlib import Path

import pytest

from shoeproof import audit_reports


def test_the_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    text = Path(audit_reports.__file__).with_name("README.md").read_text("utf-8")
    (block,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    exec(compile(block, "README.md", "exec"), {})
    assert capsys.readouterr().out.startswith("zappit main 50 ")
