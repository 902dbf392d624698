"""Made-up regions after the datasets of the paper."""
