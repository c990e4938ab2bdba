"""Faults of a site on several machines: their stores and web nodes are processes here, their lines proxies."""
