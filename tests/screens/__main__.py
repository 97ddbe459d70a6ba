"""Draw every picture anew: `python -m tests.screens`."""

import asyncio
from pathlib import Path

from agent.store.migration_sets import CORE, MigrationSet
from agent.testing.database import running_cluster
from tests.screens.scenes import SCENES

FOLDER = Path(__file__).parents[2] / "docs" / "images" / "discord"
MIGRATIONS = (CORE, MigrationSet("memory", "plugins.memory.migrations"))


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    pictures: dict[str, str] = {}
    with running_cluster() as cluster:
        template = cluster.create_template(MIGRATIONS)
        for scene in SCENES:
            with cluster.fresh(template) as url:
                pictures |= asyncio.run(scene(url))
    for old in FOLDER.glob("*.svg"):
        if old.stem not in pictures:
            old.unlink()
    for name, picture in pictures.items():
        (FOLDER / f"{name}.svg").write_text(picture, "utf-8")
        print(f"{name}.svg")  # noqa: T201 - this is what it is run for


if __name__ == "__main__":
    main()
