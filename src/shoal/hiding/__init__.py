"""Who hides whom: presence patterns, neighbours, the cheapest k-pick, reuse."""
