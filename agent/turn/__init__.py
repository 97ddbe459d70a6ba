"""One reply: `flow.py` holds the steps in order and nothing else; one file a step."""
