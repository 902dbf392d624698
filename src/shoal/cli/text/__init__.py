"""Results as lines of at most 80 columns."""
