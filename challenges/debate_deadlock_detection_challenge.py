"""Whoever can't be had, nothing waits for ever: it ends, or fails so that it can be retried."""

from __future__ import annotations

from challenges.asking import Place, main

SKILLS = "seed=3&skill=1&cases=1&repair=1&red=1"
GONE = {"model": "sim:?fail=1"}


def challenge(place: Place) -> None:
    for topology, seats, who in (
        ("mesh", ("tester",), "the tester, for whom all engineers wait"),
        ("star", ("o1", "o2"), "all oracles"),
        ("chain", ("e1", "e3"), "the first and the last of three engineers"),
        ("tree", ("critic", "judge"), "critic and judge"),
    ):
        gone = dict.fromkeys(seats, GONE)
        done = place.forge(SKILLS, preset="default", topology=topology, seats=gone, max_calls=300)
        place.check(f"a {topology} without {who} ends", done["status"] in ("completed", "failed"))
        (row,) = place.rows("debate_sessions", done["id"], "id")
        place.check("and the database says so", row["status"] == done["status"])
    none = place.forge(SKILLS, seats=dict.fromkeys(("e1", "e2"), GONE), max_calls=300)
    place.check("without any engineer it is failed", none["status"] == "failed")
    place.check("says why", none["error"]["message"])
    place.check("and can be retried", "retry" in none["actions"])
    running = place.get("/v1/debates?status=running")["items"]
    place.check("nothing is left running", not [each for each in running if each["format"] == "forge"])


if __name__ == "__main__":
    main(challenge)
