"""Disputes: from the evidence of one round to the remedy that governs and the events that pay."""
