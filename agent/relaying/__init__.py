"""What the core offers to a bridge that joins conversations of two platforms, without knowing either."""
