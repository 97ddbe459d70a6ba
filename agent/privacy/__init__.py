"""Privacy level, blacklist and their check. They hold whether or not the privacy plugin is switched on."""
