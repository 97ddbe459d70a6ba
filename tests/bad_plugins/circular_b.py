class Plugin:
    name = "circular_b"
    requires = ("circular_a",)
