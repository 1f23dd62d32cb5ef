"""Case reports: one round, its evidence, verdict and remedies, for whoever has to be convinced."""
