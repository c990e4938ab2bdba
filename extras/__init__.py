"""Extras: folders that can be deleted, each a Django app: see `articles.domain.extras`."""
