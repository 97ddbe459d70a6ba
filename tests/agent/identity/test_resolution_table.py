"""Who is meant, as a specification: for each cast of people, what each name comes to.

A result reads `1 name` (account 1, decided by the name), `bridge 6 mention relay`, `self bot`, `not found`, or
`ambiguous 1,3`: who is listed, first those who bear the name, then those whose name looks like it. Who stands in `here`
takes part in the conversation, and the first of them speaks.
"""

import pytest

from agent.contracts.people import PrivacyLevel
from agent.identity.keys import ParticipantKind
from tests.agent.identity.builders import account
from tests.agent.identity.casts import Cast, short

FULL, PARTIAL = PrivacyLevel.FULL, PrivacyLevel.PARTIAL
MATRIX, WEBHOOK = ParticipantKind.MATRIX_USER, ParticipantKind.WEBHOOK
EDGE = "18446744073709551615"
"""The greatest number of 64 bits."""

ANA = account(1, "Ana", username="ana.m")
BEN = account(2, "Ben", username="ben_b")
EVE = account(4, "Eve", username="eve")
MAT = account(6, "Mat", external_id="@mat:example.org", kind=MATRIX, user=None)

TABLE: dict[str, tuple[Cast, dict[str, str]]] = {
    "Ben speaks, Ana listens, Eve and Mat are members": (
        Cast((BEN, ANA), (EVE, MAT)),
        {
            # The name in any case, width and spacing.
            "Ana": "1 name",
            "ana": "1 name",
            "ANA": "1 name",
            "aNa": "1 name",
            " Ana ": "1 name",
            "\tAna\n": "1 name",
            "@Ana": "1 name",
            "@@ana": "1 name",
            "@ ana": "1 name",
            "Ａｎａ": "1 name",
            "𝐀𝐧𝐚": "1 name",
            "𝒶𝓃𝒶": "1 name",
            "ⓐⓝⓐ": "1 name",
            "A\u200bna": "1 name",
            "\ufeffAna": "1 name",
            "A\u00adna": "1 name",
            "Ana\ufe0f": "1 name",
            "\u202eAna": "1 name",
            "\u2067Ana\u2069": "1 name",
            "An\x00a": "1 name",
            # Every kind of name.
            "ana.m": "1 name",
            "ANA.M": "1 name",
            "@ana.m": "1 name",
            "Eve": "4 name",
            "EVE": "4 name",
            "ben_b": "2 name",
            "Mat": "bridge 6 name relay",
            # Mentions and references by id.
            "<@1>": "1 mention",
            "<@!1>": "1 mention",
            " <@1> ": "1 mention",
            "<@4>": "4 mention",
            "discord_user:4": "4 mention",
            "@mat:example.org": "bridge 6 mention relay",
            "<@@mat:example.org>": "bridge 6 mention relay",
            "matrix_user:@mat:example.org": "bridge 6 mention relay",
            "<@999>": "self mention",
            "bot:999": "self mention",
            # Ids of nobody here, of another kind, or not written as a mention.
            "<@77>": "not found",
            "<@!77>": "not found",
            "<@01>": "not found",
            "<@ 1>": "not found",
            "<@-1>": "not found",
            "<@0>": "not found",
            f"<@{EDGE}>": "not found",
            f"<@{EDGE}0>": "not found",
            "<@9223372036854775807>": "not found",
            "matrix_user:4": "not found",
            "webhook:4": "not found",
            "persona:1": "not found",
            "console_user:1": "not found",
            "@ana:example.org": "not found",
            "@mat:example.com": "not found",
            "@MAT:example.org": "not found",
            "<@1> <@2>": "not found",
            "<@&1>": "not found",
            "<#1>": "not found",
            "1": "not found",
            "4": "not found",
            "@4": "not found",
            "999": "not found",
            "٤": "not found",
            # Handles.
            "@{ana}": "1 handle",
            "@{ben}": "2 handle",
            "@{Ana}": "1 handle",
            "@{eve}": "4 name",
            "@{nobody}": "not found",
            "@{ana~2}": "not found",
            "ana~2": "not found",
            "@{}": "not found",
            "@{": "not found",
            "{ana}": "not found",
            # The speaker.
            "me": "2 speaker",
            "Me": "2 speaker",
            "@me": "2 speaker",
            "ME": "2 speaker",
            "ben": "2 speaker",
            "Ben": "2 speaker",
            "myself": "not found",
            "I": "not found",
            # The agent.
            "{bot}": "self bot",
            "Mirri": "self bot",
            "mirri": "self bot",
            "@Mirri": "self bot",
            "@{mirri}": "self bot",
            "{Bot}": "not found",
            "M\u0456rri": "not found",
            # Words that mean several, or whoever speaks.
            "everyone": "not found",
            "@everyone": "not found",
            "here": "not found",
            "@here": "not found",
            "@room": "not found",
            "user": "not found",
            "{user}": "not found",
            "bot": "not found",
            # In brackets and quotes.
            "(Ana)": "1 affix",
            "[Ana]": "1 affix",
            "<Ana>": "1 affix",
            '"Ana"': "1 affix",
            "'ana'": "1 affix",
            "`ana`": "1 affix",
            "**Ana**": "1 affix",
            "«Ana»": "1 affix",
            "“Ana”": "1 affix",
            "„Ana“": "1 affix",
            "([Ana])": "1 affix",
            "(<@4>)": "4 affix",
            "(@{ana})": "1 affix",
            "(me)": "2 affix",
            "(Mirri)": "self affix",
            "(Ana": "not found",
            "Ana)": "not found",
            "(Nobody)": "not found",
            "()": "not found",
            "[<@77>]": "not found",
            # Near is not enough.
            "Anna": "not found",
            "An": "not found",
            "Ana M": "not found",
            "ana.": "not found",
            "Diana": "not found",
            "Aná": "not found",
            "A\u0301na": "not found",
            "Än\u0430": "not found",
            "Ana and Ben": "not found",
            "Ana,Ben": "not found",
            "An\na": "not found",
            "An a": "not found",
            "Anа": "not found",  # the last letter is Cyrillic
            "Аnа": "not found",
            "Αna": "not found",  # the first letter is Greek
            "master Ana": "not found",
            # Nothing, or nothing visible.
            "": "not found",
            " ": "not found",
            "\n": "not found",
            "@": "not found",
            "@@": "not found",
            "\u200b": "not found",
            "\u200b\u200d\u2060": "not found",
            "\u202e": "not found",
            "\u3164": "not found",
            "\u2800": "not found",
            "\x00": "not found",
            "\ud800": "not found",
            "\U000e0041": "not found",
            # Other things that are no names.
            "🦊": "not found",
            "Ana" * 400: "not found",
            "a" * 1000: "not found",
            "%": "not found",
            "_" * 3: "not found",
            "'; DROP TABLE names": "not found",
            "(?i)ana": "not found",
            "ana*": "not found",
        },
    ),
    "two people are called Ana, and both take part": (
        Cast((BEN, ANA, account(3, "ana", username="second"))),
        {
            "Ana": "ambiguous 1,3",
            "ana": "ambiguous 1,3",
            "Ａna": "ambiguous 1,3",
            "(Ana)": "ambiguous 1,3",
            "@{ana}": "1 handle",
            "@{ana~2}": "3 handle",
            "ana~2": "3 handle",
            "ANA~2": "3 handle",
            "@ana~2": "3 handle",
            "ana~3": "not found",
            "ana~1": "not found",
            "<@3>": "3 mention",
            "second": "3 name",
            "ana.m": "1 name",
        },
    ),
    "two people are called Ana, and one of them takes part": (
        Cast((BEN, ANA), (account(3, "ana", username="second"),)),
        {"Ana": "1 label", "@{ana}": "1 handle", "<@3>": "3 mention", "second": "3 name", "ana~2": "not found"},
    ),
    "two people are called Ana, and neither takes part": (
        Cast((BEN,), (ANA, account(3, "Ana"))),
        {"Ana": "ambiguous 1,3", "@{ana}": "ambiguous 1,3", "ana.m": "1 name", "<@1>": "1 mention"},
    ),
    "one of two Anas speaks": (
        Cast((ANA, account(3, "Ana"))),
        {"me": "1 speaker", "ana": "1 speaker", "@{ana}": "1 handle", "ana~2": "3 handle", "Ana": "1 speaker"},
    ),
    "the other of two Anas speaks": (
        Cast((account(3, "Ana"), ANA)),
        {"me": "3 speaker", "ana": "ambiguous 1,3", "ana~2": "3 handle", "@{ana}": "1 handle"},
    ),
    "somebody takes another's username as a nickname": (
        Cast((EVE,), (account(2, "Benjamin", username="ben"), account(5, "ben", username="thief"))),
        {"ben": "ambiguous 2,5", "Benjamin": "2 name", "thief": "5 name", "<@2>": "2 mention", "<@5>": "5 mention"},
    ),
    "somebody takes the username of one who takes part as a nickname": (
        Cast((EVE, account(2, "Benjamin", username="ben")), (account(5, "ben", username="thief"),)),
        {"ben": "ambiguous 2,5", "benjamin": "2 name", "@{benjamin}": "2 handle"},
    ),
    "a thief of a name takes part, and its bearer does not": (
        Cast((EVE, account(5, "ben", username="thief")), (account(2, "Benjamin", username="ben"),)),
        {"ben": "5 label", "@{ben}": "5 handle", "Benjamin": "2 name"},
    ),
    "Latin and Cyrillic letters look alike": (
        Cast((EVE, ANA), (account(3, "Аnа", username="imitator"),)),
        {
            "Ana": "ambiguous 1,3",
            "ana": "ambiguous 1,3",
            "Аnа": "ambiguous 3,1",
            "Anа": "not found",
            "(Ana)": "ambiguous 1,3",
            "@{ana}": "1 handle",
            "<@1>": "1 mention",
            "<@3>": "3 mention",
            "discord_user:3": "3 mention",
            "ana.m": "1 name",
            "imitator": "3 name",
        },
    ),
    "both of the twins take part": (
        Cast((EVE, ANA, account(3, "Аnа"))),
        {"Ana": "ambiguous 1,3", "Аnа": "ambiguous 3,1", "@{ana}": "1 handle", "@{аnа}": "3 handle"},
    ),
    "the twin speaks": (
        Cast((account(3, "Аnа"), ANA)),
        {"me": "3 speaker", "Аnа": "3 speaker", "Ana": "ambiguous 1,3", "<@1>": "1 mention"},
    ),
    "a letter looks like another as a capital only": (
        Cast((EVE,), (BEN, account(3, "Веn"), account(7, "Ivan"), account(8, "lvan"), account(9, "Rоsа"))),
        {
            "Ben": "ambiguous 2,3",
            "ben": "ambiguous 2,3",
            "Веn": "ambiguous 3,2",
            "Ivan": "ambiguous 7,8",
            "ivan": "ambiguous 7,8",
            "lvan": "ambiguous 8,7",
            "Rоsа": "9 name",
            "Rosa": "not found",
        },
    ),
    "Greek, Armenian, digits and ligatures look like Latin letters": (
        Cast(
            (EVE,),
            (
                account(10, "Nora"),
                account(11, "Νora"),
                account(12, "Oscar"),
                account(13, "0scar"),
                account(14, "Maria"),
                account(15, "Rnaria", username="rnaria"),
                account(16, "Tina"),
                account(17, "Тina"),
                account(18, "paul"),
                account(19, "ρaul"),
                account(20, "so"),
                account(21, "sօ"),
            ),
        ),
        {
            "Nora": "ambiguous 10,11",
            "Oscar": "ambiguous 12,13",
            "0scar": "ambiguous 13,12",
            "maria": "ambiguous 14,15",
            "rnaria": "ambiguous 15,14",
            "tina": "ambiguous 16,17",
            "Paul": "ambiguous 18,19",
            "so": "ambiguous 20,21",
            "<@15>": "15 mention",
        },
    ),
    "genuine names in other scripts": (
        Cast(
            (EVE, account(30, "Вера"), account(31, "Ольга", username="olga")),
            (
                account(32, "Дмитрий"),
                account(33, "Νίκος"),
                account(34, "محمد"),
                account(35, "さくら"),
                account(36, "김민준"),
                account(37, "王芳"),
                account(38, "Ёлка"),
                account(39, "İpek"),
                account(40, "Straße"),
                account(41, "שרה"),
                account(42, "José"),
                account(43, "Łukasz"),
                account(44, "Þóra"),
            ),
        ),
        {
            "Вера": "30 name",
            "вера": "30 name",
            "ВЕРА": "30 name",
            "@{вера}": "30 handle",
            "Ольга": "31 name",
            "olga": "31 name",
            "Дмитрий": "32 name",
            "дмитрии\u0306": "32 name",
            "Νίκος": "33 name",
            "ΝΊΚΟΣ": "33 name",
            "Νικος": "not found",
            "محمد": "34 name",
            "さくら": "35 name",
            "サクラ": "not found",
            "김민준": "36 name",
            "\u1100\u1175\u11b7민준": "36 name",
            "王芳": "37 name",
            "Ёлка": "38 name",
            "Елка": "not found",
            "i\u0307pek": "39 name",
            "STRASSE": "40 name",
            "שרה": "41 name",
            "Jose\u0301": "42 name",
            "Jose": "not found",
            "łukasz": "43 name",
            "Lukasz": "not found",
            "þóra": "44 name",
        },
    ),
    "a hidden person shares a name": (
        Cast((BEN, account(10, "Zoe")), (account(5, "Zoe", privacy=FULL), account(11, "Kim", privacy=FULL))),
        {
            "Zoe": "ambiguous 10",
            "@{zoe}": "10 handle",
            "<@5>": "5 mention",
            "Kim": "11 name",
        },
    ),
    "a hidden person looks like another": (
        Cast((BEN,), (account(10, "Zoe"), account(5, "Zое", privacy=FULL))),
        {"Zoe": "ambiguous 10", "Zое": "ambiguous 10", "<@10>": "10 mention"},
    ),
    "all who bear it are hidden": (
        Cast((BEN,), (account(10, "Zoe", privacy=FULL), account(11, "Zoe", privacy=FULL))),
        {"Zoe": "ambiguous "},
    ),
    "who restricts memories may be named": (
        Cast((BEN, account(10, "Pia", privacy=PARTIAL)), (account(11, "Pia", privacy=PARTIAL),)),
        {"Pia": "10 label", "@{pia}": "10 handle"},
    ),
    "a human bears the agent's name": (
        Cast((BEN, account(7, "Mirri", username="mirri"))),
        {
            "Mirri": "ambiguous 1,7",
            "mirri": "ambiguous 1,7",
            "@{mirri}": "ambiguous 1,7",
            "mirri~2": "7 handle",
            "{bot}": "self bot",
            "<@7>": "7 mention",
            "<@999>": "self mention",
        },
    ),
    "the human of the agent's name speaks": (
        Cast((account(7, "Mirri"),)),
        {"me": "7 speaker", "Mirri": "ambiguous 1,7", "mirri~2": "7 handle", "{bot}": "self bot"},
    ),
    "a human looks like the agent": (
        Cast((BEN,), (account(7, "Mіrri", username="m"),)),
        {"Mirri": "ambiguous 1,7", "Mіrri": "ambiguous 1,7", "{bot}": "self bot", "m": "7 name"},
    ),
    "a hidden human bears the agent's name": (
        Cast((BEN,), (account(7, "Mirri", privacy=FULL),)),
        {"Mirri": "ambiguous 1", "{bot}": "self bot"},
    ),
    "people are called by words with a meaning of their own": (
        Cast(
            (BEN, account(9, "me")),
            (account(10, "everyone"), account(11, "here"), account(12, "User"), account(13, "bot"), account(14, "I")),
        ),
        {
            "me": "2 speaker",
            "me~2": "9 handle",
            "<@9>": "9 mention",
            "everyone": "ambiguous 10",
            "@everyone": "ambiguous 10",
            "here": "ambiguous 11",
            "user": "ambiguous 12",
            "bot": "ambiguous 13",
            "{bot}": "self bot",
            "{user}": "not found",
            "<@10>": "10 mention",
            "I": "14 name",
        },
    ),
    "an operator asks from outside": (
        Cast((BEN,), (ANA,), speaker=False),
        {"me": "not found", "ben": "2 name", "Ana": "1 name", "{bot}": "self bot"},
    ),
    "digits, mentions and handles as names": (
        Cast(
            (BEN,),
            (
                account(20, "4"),
                account(4, "Eve"),
                account(21, "<@4>"),
                account(22, "@mat:example.org"),
                MAT,
                account(23, "ben~2"),
                account(24, "@{ben}"),
                account(25, "discord_user:4"),
                account(26, EDGE),
            ),
        ),
        {
            "4": "20 name",
            "@4": "20 name",
            "<@4>": "4 mention",
            "<@20>": "20 mention",
            "<@21>": "21 mention",
            "@mat:example.org": "bridge 6 mention relay",
            "ben~2": "23 name",
            "@{ben}": "2 handle",
            "discord_user:4": "4 mention",
            EDGE: "26 name",
            f"<@{EDGE}>": "not found",
        },
    ),
    "ids at the edges": (
        Cast(
            (BEN,),
            (
                account(50, "Max", external_id=EDGE),
                account(51, "Zero", external_id="0"),
                account(52, "One", external_id="1"),
            ),
        ),
        {
            f"<@{EDGE}>": "50 mention",
            "<@18446744073709551614>": "not found",
            "<@0>": "51 mention",
            "<@00>": "not found",
            "<@1>": "52 mention",
            "<@１>": "not found",
        },
    ),
    "the same digits of two kinds": (
        Cast(
            (BEN,),
            (
                account(40, "Fay", external_id="5"),
                account(41, "Gil", external_id="5", kind=WEBHOOK, user=None),
            ),
        ),
        {
            "<@5>": "ambiguous 5,5",
            "discord_user:5": "40 mention",
            "webhook:5": "bridge 41 mention webhook",
            "Fay": "40 name",
            "Gil": "bridge 41 name webhook",
        },
    ),
    "people of a bridge": (
        Cast(
            (BEN, MAT),
            (
                account(60, "Mat", username="mat_d"),
                account(61, "Lea", external_id="@lea:a.org", kind=MATRIX, user=None),
                account(62, "Lea", external_id="@lea:b.org", kind=MATRIX, user=None),
                account(63, "Uwe", external_id="@uwe:b.org", kind=MATRIX, user=63),
            ),
        ),
        {
            "Mat": "bridge 6 label relay",
            "@{mat}": "bridge 6 handle relay",
            "mat_d": "60 name",
            "Lea": "ambiguous @lea:a.org,@lea:b.org",
            "@lea:b.org": "bridge 62 mention relay",
            "Uwe": "63 name",
            "@uwe:b.org": "63 mention",
        },
    ),
    "one person with two accounts": (
        Cast(
            (BEN,),
            (
                account(70, "Kim", user=500, username="kim.k"),
                account(71, "Кim", user=500),
                account(72, "Kim B", user=500, privacy=PARTIAL),
            ),
        ),
        {"Kim": "70 name", "Кim": "71 name", "kim b": "72 name", "<@71>": "71 mention"},
    ),
    "names of every source": (
        Cast((BEN,), (ANA, EVE), more=((1, "Ana María"), (1, "Anita"), (4, "Evi"), (4, "ana m."))),
        {
            "Ana María": "1 name",
            "ana   maría": "1 name",
            "Anita": "1 name",
            "Evi": "4 name",
            "Ana M.": "4 name",
            "Ana M": "not found",
        },
    ),
    "names that show nothing, or hardly anything": (
        Cast(
            (account(80, "🦊"), account(81, "\u200b\u200d")),
            (account(82, "."), account(83, "🏳️‍🌈"), account(84, "x" * 64)),
        ),
        {
            "🦊": "80 speaker",
            "@🦊": "80 speaker",
            ".": "82 name",
            "🏳️‍🌈": "83 name",
            "🏳🌈": "83 name",
            "\u200b\u200d": "not found",
            "x" * 64: "84 name",
            "x" * 63: "not found",
            "x" * 65: "not found",
        },
    ),
    "a persona with affixes": (
        Cast(
            (BEN, ANA),
            (EVE, account(90, "Master Bo"), account(91, "Susan"), account(92, "アナ")),
            affixes=("master", "-chan", "san", "さん"),
        ),
        {
            "master Ana": "1 affix",
            "Master  ana": "1 affix",
            "master, Ana": "1 affix",
            "Ana-chan": "1 affix",
            "ana chan": "1 affix",
            "Eve-san": "4 affix",
            "master Eve-san": "4 affix",
            "(master Ana)": "1 affix",
            "master (Ana)": "1 affix",
            "アナさん": "92 affix",
            "master Mirri": "self affix",
            "Master Bo": "90 name",
            "master master bo": "90 affix",
            "Susan": "91 name",
            "Anasan": "not found",
            "masterAna": "not found",
            "master": "not found",
            "san": "not found",
            "master Nobody": "not found",
            "master <@4>": "4 affix",
            "master <@77>": "not found",
        },
    ),
    "somebody is called by a name in brackets, or with the affix": (
        Cast((BEN, ANA), (account(5, "(Ana)"), account(6, "master Eve"), EVE, account(7, "(Bo)")), affixes=("master",)),
        {
            "Ana": "1 name",
            "(Ana)": "ambiguous 5,1",
            "[Ana]": "1 affix",
            "master Ana": "1 affix",
            "master Eve": "ambiguous 6,4",
            "(master Eve)": "ambiguous 6,4",
            "(Bo)": "7 name",
            "Bo": "not found",
            "<@5>": "5 mention",
        },
    ),
    "an affix leads to twins": (
        Cast((BEN,), (ANA, account(3, "Аna"), account(5, "Ana")), affixes=("master",)),
        {"master Ana": "ambiguous 1,5", "master Аna": "ambiguous 3,1,5"},
    ),
    "somebody has left the server": (
        Cast((BEN,), (EVE,)),
        {"Ana": "not found", "<@1>": "not found", "ana.m": "not found", "discord_user:1": "not found"},
    ),
    "somebody has left the server, and the conversation still shows what was said": (
        Cast((BEN,), (EVE,), gone=(ANA,)),
        {"Ana": "1 name", "@{ana}": "1 handle", "<@1>": "1 mention", "ana.m": "not found"},
    ),
    "somebody is renamed in the middle of a turn": (
        Cast((BEN, ANA), (EVE,), renamed=(account(1, "Anita", username="ana.m"),)),
        {"Ana": "1 name", "Anita": "1 name", "@{ana}": "1 handle", "@{anita}": "1 name", "<@1>": "1 mention"},
    ),
    "somebody takes the name that another has just given up": (
        Cast((BEN, ANA), (account(5, "Ana"),), renamed=(account(1, "Anita", username="ana.m"),)),
        {"Ana": "1 label", "Anita": "1 name", "<@5>": "5 mention"},
    ),
    "somebody takes a name in the middle of a turn that looks like another's": (
        Cast((BEN, EVE), (ANA,), renamed=(account(4, "Аnа", username="eve"),)),
        {"Ana": "ambiguous 1,4", "Eve": "4 name", "@{eve}": "4 handle"},
    ),
    "one account speaks for two people": (
        Cast((BEN, ANA), (EVE,), proxied=((ANA, "uuid-lark", "Lark"), (ANA, "uuid-wren", "Wren"))),
        {
            "Lark": "1 name",
            "@{wren}": "1 handle",
            "<@uuid-wren>": "1 mention",
            "proxy_identity:uuid-lark": "1 mention",
            "discord_user:uuid-lark": "not found",
            "uuid-lark": "not found",
            "Ana": "1 name",
        },
    ),
    "a person who is spoken for bears another's name": (
        Cast((BEN, EVE), (ANA,), proxied=((BEN, "uuid-ana", "Ana"),)),
        {"Ana": "2 label", "<@1>": "1 mention", "<@uuid-ana>": "2 mention"},
    ),
    "a person who is spoken for looks like another": (
        Cast((BEN, EVE), (ANA,), proxied=((BEN, "uuid-ana", "Аnа"),)),
        {"Ana": "ambiguous 1,uuid-ana", "Аnа": "ambiguous uuid-ana,1", "<@1>": "1 mention"},
    ),
}
CASES = [(title, cast, name, expected) for title, (cast, names) in TABLE.items() for name, expected in names.items()]


def test_the_table_is_long() -> None:
    assert len(CASES) >= 200


@pytest.mark.parametrize(
    ("cast", "name", "expected"),
    [pytest.param(*case[1:], id=f"{case[0]}: {case[2][:40]!a}-{number}") for number, case in enumerate(CASES)],
)
def test_resolution(cast: Cast, name: str, expected: str) -> None:
    assert short(cast.resolve(name)) == expected
