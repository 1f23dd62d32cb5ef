"""JSON Schemas of what each command prints with `--json`, a file a command."""
