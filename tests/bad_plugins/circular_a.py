class Plugin:
    name = "circular_a"
    requires = ("circular_b",)
