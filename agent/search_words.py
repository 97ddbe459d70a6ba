"""The words by which a text is found, the same for what is kept and for what is asked.

They stand in a column of type tsvector, written with `array_to_tsvector`: the `simple` configuration, except that texts
are cut into words here and not by PostgreSQL's parser, which knows no words in languages without spaces and takes apart
what it believes to be an address. A run of such a script is kept as pairs of neighbouring characters, so that any word
within it is found. Writing differences fold: width, case, and the accents of Latin, Greek and Cyrillic.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterator
from typing import Final

import regex

LONGEST_WORD: Final = 40
"""What is kept of a longer one, in characters."""
MOST_WORDS: Final = 4_000
"""Of one text that is kept; a page of prose has 500."""
MOST_TERMS: Final = 24
"""Of one question."""

#: Words that join others, in some languages of people who chat: they are kept as any word, and not looked for.
_JOINING: Final = frozenset(
    """
    about after again all also am an and any are as at be because been before being but by can could did do does
    doing don for from get got had has have having he her here hers him his how if in into is it its itself just ll
    me more most my no not of off on once only or other our out over own re same she should so some such than that
    the their them then there these they this those through to too under until up us ve very was we were what when
    where which while who whom whose why will with would yes you your yours
    aber alle als also am auch auf aus bei bin bis bist da damit dann das dass dein dem den denn der des dich dies
    diese dieser dir doch du ein eine einem einen einer eines er es etwas euch euer fur hab habe haben hat hatte hier
    ich ihm ihn ihnen ihr im in ins ist ja jetzt kann kein keine mal man mehr mein mich mir mit nach nein nicht noch
    nur ob oder ohne schon sehr sein seine sich sie sind so uber um und uns unser vom von vor waren warum was wann
    weil welche wenn wer wie wieder wir wird wo zu zum zur
    ai au aux avec ce ces cet cette dans de des du elle elles en est et eu il ils je la le les leur lui ma mais me
    mes moi mon ne nos notre nous on ont ou par pas pour qu que quel quelle qui sa sans se ses son sont sur ta te tes
    toi ton tu un une vos votre vous
    al algo como con cual cuando de del donde el ella ellos en es esa ese eso esta este esto ha hay he la las lo
    los mas me mi muy nada no nos o para pero por porque que quien se ser si sin sobre son su sus tambien te tiene
    tu tus un una uno y ya yo
    che chi ci col cosa da dei della delle di dove e gli ho i il io loro lui mi nei nella non o per perche piu
    quale quando questo se sei si sono sua sul suo ti tra tuo un una
    ao as com da das dele do dos e ela ele em entre essa esse eu foi isso isto ja mais mas meu na nao nas nem nos
    num o os ou para pela pelo por qual quem seu sua so tem um uma voce
    aan dat de deze dit een en er geen haar heb het hij hoe hun ik is je jij kan maar met mij mijn naar niet
    nog of om onder ook op te toch uit van voor waar wat we wel wie wij worden zal ze zich zij zijn zo
    です でし ます まし した して てい いる ある する から まで には では この その あの どの どこ いつ
    什么 哪里 怎么 这个 那个 我们 你们 他们 的是
    """.split()  # noqa: SIM905 - a table of a thousand strings would be no easier to read
)
_ACCENT = regex.compile(r"[\u0300-\u036f]+")
_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー々"
#: A run of a script without spaces, or letters and digits; C++ and C# are words as well.
_WORD = regex.compile(
    rf"(?P<unspaced>[{_UNSPACED}][{_UNSPACED}\p{{M}}]*)|[\p{{L}}\p{{N}}--[{_UNSPACED}]]"
    rf"(?:[\p{{L}}\p{{N}}\p{{M}}--[{_UNSPACED}]]+|[+\#]{{1,2}}(?![\p{{L}}\p{{N}}]))?",
    regex.V1,
)


def fold(text: str) -> str:
    """Return the text without differences of width, case and accent."""
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return unicodedata.normalize("NFC", _ACCENT.sub("", folded))


def words(text: str) -> Iterator[str]:
    """Yield the words of a text in their order, folded; of scripts without spaces, pairs of characters."""
    for match in _WORD.finditer(fold(text)):
        found = match[0]
        if match["unspaced"] is None or len(found) == 1:
            yield found[:LONGEST_WORD]
        else:
            yield from (found[begin : begin + 2] for begin in range(len(found) - 1))


def words_to_keep(*texts: str) -> list[str]:
    """Return the distinct words of texts (names too), for `array_to_tsvector($1::text[])`."""
    return list(_distinct(texts, MOST_WORDS))


def with_names(text: str, *names: str) -> str:
    """Return what is embedded of a text that is kept: the names of whom it is by and about, then the text."""
    return f"{', '.join(dict.fromkeys(names))}: {text}" if names else text


def terms(question: str, frequent: Collection[str] = frozenset(), most: int = MOST_TERMS) -> list[str]:
    """Return the distinct words to look for.

    Left out are single letters, words that only join others, and the frequent ones, as long as others remain.
    """
    asked = list(_distinct((question,), MOST_WORDS))
    for is_dull in (_is_letter, _JOINING.__contains__, frequent.__contains__):
        asked = [word for word in asked if not is_dull(word)] or asked
    return asked[:most]


def _is_letter(word: str) -> bool:
    return len(word) == 1 and word.isascii() and word.isalpha()


def any_of(words: Collection[str]) -> str:
    """Return the query, for `$1::text::tsquery`, that a row answers which holds one of the words."""
    return " | ".join(quoted(word) for word in words)


def quoted(word: str) -> str:
    """Return a word as it stands in the text of a tsquery."""
    return "'" + word.replace("\\", "\\\\").replace("'", "''") + "'"


def _distinct(texts: Collection[str], most: int) -> Iterator[str]:
    seen: set[str] = set()
    for text in texts:
        for word in words(text):
            if word not in seen:
                seen.add(word)
                yield word
                if len(seen) == most:
                    return
