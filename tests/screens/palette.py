"""The colours of a plain dark chat."""

BACKGROUND = "#313338"
TEXT = "#dbdee1"
BRIGHT = "#f2f3f5"
DIM = "#a0a5ad"
EMBED = "#2b2d31"
EDGE = "#4e5058"
CODE = "#26282c"
FIELD = "#1e1f22"
LINK = "#54b8fb"
CHIP = "#3c4270"
CHIP_TEXT = "#c9cdfb"
TAG = "#5865f2"
PRIVATE = "#383a4d"
"""Behind what only one person sees."""
BUTTONS = {1: "#5865f2", 2: "#4e5058", 3: "#248046", 4: "#da373c", 5: "#4e5058"}
PEOPLE = ("#2f9e6e", "#b8741a", "#a2479b", "#3b82c4", "#8a5cd1")
AGENT = "#5865f2"
