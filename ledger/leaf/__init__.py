"""One leaf: what it says, and where its bytes stand."""
