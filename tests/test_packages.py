from importlib.metadata import entry_points


def test_the_command_is_installed() -> None:
    (script,) = entry_points(group="console_scripts", name="isthmus")
    assert script.value == "agent.cli:main"
