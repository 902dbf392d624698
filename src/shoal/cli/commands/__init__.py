"""The commands, one in each file: parse, call, print; no logic."""
