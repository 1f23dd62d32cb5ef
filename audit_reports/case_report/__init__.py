"""Case reports: one round, its evidence, verdict and remedies, for those who must be convinced."""
