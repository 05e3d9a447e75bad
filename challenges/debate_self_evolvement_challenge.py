"""Engineers run their own code before anyone sees it, and repair it; switched off, they don't."""

from __future__ import annotations

from challenges.asking import Place, main


def challenge(place: Place) -> None:
    skills = "seed=4&skill=0&cases=1&repair=1&red=0"
    done = place.forge(skills)
    phases = [turn["phase"] for turn in place.turns(done["id"])]
    place.check("code is run before it is pooled", phases.index("run") < phases.index("predict"))
    place.check("and repaired", "repair" in phases)
    versions = place.rows("code_versions", done["id"], "version_number")
    first = [row for row in versions if row["parent_id"] is None]
    repaired = [row for row in versions if row["parent_id"] is not None]
    best = max(row["test_pass_rate"] for row in repaired)
    place.check("repairs pass more", best > max(row["test_pass_rate"] for row in first))
    place.check("what was first is still there", {row["author"] for row in first} == {"e1", "e2"})
    limit = place.forge(skills, attempts=0)
    place.check("without attempts nothing is repaired", "repair" not in [t["phase"] for t in place.turns(limit["id"])])
    off = [turn["phase"] for turn in place.turns(place.forge(skills, self_evolvement=False)["id"])]
    place.check("switched off, code is written and not repaired", "write" in off and "repair" not in off)


if __name__ == "__main__":
    main(challenge)
