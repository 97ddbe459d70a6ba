class Plugin:
    name = "duplicate"
