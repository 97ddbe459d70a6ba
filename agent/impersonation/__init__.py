"""Answers in the style of somebody who takes part: asked for one at a time, and only of who allows it."""
