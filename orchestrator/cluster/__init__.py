"""Fan trials out over Ray: slots are actors, each of which owns one runner."""
