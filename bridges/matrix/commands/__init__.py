"""Commands in rooms: typed behind a prefix, answered with notices, confirmed by reactions or replies."""
