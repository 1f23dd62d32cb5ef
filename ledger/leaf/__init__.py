"""One leaf: where its bytes stand."""
