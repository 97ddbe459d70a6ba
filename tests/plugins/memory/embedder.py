"""An embedding model of one page: texts are near when they share words, or words that mean the same."""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

from agent.search_words import words

MEANINGS = {"drinks": "beverage", "tea": "beverage", "kitten": "animal", "cat": "animal"}


@dataclass
class WordEmbedder:
    name: str = "words"
    dimension: int = 64
    threshold: float = 0.3

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> list[float]:
        vector = [0.001] * self.dimension
        for word in words(text):
            digest = hashlib.blake2b(MEANINGS.get(word, word).encode(), digest_size=4).digest()
            vector[int.from_bytes(digest) % self.dimension] += 1
        length = math.hypot(*vector)
        return [number / length for number in vector]

    async def close(self) -> None:
        pass
