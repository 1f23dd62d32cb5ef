"""What a person types and reads; no logic of its own."""
