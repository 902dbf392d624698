"""The paper's evaluation, on anybody's data."""
