"""The report on realised RTP: what was returned, what should have been, and what that means."""
