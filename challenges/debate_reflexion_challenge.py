"""An engineer whose code fails reflects, tries again with what it has learnt, and passes."""

from __future__ import annotations

from challenges.asking import Place, main


def challenge(place: Place) -> None:
    done = place.forge("seed=4&skill=0&cases=1&repair=1&red=0", attempts=2)
    place.check("it is completed", done["status"] == "completed")
    episodes = place.rows("episodes", done["id"], "number")
    place.check("every attempt is an episode in the database", len(episodes) >= 4)
    for agent in ("e1", "e2"):
        own = [row for row in episodes if row["agent"] == agent]
        place.check(f"{agent} failed first", not own[0]["passed"] and own[0]["attempt"] == 1)
        place.check(f"{agent} passed later", own[-1]["passed"] and own[-1]["attempt"] > 1)
        place.check(f"{agent} wrote down why, and what to change", own[-1]["reflection"] and own[-1]["improvement"])
    prompts = {turn["key"]: turn["messages"] for turn in place.get(f"/v1/debates/{done['id']}/audit")["turns"]}
    asked = prompts["1/repair/e1"][-1]["text"]
    place.check("the repair was asked for with the failing tests", "==" in asked)
    lessons = place.rows("lessons", done["id"], "number")
    place.check("the lesson is confirmed by the record", lessons and all(row["confirmed"] for row in lessons))
    place.check("the winner is a repair", done["winner"] in ("e1", "e2") and "passes all" in done["headline"])


if __name__ == "__main__":
    main(challenge)
