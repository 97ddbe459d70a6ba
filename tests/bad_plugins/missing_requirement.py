class Plugin:
    name = "missing_requirement"
    requires = ("nowhere",)
