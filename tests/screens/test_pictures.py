"""The pictures of the documentation are what the agent posts now, and each is shown somewhere."""

from functools import partial
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.screens.__main__ import FOLDER
from tests.screens.scenes import SCENES, Scene

PAGES = [*FOLDER.parents[1].glob("*.md"), FOLDER.parents[2] / "README.md"]


def name_of(scene: Scene) -> str:
    return str(scene.args[0].__name__) if isinstance(scene, partial) else "terminal"


@pytest.mark.parametrize("scene", SCENES, ids=name_of)
async def test_the_pictures_show_what_is_posted(scene: Scene, database_url: str) -> None:
    drawn = await scene(database_url)
    kept = {name: (FOLDER / f"{name}.svg").read_text("utf-8") for name in drawn if (FOLDER / f"{name}.svg").exists()}
    changed = sorted(name for name in drawn if drawn[name] != kept.get(name))
    assert changed == [], "look at what changed, and draw it anew: python -m tests.screens"


def test_each_picture_is_shown_and_said_in_words() -> None:
    text = "".join(page.read_text("utf-8") for page in PAGES)
    names = {path.name for path in FOLDER.glob("*.svg")}
    assert {name for name in names if f"images/discord/{name})" not in text} == set()


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.svg")), ids=lambda path: path.stem)
def test_a_picture_is_whole_and_fetches_nothing(path: Path) -> None:
    text = path.read_text("utf-8")
    assert ET.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"  # noqa: S314 - these are our own
    assert "url(http" not in text
    assert "href" not in text
