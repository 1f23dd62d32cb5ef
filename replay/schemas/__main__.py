"""`python -m shoeproof.replay.schemas`: write the schemas of events and of `.round` into their
files.
"""

import json
from pathlib import Path

from shoeproof.replay.schemas.events import events_schema
from shoeproof.replay.schemas.round_text import round_schema

if __name__ == "__main__":
    for name, schema in (("events", events_schema()), ("round", round_schema())):
        place = Path(__file__).with_name(f"{name}.schema.json")
        place.write_text(json.dumps(schema, indent=2) + "\n", encoding="utf-8")
