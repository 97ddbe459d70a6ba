"""Whether a question shares a content word with the turns that answer it: stop words and simple stems of a language.

This only sorts questions into classes; no ranking uses it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from agent.search_words import fold, words

_STOP_WORDS: Final = {
    "en": """
        a about after again all already also always am an and another any anybody anyone anything are around as at away
        back be because been before being below between both but by came can cant come could d did didnt do does
        doesnt doing done dont down during each either else end ended ever every everybody everyone everything few for
        from get gets getting go goes going gone got gotta had has have having he her here hers him his how i if im in
        instead into is isnt it its ive just keep kept let like ll made make makes many may me might more most much must
        my name named need needs never no nobody not nothing now of off often ok on once one only or other our out over
        own please put re s said same say says shall she should since so some somebody someone something still such
        take takes than that the their them then there these they thing things this those though through till to
        together too under until up us use used ve very via want wants was we well went were what when where which while
        who whom whose why will with without wont would yes yet you your
    """,
    "de": """
        ab aber alle allem allen aller alles als also am an andere anderen anders auch auf aus bei beim bin bis bist da
        dafur damit dann daran das dass dein deine dem den denn der des deshalb die dies diese diesem dieser dieses doch
        dort du durch ein eine einem einen einer eines einfach einmal er erst es etwas euch euer fur ganz gar geht gibt
        hab habe haben hast hat hatte her hier hin hinter ich ihm ihn ihnen ihr ihre im immer in ins ist ja jede jeden
        jeder jetzt kann kein keine keinen konnen konnte lassen machen macht gemacht mal man mein meine mich mir mit
        mehr muss mussen nach nein nicht nichts noch nun nur ob oder ohne schon sein seine selber sich sie sind so soll
        sonst sollte tun tut uber um und uns unser unsere unter vom von vor wann war waren warum was weg weil welche
        welchem welchen welcher welches wem wen wenn wer werden wessen weshalb wie wieder will wird wir wirklich wo
        wofur woher wohin womit worauf wurde zu zum zur zwischen
    """,
    "es": """
        a adonde al algo alguien alguna alguno alli ante antes ano aquel aqui asi aun aunque bien cada casi como con
        contra cosa cosas cual cuales cualquier cuando cuanta cuantas cuanto cuantos da dan de debe del desde despues
        donde dos e el ella ellas ellos en entonces entre era eres es esa ese eso esta estaba estamos estan estar este
        esto fue ha hace hacer haces hacia hago han has hasta hay he hecho hemos hizo ir la las le les lo los mas me mi
        mis mucho muy nada ni no nos nosotros nuestra nuestro nunca o os otra otro para pero poco por porque pues que
        quien quienes se sea ser si sido siempre sin sobre solo somos son soy su sus tambien te tener tenia tiene
        tienen toca toda todas todo todos tu tus un una uno unos va vamos van vez ya yo
    """,
}
_ENDINGS: Final = {
    "en": ("ingly", "edly", "ings", "ies", "ied", "ing", "ers", "ed", "es", "er", "ly", "s", "y", "e"),
    "de": ("ungen", "ung", "eten", "ten", "ern", "em", "en", "er", "es", "te", "st", "e", "t", "n", "s"),
    "es": (
        *("amientos", "amiento", "aciones", "acion", "ando", "iendo", "ados", "adas", "idos", "idas", "ado", "ada"),
        *("ido", "ida", "aron", "ieron", "aba", "ar", "er", "ir", "os", "as", "es", "an", "en", "o", "a", "e", "s"),
    ),
}
_SHORTEST_STEM: Final = 3

STOP_WORDS: Final = {language: frozenset(fold(text).split()) for language, text in _STOP_WORDS.items()}


def content_words(text: str, language: str) -> frozenset[str]:
    """Return the stems of the words that carry meaning; a language that is not known is taken for English."""
    stop = STOP_WORDS.get(language, STOP_WORDS["en"])
    plain = text.replace("'", "").replace("\u2019", "")
    return frozenset(
        stem(word, language) for word in words(plain) if word not in stop and (len(word) > 1 or not word.isascii())
    )


def stem(word: str, language: str) -> str:
    """Return the word without its first ending that leaves three letters, and without a doubled letter there."""
    for ending in _ENDINGS.get(language, _ENDINGS["en"]):
        root = word.removesuffix(ending)
        if root != word and len(root) >= _SHORTEST_STEM:
            return root[:-1] if root[-1] == root[-2] and len(root) > _SHORTEST_STEM else root
    return word


def shares_word(question: str, evidence: Iterable[str], language: str) -> bool:
    """Tell whether the question has a content word in common with its evidence."""
    asked = content_words(question, language)
    return any(asked & content_words(text, language) for text in evidence)
