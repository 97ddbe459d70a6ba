"""One package a platform, each translating between it and the core."""
