"""Whether data look like people with phones: statistics, the bands they should lie in, and where they do not."""
