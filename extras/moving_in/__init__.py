"""Moving in from another site with members, history and addresses."""
