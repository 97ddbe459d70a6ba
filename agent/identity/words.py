"""Which names a text may hold: every sequence of whole words, in the form under which names are compared."""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

from agent.identity.names import normalise

TEXT_LIMIT: Final = 2_000
"""Characters of a text that are looked at."""
PHRASES: Final = 4_000
"""At most so many sequences are asked for."""
_LONGEST: Final = 5
"""Words of a name."""
SHORTEST: Final = 2
"""Characters of a name: a single letter stands in every text."""
_EDGE: Final = re.compile(r"^[^\w]+|(?:['\u2019]s)?[^\w]+$|['\u2019]s$")
# Scripts that set no space between words: there every short run of characters may be a name.
UNSPACED: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+"
)
_LONGEST_UNSPACED: Final = 8


def phrases(text: str) -> frozenset[str]:
    """Return the normalised sequences of whole words in the first 2,000 characters of a text."""
    words = [normalise(word) for word in text[:TEXT_LIMIT].split()]
    words = [word for word in words if word]
    found: dict[str, None] = {}
    for start in range(len(words)):
        for end in range(start + 1, min(start + _LONGEST, len(words)) + 1):
            phrase = " ".join(words[start:end])
            found[phrase] = None
            found[_EDGE.sub("", phrase)] = None
    for run in UNSPACED.findall(" ".join(words)):
        for start in range(len(run)):
            for end in range(start + SHORTEST, min(start + _LONGEST_UNSPACED, len(run)) + 1):
                found[run[start:end]] = None
    return frozenset(islice((phrase for phrase in found if len(phrase) >= SHORTEST), PHRASES))
