"""Compiled code of reading: the hash table that numbers names."""
