"""Everything that led to the outcome is on record: prompts, models, answers, runs, votes, decisions."""

from __future__ import annotations

from challenges.asking import Place, main


def challenge(place: Place) -> None:
    waiting = place.forge("seed=4&skill=0&cases=1&repair=1&red=1", gates=["proposal"])
    place.post(f"/v1/debates/{waiting['id']}/approve", {"reason": "Go on."})
    done = place.rested(waiting["id"])
    place.check("it is completed", done["status"] == "completed")
    audit = place.get(f"/v1/debates/{done['id']}/audit")
    turns = audit["turns"]
    asked = [turn for turn in turns if turn["kind"] == "ask"]
    place.check("each call has its prompt, word by word", asked and all(turn["messages"] for turn in asked))
    place.check("with the prompt's name and hash", all(turn["prompt"] and turn["prompt_hash"] for turn in asked))
    place.check("with the model and its answer", all(turn["model"] and turn["content"] for turn in asked))
    runs = [turn for turn in turns if turn["kind"] == "use"]
    place.check("each run of code is there", {turn["phase"] for turn in runs} >= {"run"})
    stored = place.rows("debate_turns", done["id"], "seq")
    used = [row for row in stored if row["kind"] == "use"]
    place.check("with request, limits and toolchain in the database", all("fingerprint" in str(row) for row in used))
    gate = next(turn for turn in turns if turn["kind"] == "gate")
    place.check("the decision says who and why", "Go on." in gate["content"])
    reflections = [row for row in place.rows("episodes", done["id"], "number") if row["reflection"]]
    place.check("reflections are kept", reflections)
    proof = place.get(f"/v1/debates/{done['id']}/proof")
    place.check("replayed, it comes out the same", proof["same"])


if __name__ == "__main__":
    main(challenge)
