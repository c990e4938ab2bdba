"""The ranking lab: moderators try other parameters on the live lists, apply them, and roll back."""
