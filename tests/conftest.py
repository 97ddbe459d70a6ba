from hypothesis import settings

# The inherited profile draws the same examples each time on CI. How long one takes says more about the machine.
settings.register_profile("isthmus", settings(deadline=None, print_blob=True))
settings.load_profile("isthmus")
