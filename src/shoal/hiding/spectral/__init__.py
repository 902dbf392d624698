"""The selector ``spectral``, the paper's own: selector.py decides all windows, clustering.py clusters an epoch."""
