"""Who is there beside the one who is meant; `test_resolution_table.py` says how to read it."""

from agent.contracts.people import PrivacyLevel
from agent.identity.keys import ParticipantKind
from tests.agent.identity.builders import account
from tests.agent.identity.casts import Cast

FULL, PARTIAL = PrivacyLevel.FULL, PrivacyLevel.PARTIAL
MATRIX, WEBHOOK = ParticipantKind.MATRIX_USER, ParticipantKind.WEBHOOK

ANA = account(1, "Ana", username="ana.m")
BEN = account(2, "Ben", username="ben_b")
EVE = account(4, "Eve", username="eve")
MAT = account(6, "Mat", external_id="@mat:example.org", kind=MATRIX, user=None)


PEOPLE: dict[str, tuple[Cast, dict[str, str]]] = {
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
