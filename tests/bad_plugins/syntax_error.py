class Plugin:
    name = "syntax_error"

    def start(self, core:
        pass
