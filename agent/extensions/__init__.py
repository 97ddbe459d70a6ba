"""How plugins and bridges are found, checked, ordered and called. Others use `plugin_host` and the two loaders."""
