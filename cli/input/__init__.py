"""What several commands ask for."""
