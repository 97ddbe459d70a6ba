import time
from pathlib import Path

import pytest

from agent.confusables_extract import main, published, written
from agent.identity.confusables import FILE, prototypes, unicode_version

PUBLISHED = """\
# confusables.txt
# Version: 17.0.0

0430 ;\t0061 ;\tMA\t# ( а → a ) CYRILLIC SMALL LETTER A → LATIN SMALL LETTER A\t#
FF41 ;\t0061 ;\tMA\t# ( ａ → a ) FULLWIDTH LATIN SMALL LETTER A → LATIN SMALL LETTER A\t# →а→
006D ;\t0072 006E ;\tMA\t# ( m → rn ) LATIN SMALL LETTER M → LATIN SMALL LETTER R, LATIN SMALL LETTER N\t#
"""


def test_the_table_is_whole() -> None:
    assert unicode_version() == "17.0.0"
    assert len(prototypes()) == 6565
    assert prototypes()[ord("а")] == "a"
    assert prototypes()[ord("m")] == "rn"
    assert FILE.read_text(encoding="ascii") == written(
        unicode_version(), {chr(source): target for source, target in prototypes().items()}
    )


def test_the_published_file_is_read() -> None:
    assert published(PUBLISHED) == ("17.0.0", {"а": "a", "ａ": "a", "m": "rn"})
    assert written(*published(PUBLISHED)).splitlines()[3:] == ["\\u0061\t\\u0430\\uff41", "\\u0072\\u006e\t\\u006d"]
    with pytest.raises(ValueError, match="no Unicode version"):
        published("0430 ;\t0061 ;\tMA\t#")


def test_the_file_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "confusables.txt"
    source.write_text(PUBLISHED, encoding="utf-8")
    monkeypatch.setattr("agent.confusables_extract.TARGET", tmp_path / "table.txt")
    assert main([str(source)]) == 0
    assert (tmp_path / "table.txt").read_text(encoding="ascii").endswith("\\u0072\\u006e\t\\u006d\n")


def test_reading_it_takes_a_few_milliseconds() -> None:
    def seconds() -> float:
        prototypes.cache_clear()
        began = time.thread_time()
        prototypes()
        return time.thread_time() - began

    assert min(seconds() for _ in range(5)) < 0.005
