"""Formatted texts between platforms: Markdown to safe HTML and back. Pure functions over untrusted texts."""

from agent.markup.html import to_html
from agent.markup.markdown import to_markdown

__all__ = ["to_html", "to_markdown"]
