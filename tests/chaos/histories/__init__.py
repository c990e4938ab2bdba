"""What clients did and were answered, and whether a store that loses and invents nothing can have answered so."""
