"""The live table: rounds being played, interrupted and taken up again."""
