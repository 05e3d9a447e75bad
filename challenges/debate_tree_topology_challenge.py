"""In a tree only neighbours are read, and a node that fails is left out while the rest goes on."""

from __future__ import annotations

from challenges.asking import Place, main


def challenge(place: Place) -> None:
    skills = "seed=3&skill=1&cases=1&repair=1&red=1"
    done = place.forge(skills, preset="default", topology="tree", adversarial=False, optimization=False)
    place.check("it is completed", done["status"] == "completed")
    header = place.events(done["id"], "HEADER")[0]["data"]
    place.check("the topology is a tree", header["topology"] == "tree")
    reads = header["reads"]
    seats = {"e1", "e2", "e3", "critic"}
    place.check("not everyone reads everyone", any({*reads[seat]} != seats - {seat} for seat in seats))
    place.check("everyone is reached", _reached(reads, "e1") == seats)
    place.check("blind seats stand outside", not {"tester", "o1", "o2"} & {*reads}.union(*reads.values()))
    gone = {"e2": {"model": "sim:?fail=1"}}
    lost = place.forge(skills, preset="default", topology="tree", adversarial=False, optimization=False, seats=gone)
    place.check("with a node gone it still delivers", lost["outcome"]["answer"] is not None)
    place.check("and says who is missing", any("could not be had" in note for note in lost["outcome"]["notes"]))
    critics = {turn["seat"] for turn in place.turns(lost["id"]) if turn["phase"] == "critique"}
    place.check("who is missing is not asked again", "e2" not in critics)
    (row,) = place.rows("debate_sessions", lost["id"], "id")
    place.check("the database has the topology", '"tree"' in str(row["config"]))


def _reached(reads: dict[str, list[str]], seat: str) -> set[str]:
    """Those whose words come to a seat, or who get its words, by any way."""
    found, left = {seat}, [seat]
    while left:
        one = left.pop()
        near = {*reads.get(one, []), *(other for other, read in reads.items() if one in read)}
        left += near - found
        found |= near
    return found


if __name__ == "__main__":
    main(challenge)
