class Plugin:
    name = "fails_to_build"

    def __init__(self):
        raise OSError("no such device")
