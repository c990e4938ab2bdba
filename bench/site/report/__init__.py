"""What a measurement prints."""
