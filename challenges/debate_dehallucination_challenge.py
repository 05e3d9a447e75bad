"""Questions come before code: answered by the judge as assumptions, or by a person."""

from __future__ import annotations

from challenges.asking import TASK, Place, main

VAGUE = "Write something useful for a shop."


def challenge(place: Place) -> None:
    done = place.forge("seed=1", topic=VAGUE, dehallucination=True)
    keys = [turn["key"] for turn in place.turns(done["id"])]
    rounds = [key for key in keys if "/clarify/" in key]
    place.check(
        "questions are asked before any code",
        next(key for key in keys if "/recall/" not in key).startswith("1/clarify/"),
    )
    place.check("for three rounds at most", 1 <= len(rounds) <= 3)
    place.check("what the task does not say is an assumption", done["outcome"]["details"]["assumptions"])
    place.check("nobody pretends that code was written", done["outcome"]["answer"] is None)

    waiting = place.forge("seed=1", topic=VAGUE, dehallucination=True, clarify="person")
    place.check("a person is asked", waiting["status"] == "waiting")
    (gate,) = place.rows("debate_gates", waiting["id"], "requested_at")
    place.check("the question is in the database", (gate["kind"], gate["status"]) == ("clarification", "open"))
    place.post(f"/v1/debates/{waiting['id']}/answer", {"text": "It adds up the prices of a basket."})
    place.check("and goes on with the answer", _heard(place, waiting["id"]))

    clear = place.forge(
        "seed=3&skill=1&cases=1", topic=f"{TASK}\n\n>>> first_repeat([1, 1])\n1\n", dehallucination=True
    )
    place.check(
        "a short task with tests is not questioned", "clarify" not in {t["phase"] for t in place.turns(clear["id"])}
    )


def _heard(place: Place, debate_id: str) -> bool:
    place.rested(debate_id)
    audit = place.get(f"/v1/debates/{debate_id}/audit")["turns"]
    return any("prices of a basket" in message["text"] for turn in audit for message in turn.get("messages") or [])


if __name__ == "__main__":
    main(challenge)
