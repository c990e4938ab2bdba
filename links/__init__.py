"""What a posted link brings along: its title, fetched by a process that can do nothing else."""
