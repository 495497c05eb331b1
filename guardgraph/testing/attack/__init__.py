"""Attacks on an agent: hostile and obedient models, poisoned results, and what came of them, judged without guards."""
