"""The search port, and the dense search behind it."""
