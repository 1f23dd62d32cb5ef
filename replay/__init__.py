"""What the events mean: cards, rules, the live table, replay and judgement."""
