"""HTML as Markdown, in the form that Discord reads: unknown elements go, their texts stay."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Final
from urllib.parse import unquote

type Named = Callable[[str, str], str]
"""Returns how somebody is named, given the id of a link to that person and the link's text."""

_MARKS: Final = {
    "b": "**",
    "strong": "**",
    "i": "*",
    "em": "*",
    "u": "__",
    "ins": "__",
    "s": "~~",
    "del": "~~",
    "strike": "~~",
}
_BLOCKS: Final = frozenset({"p", "div", "table", "ul", "ol", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "details"})
_HEADS: Final = {"h1": "# ", "h2": "## ", "h3": "### ", "h4": "**", "h5": "**", "h6": "**"}
_SILENT: Final = frozenset({"mx-reply", "script", "style", "head", "title", "template"})
_BETWEEN: Final = frozenset({"ul", "ol", "table", "thead", "tbody", "tr"})
"""Within these white space stands between elements and says nothing."""
_VOID: Final = frozenset({"br", "hr", "img", "input", "meta", "link", "wbr"})
_PERSON: Final = re.compile(r"(?:https://matrix\.to/#/|matrix:u/)((?:@|%40)?[^?]+)")
_WEB: Final = re.compile(r"(?:https?|mailto):", re.IGNORECASE)
_SIGNS: Final = re.compile(r"(https?://[^\s<>]+)|([\\*_~`|])")
_STARTS: Final = re.compile(r"^(\s*)(#{1,3} |>|[-+] |-# |\d{1,9}\. )", re.MULTILINE)
_DEEPEST: Final = 100


def to_markdown(html: str, named: Named = lambda _, label: label) -> str:
    """Return HTML as Markdown; signs of Markdown within texts are escaped, so that they stay what they are.

    Args:
        html: What a client formatted: anything at all.
        named: Names those whom links to people speak of.

    """
    writer = _Writer(named)
    writer.feed(html.replace("\x00", ""))
    writer.close()
    return writer.result()


def escaped(text: str) -> str:
    """Return a text in which no sign means formatting; addresses stay as they are."""
    plain = _SIGNS.sub(lambda found: found[1] or f"\\{found[2]}", text)
    return _STARTS.sub(lambda found: f"{found[1]}\\{found[2]}", plain)


@dataclass(slots=True)
class _Open:
    """An element that is being read: what it is, and what stands in it so far."""

    tag: str
    attributes: dict[str, str]
    parts: list[str] = field(default_factory=list)
    count: int = 0


class _Writer(HTMLParser):
    def __init__(self, named: Named) -> None:
        super().__init__(convert_charrefs=True)
        self._named = named
        self._open = [_Open("", {})]
        self._silent = 0
        self._code = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        if tag in _VOID:
            self._void(tag, attributes)
            return
        if len(self._open) > _DEEPEST:
            return
        self._silent += tag in _SILENT
        self._code += tag in {"code", "pre"}
        self._open.append(_Open(tag, attributes))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if not any(each.tag == tag for each in self._open[1:]):
            return
        while self._close() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if self._silent or (not data.strip() and self._open[-1].tag in _BETWEEN):
            return
        if self._code:
            self._write(data)
        else:
            self._write(escaped(re.sub(r"\s+", " ", data)))

    def result(self) -> str:
        """Return what was written, whatever was left open."""
        while len(self._open) > 1:
            self._close()
        text = "".join(self._open[0].parts)
        return re.sub(r"[ \t]*\n[ \t]*\n(?:[ \t]*\n)+", "\n\n", text).strip()

    def _write(self, text: str) -> None:
        self._open[-1].parts.append(text)

    def _void(self, tag: str, attributes: dict[str, str]) -> None:
        if self._silent:
            return
        if tag == "br":
            self._write("\n")
        elif tag == "hr":
            self._write("\n\n———\n\n")
        elif tag == "img":
            self._write(escaped(attributes.get("alt") or attributes.get("title") or ""))

    def _close(self) -> str:
        """Close the innermost element and write it into the one around it; return which it was."""
        done = self._open.pop()
        self._silent -= done.tag in _SILENT
        self._code -= done.tag in {"code", "pre"}
        if not self._silent and done.tag not in _SILENT:
            self._write(self._formatted(done, "".join(done.parts)))
        return done.tag

    def _formatted(self, done: _Open, text: str) -> str:
        tag = done.tag
        if tag in _MARKS or "data-mx-spoiler" in done.attributes:
            return _marked(text, _MARKS.get(tag, "||"))
        match tag:
            case "pre":
                return f"\n```{_language(text)}\n{_within_pre(text).strip(chr(10))}\n```\n"
            case "code":
                return self._code_of(done, text)
            case "a":
                return self._link(done.attributes.get("href", ""), text)
            case "li":
                return self._item(text)
            case _:
                return _block(tag, text)

    def _code_of(self, done: _Open, text: str) -> str:
        if any(each.tag == "pre" for each in self._open):
            language = done.attributes.get("class", "").partition("language-")[2].split(" ")[0]
            return f"\x00{language}\x00{text}" if re.fullmatch(r"[\w+#.-]{1,30}", language) else text
        fence = "``" if "`" in text else "`"
        return f"{fence}{text}{fence}" if text.strip() else text

    def _item(self, text: str) -> str:
        above = self._open[-1]
        above.count += 1
        sign = f"{above.count}." if above.tag == "ol" else "-"
        lines = text.strip().splitlines() or [""]
        return "\n".join([f"{sign} {lines[0]}", *(f"  {line}" for line in lines[1:])]) + "\n"

    def _link(self, address: str, text: str) -> str:
        if (person := _PERSON.match(address)) is not None:
            user = unquote(person[1])
            user = user if user.startswith(("@", "!", "#", "$")) else f"@{user}"
            return self._named(user, text) if user.startswith("@") else text
        if not _WEB.match(address) or re.search(r"[\s<>()]", address):
            return text
        return address if text.strip() in {"", address} else f"[{text}]({address})"


def _block(tag: str, text: str) -> str:
    inner = text.strip()
    if tag == "blockquote":
        return "\n" + "\n".join(f"> {line}" for line in inner.splitlines()) + "\n"
    if tag in {"td", "th"}:
        return f"{inner} | "
    if tag == "tr":
        return f"| {inner}\n"
    if (head := _HEADS.get(tag)) is not None:
        return f"\n\n{head}{inner}{head if head == '**' else ''}\n\n"
    return f"\n\n{inner}\n\n" if tag in _BLOCKS else text


def _language(text: str) -> str:
    return text.split("\x00")[1] if text.startswith("\x00") else ""


def _within_pre(text: str) -> str:
    body = text.split("\x00", 2)[2] if text.startswith("\x00") else text
    return body.replace("```", "`\u200b``")


def _marked(text: str, mark: str) -> str:
    """Return a text between marks, which must touch it."""
    inner = text.strip()
    if not inner:
        return text
    start = len(text) - len(text.lstrip())
    return f"{text[:start]}{mark}{inner}{mark}{text[start + len(inner) :]}"
