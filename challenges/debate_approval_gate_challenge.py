"""A gate pauses a debate until a person decides: approve, reject with words, reject without."""

from __future__ import annotations

from challenges.asking import Place, main

SKILLS = "seed=3&skill=1&cases=1&repair=1&red=1"


def challenge(place: Place) -> None:
    waiting = place.forge(SKILLS, gates=["proposal"])
    path = f"/v1/debates/{waiting['id']}"
    place.check("it waits", waiting["status"] == "waiting")
    (gate,) = place.get(f"{path}/gates")["items"]
    place.check(
        "the gate shows code, difference, matrix and scores",
        {"code", "diff", "matrix", "scores"} <= {*gate["artifacts"]},
    )
    place.check("everyone can find it", gate["key"] in [each["key"] for each in place.get("/v1/gates")["items"]])
    place.post(f"{path}/approve", {"reason": "Fine."})
    status, _ = place.call("POST", f"{path}/approve", {})
    place.check("a second answer is refused", status == 409)
    done = place.rested(waiting["id"])
    place.check("approved, it delivers", done["outcome"]["answer"] is not None)
    (row,) = place.rows("debate_gates", waiting["id"], "requested_at")
    place.check("the decision is in the database", row["status"] == "decided" and "approve" in str(row["decision"]))

    rejected = place.forge(SKILLS, gates=["proposal"])
    place.post(f"/v1/debates/{rejected['id']}/reject")
    done = place.rested(rejected["id"])
    place.check("rejected without words, nothing is delivered", done["outcome"]["answer"] is None)

    redone = place.forge(SKILLS, gates=["proposal"], max_calls=39)
    place.post(f"/v1/debates/{redone['id']}/reject", {"reason": "Mind the empty list."})
    again = place.rested(redone["id"])
    place.check("rejected with words, it asks again", again["status"] == "waiting")
    place.check("as a second gate", len(place.rows("debate_gates", redone["id"], "requested_at")) == 2)

    status, problem = place.call("POST", "/v1/debates", _off())
    place.check("a gate after a phase that is off is refused", status == 422 and "gate" in str(problem))


def _off() -> dict[str, object]:
    settings = {"model_debater": f"sim:?{SKILLS}", "gates": ["critique"], "critique": False}
    return {"topic": "Write add(a, b).", "format": "forge", "settings": settings}


if __name__ == "__main__":
    main(challenge)
