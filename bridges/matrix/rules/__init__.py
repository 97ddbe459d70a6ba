"""What Matrix's events and state mean: pure functions, without I/O and without a clock."""
