"""The tables of the message_proxy plugin."""
