"""What is recorded of disputes, and what counts as a fault."""
