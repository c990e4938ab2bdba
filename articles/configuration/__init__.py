"""Values in force: what the file, the environment and the owner in the browser have chosen."""
