"""What programs of others may use is named by the packages, and loaded when it is used."""

import subprocess
import sys
from importlib import import_module

import pytest

PACKAGES = ("ledger", "ledger.verify", "replay", "audit_reports")


@pytest.mark.parametrize("package", PACKAGES)
def test_each_public_name_is_that_of_the_module_that_defines_it(package: str) -> None:
    face = import_module(f"shoeproof.{package}")
    assert face.__all__
    for name in face.__all__:
        defined = import_module(f"shoeproof.{package}.{face._PLACES[name]}")
        assert getattr(face, name) is getattr(defined, name)


@pytest.mark.parametrize("package", PACKAGES)
def test_another_name_is_an_attribute_error(package: str) -> None:
    with pytest.raises(AttributeError, match=f"'shoeproof.{package}' has no attribute 'nothing'"):
        _ = import_module(f"shoeproof.{package}").nothing


@pytest.mark.parametrize("package", ["ledger", "ledger.verify", "replay"])
def test_a_package_loads_nothing_before_it_is_used(package: str) -> None:
    asked = f"import sys, shoeproof.{package}; print(*{{m.split('.')[0] for m in sys.modules}})"
    loaded = subprocess.run(
        [sys.executable, "-c", asked], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"numpy", "pyarrow", "duckdb", "eventsourcing", "cryptography"} & set(loaded)
