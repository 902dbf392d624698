"""Compiled code only: arrays in, arrays out; no strings, I/O, logging or raising."""
