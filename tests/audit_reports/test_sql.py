"""Each query file says what it answers and is one SELECT."""

from importlib.resources import files
from pathlib import Path

import duckdb
import pytest

from shoeproof import audit_reports
from shoeproof.audit_reports.tables import sql

FOLDER = Path(audit_reports.__file__).parent / "tables" / "queries"
NAMES = sorted(path.stem for path in FOLDER.glob("*.sql"))


def test_there_are_queries() -> None:
    assert "rtp_slices" in NAMES
    assert files("shoeproof.audit_reports.tables").joinpath("tables.sql").is_file()


@pytest.mark.parametrize("name", NAMES)
def test_a_query_has_a_comment_and_is_one_select(name: str) -> None:
    text = sql.query(name)
    assert text.startswith("-- ")
    assert "?" in text.split("\nSELECT")[0]
    (statement,) = duckdb.extract_statements(text)
    assert statement.type == duckdb.StatementType.SELECT
