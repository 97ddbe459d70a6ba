from agent.cli.resolve import as_data
from agent.contracts.people import Account, PrivacyLevel, Speaker
from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.identity.results import Ambiguous, BridgeUser, Candidate, NotFound, Resolved, Self, Step, Suggestion

ANA = ParticipantKey(ParticipantKind.CONSOLE_USER, "ana")
ACCOUNT = Account(1, 2, "console", ANA, "Ana", "ana", PrivacyLevel.NONE)


def test_each_result_is_data_with_its_kind_and_step() -> None:
    assert as_data(Resolved(ACCOUNT, Speaker(ANA, 2, "Ana"), "Ana", "ana", Step.NAME)) == {
        "result": "resolved",
        "step": "name",
        "key": "console_user:ana",
        "label": "Ana",
        "handle": "ana",
        "user_id": 2,
        "account_id": 1,
    }
    assert as_data(Self(Step.BOT)) == {"result": "self", "step": "bot"}
    assert as_data(BridgeUser(ACCOUNT, "Ana (@ana:x)", None, Step.NAME)) == {
        "result": "bridge_user",
        "step": "name",
        "key": "console_user:ana",
        "label": "Ana (@ana:x)",
        "bridge": None,
        "account_id": 1,
    }
    assert as_data(Ambiguous("ana", (Candidate(ANA, "Ana", "ana", "@{ana~2}", "@{ana~2}"),))) == {
        "result": "ambiguous",
        "step": "name",
        "name": "ana",
        "candidates": [
            {
                "key": "console_user:ana",
                "label": "Ana",
                "distinction": "ana",
                "handle": "@{ana~2}",
                "reference": "@{ana~2}",
            }
        ],
    }
    assert as_data(NotFound("anna", (Suggestion(ANA, "Ana", "Ana", 87.5),))) == {
        "result": "not_found",
        "name": "anna",
        "suggestions": [{"key": "console_user:ana", "label": "Ana", "name": "Ana", "score": 87.5}],
    }
