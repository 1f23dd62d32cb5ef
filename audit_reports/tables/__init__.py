"""The tables in DuckDB: made, published, read and checked."""
