"""What the server says is what the database has, through a stop and a resumption."""

from __future__ import annotations

from challenges.asking import Place, main


def challenge(place: Place) -> None:
    debate_id = place.started("seed=4&skill=0&cases=1&repair=1&red=1&latency_ms=50")
    path = f"/v1/debates/{debate_id}"
    place.call("POST", f"{path}/stop")  # it may be over
    stopped = place.rested(debate_id)
    before = [row["key"] for row in place.rows("debate_turns", debate_id, "seq")]
    place.check("stopped, it keeps what it has", len(before) == stopped["turns"])
    if stopped["status"] == "stopped":
        place.post(f"{path}/resume")
    done = place.rested(debate_id, ("completed", "failed"))
    place.check("resumed, it is completed", done["status"] == "completed")
    rows = place.rows("debate_turns", debate_id, "seq")
    keys = [row["key"] for row in rows]
    place.check("what there was is still there, in order", keys[: len(before)] == before)
    place.check("no turn is there twice", len({*keys}) == len(keys))
    place.check("the server lists the same turns", [turn["key"] for turn in place.turns(debate_id)] == keys)
    versions = place.rows("code_versions", debate_id, "version_number")
    listed = place.get(f"{path}/versions")["items"]
    place.check("and the same versions", [row["sha256"] for row in versions] == [each["sha256"] for each in listed])
    (row,) = place.rows("debate_sessions", debate_id, "id")
    place.check("the status is stored", row["status"] == "completed")
    events = [event["seq"] for event in place.events(debate_id)]
    place.check("events have no gap", events == list(range(1, len(events) + 1)))
    place.check("the rules make the same of the turns", place.get(f"{path}/proof")["same"])


if __name__ == "__main__":
    main(challenge)
