"""What comes from outside and what goes to the disk, handled with care."""
