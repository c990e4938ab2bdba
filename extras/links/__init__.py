"""Titles of links: what a posted link brings along, fetched by a process that can do nothing else."""
