"""Red attacks, blind seats say what should happen, blue patches, red attacks again."""

from __future__ import annotations

from challenges.asking import Place, main


def challenge(place: Place) -> None:
    skills = "seed=4&skill=0&cases=1&repair=1&red=1"
    done = place.forge(skills, attempts=0, max_calls=39, red_rounds=3)
    attacks = done["outcome"]["details"]["attacks"]
    place.check("an attack held", attacks["held"] >= 1)
    turns = place.turns(done["id"])
    phases = [turn["phase"] for turn in turns]
    place.check(
        "blind seats were asked between attack and patch", _between(phases, "attack", "predict-attack", "defend")
    )
    place.check("the patch was attacked again", phases.index("defend") < len(phases) - phases[::-1].index("attack") - 1)
    versions = place.rows("code_versions", done["id"], "version_number")
    patches = [row for row in versions if row["turn_id"] and "/defend/" in row["turn_id"]]
    place.check("the patch is a version with a parent and a difference", patches and patches[0]["diff_from_previous"])
    place.check("and passes more than what it patches", patches[0]["test_pass_rate"] > versions[0]["test_pass_rate"])
    none = place.forge(skills, attempts=0, adversarial=False)
    place.check("without the phase, nobody attacks", not [t for t in place.turns(none["id"]) if t["phase"] == "attack"])


def _between(phases: list[str], first: str, then: str, last: str) -> bool:
    rest = phases[phases.index(first) :]
    return last in rest and then in rest[: rest.index(last)]


if __name__ == "__main__":
    main(challenge)
