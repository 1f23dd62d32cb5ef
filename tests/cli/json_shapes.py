"""What `--json` prints, held to the schema of its command."""

import json
from functools import cache
from importlib.resources import files
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from shoeproof.cli import schemas
from tests.cli.command_tree import called

LINES = ["adjudicate"]
"""The command that prints a line of JSON for each file, which is a document of its own."""


SCHEMAS: dict[str, Any] = {
    each.name: json.loads(each.read_text(encoding="utf-8"))
    for each in files(schemas).iterdir()
    if each.name.endswith(".json")
}
"""Every schema by the name of its file."""


def schema_name(path: tuple[str, ...]) -> str:
    """Return the name of the file that has a command's schema."""
    return f"{'-'.join(path)}.json"


@cache
def validator(name: str) -> Draft202012Validator:
    """Return what holds a document to the schema in a file of this name."""
    known: Registry[Any] = Registry().with_resources(
        (each, Resource.from_contents(schema)) for each, schema in SCHEMAS.items()
    )
    return Draft202012Validator(SCHEMAS[name], registry=known)


def check_json(words: list[str], code: int, out: str) -> None:
    """Fail where what a command printed is not as its schema, or its `sound` not as its exit code.

    A document that says whether all is `sound` says true exactly where the exit code is 0; one that
    does not is of a command that found nothing.
    """
    path = called(words)
    if "--json" not in words or path is None or not out.strip():
        return
    documents = [json.loads(each) for each in (out.splitlines() if [*path] == LINES else [out])]
    for document in documents:
        error = next(validator(schema_name(path)).iter_errors(document), None)
        assert error is None, f"{' '.join(words)}: {error}"
    sound = all(each.get("sound", True) for each in documents if isinstance(each, dict))
    assert sound == (code == 0), f"{' '.join(words)} ended with {code}"
