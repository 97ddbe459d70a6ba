"""Pictures of what people see in Discord, drawn from what the agent really posts: `python -m tests.screens`."""
