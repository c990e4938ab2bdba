"""What a measurement prints and draws."""
