"""Files of other programs, read into the same entries as our own."""
