"""The ledger of claims: what is checked, what a quote is, and how statuses follow from the rules."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.reasoning.claims import (
    CLAIM_STATUSES,
    TEXT_CHARS,
    Claim,
    ClaimDraft,
    Ledger,
    LedgerStatement,
    add_wave,
    contains_quote,
    normalized,
    read_ledger,
    settle,
)

A, B, C = "a", "b", "c"


def debate(*said, **words) -> Ledger:
    """Each of `said` is a wave: (seat, claim, claim …), or a list of those; a text instead of claims is a gap. `words`
    has what a seat says in each of its statements."""
    ledger = Ledger()
    for number, wave in enumerate(said):
        heard = []
        for seat, *listed in wave if isinstance(wave, list) else [wave]:
            gap = listed.pop() if listed and isinstance(listed[0], str) else ""
            statement = LedgerStatement(
                key=f"{number}/speak/{seat}", seat=seat, wave=number, text=words.get(seat, f"Words of {seat}."), gap=gap
            )
            heard.append((statement, listed))
        ledger = add_wave(ledger, heard)
    return settle(ledger)


def draft(text: str, stance="none", target="", **more) -> ClaimDraft:
    return ClaimDraft(text=text, stance=stance, target=target, **more)


def attack(target: str, text: str = "", **more) -> ClaimDraft:
    return draft(text or f"Not so, {target}!", "attacks", target, **more)


def statuses(ledger: Ledger) -> dict[str, str]:
    return {claim.id: claim.status for claim in ledger.claims}


def claim(ledger: Ledger, id: str) -> Claim:
    return next(each for each in ledger.claims if each.id == id)


def test_claims_are_numbered_in_the_order_of_statements():
    ledger = debate((A, draft("One."), draft("Two.")), [(B, draft("Three.")), (C, draft("Four."))])
    assert [(each.id, each.seat, each.statement, each.text) for each in ledger.claims] == [
        ("c1", "a", "0/speak/a", "One."),
        ("c2", "a", "0/speak/a", "Two."),
        ("c3", "b", "1/speak/b", "Three."),
        ("c4", "c", "1/speak/c", "Four."),
    ]


def test_an_attack_that_its_author_could_not_answer_leaves_a_claim_open():
    assert statuses(debate((A, draft("One.")), (B, attack("c1")))) == {"c1": "open", "c2": "standing"}


def test_an_attack_that_its_author_could_have_answered_refutes():
    ledger = debate((A, draft("One.")), (B, attack("c1")), (A, draft("Something else.")))
    assert statuses(ledger) == {"c1": "refuted", "c2": "standing", "c3": "standing"}


def test_listing_nothing_is_an_answer_but_a_list_that_is_missing_is_not():
    assert statuses(debate((A, draft("One.")), (B, attack("c1")), (A,)))["c1"] == "refuted"
    ledger = debate((A, draft("One.")), (B, attack("c1")), (A, "no valid answer"))
    assert statuses(ledger)["c1"] == "open"
    assert ledger.statements[-1].gap == "no valid answer"


def test_a_claim_whose_only_attacker_is_refuted_stands():
    ledger = debate((A, draft("One.")), (B, attack("c1")), (A, attack("c2")), (B, draft("Well.")))
    assert statuses(ledger) == {"c1": "standing", "c2": "refuted", "c3": "standing", "c4": "standing"}


def test_what_another_accepts_is_conceded_and_their_own_attacks_on_it_are_void():
    ledger = debate((A, draft("One.")), (B, attack("c1")), (A, draft("Two.")), (B, draft("Fine.", concedes=("c1",))))
    assert statuses(ledger)["c1"] == "conceded"
    assert claim(ledger, "c1").conceded_by == ("b",)
    assert not claim(ledger, "c2").counts


def test_who_accepts_an_attack_on_their_own_claim_gives_it_up():
    ledger = debate((A, draft("One.")), (B, attack("c1")), (A, draft("Right.", concedes=("c2",))))
    assert statuses(ledger) == {"c1": "refuted", "c2": "conceded", "c3": "standing"}


def test_what_its_author_gave_up_does_not_come_back_when_a_third_party_attacks_the_attacker():
    ledger = debate(
        (A, draft("One.")), (B, attack("c1")), (A, draft("Right.", concedes=("c2",))), (C, attack("c2")), (B,)
    )
    assert statuses(ledger)["c1"] == statuses(ledger)["c2"] == "refuted"


def test_one_who_concedes_does_not_speak_for_the_others():
    ledger = debate((A, draft("One.")), (B, draft("Fine.", concedes=("c1",))), (C, attack("c1")), (A,))
    assert claim(ledger, "c1").conceded_by == ("b",)
    assert statuses(ledger)["c1"] == "refuted"


def test_nobody_concedes_their_own_claim_or_one_that_is_not_there():
    ledger = debate((A, draft("One.")), (A, draft("Two.", concedes=("c1", "c9", "C1 "))))
    assert ledger.statements[1].concedes == ()
    assert claim(ledger, "c2").notes == (
        "concedes c1, which is a claim of the same speaker: dropped",
        "concedes 'c9', which is no claim made before: dropped",
    )
    assert statuses(ledger)["c1"] == "standing"


@pytest.mark.parametrize("target", ["c9", "c2", "the first one", "c1; c2", "", "x" * 5000])
def test_a_target_that_is_no_earlier_claim_is_dropped_and_noted(target: str):
    ledger = debate((A, draft("One.")), (B, attack(target, "Wrong.")), (A,))
    wrong = claim(ledger, "c2")
    assert (wrong.stance, wrong.target, wrong.counts) == ("none", "", False)
    assert len(wrong.notes) == 1
    assert len(wrong.notes[0]) < 100
    assert statuses(ledger)["c1"] == "standing"


def test_statements_of_one_wave_can_not_answer_each_other():
    ledger = debate([(A, draft("One.")), (B, attack("c1"), draft("Yes.", concedes=("c1",), quote="Words of a"))])
    assert [each.stance for each in ledger.claims] == ["none", "none", "none"]
    assert (claim(ledger, "c3").quote_ok, ledger.statements[1].concedes) == (False, ())


def test_an_id_in_other_letters_is_the_same_id():
    assert claim(debate((A, draft("One.")), (B, attack(" C1 "))), "c2").target == "c1"


def test_who_attacks_their_own_claim_gives_it_up():
    assert statuses(debate((A, draft("One.")), (A, attack("c1", "I was wrong.")))) == {
        "c1": "refuted",
        "c2": "standing",
    }


def test_support_decides_nothing_and_of_oneself_counts_nothing():
    ledger = debate(
        (A, draft("One.")),
        (B, attack("c1")),
        (A, draft("Again.", "supports", "c1")),
        (C, draft("And again.", "supports", "c1")),
    )
    assert statuses(ledger)["c1"] == "refuted"
    assert [claim(ledger, id).counts for id in ("c3", "c4")] == [False, True]


def test_saying_the_same_again_is_no_new_claim():
    ledger = debate((A, draft("Redis is fast.")), (B, attack("c1")), (A, draft("REDIS  is *fast*.", concedes=("c2",))))
    assert list(statuses(ledger)) == ["c1", "c2"]
    assert ledger.statements[2].notes == ("says c1 again",)
    assert ledger.statements[2].concedes == ("c2",)


def test_an_attack_with_words_that_nobody_said_does_not_count():
    words = {A: "Redis is fast. It keeps nothing.", B: "Nobody needs it."}
    ledger = debate((A, draft("Fast.")), (B, attack("c1", quote="Redis is slow")), (A,), **words)
    assert (claim(ledger, "c2").quote_ok, claim(ledger, "c2").counts) == (False, False)
    assert claim(ledger, "c2").notes == ("the words it quotes were said by no one else before",)
    assert statuses(ledger)["c1"] == "standing"
    ledger = debate((A, draft("Fast.")), (B, attack("c1", quote="“redis is FAST.”")), (A,), **words)
    assert (claim(ledger, "c2").quote_ok, claim(ledger, "c2").quote_of) == (True, "0/speak/a")
    assert statuses(ledger)["c1"] == "refuted"


def test_ones_own_words_are_no_quote_of_another():
    ledger = debate((B, draft("Nobody.")), (A, draft("One.")), (B, attack("c2", quote="Words of b.")), (A,))
    assert claim(ledger, "c3").quote_ok is False
    assert statuses(ledger)["c2"] == "standing"


def test_a_quote_is_looked_for_first_in_what_the_author_of_the_target_said():
    words = {A: "It is fast.", B: "It is fast."}
    ledger = debate((A, draft("One.")), (B, draft("Two.")), (C, attack("c2", quote="is fast")), **words)
    assert claim(ledger, "c3").quote_of == "1/speak/b"


@pytest.mark.parametrize(
    ("text", "quote", "found"),
    [
        ("Redis is fast.", "redis  IS\nfast", True),
        ("He said “it’s fine” — twice.", '"it\'s fine" - twice', True),
        ("It is **very** `fast`.", "It is very fast", True),
        ("It is very fast.", "…is very fast…", True),
        ("It is not safe.", "It is safe", False),
        ("It is not safe.", "It is ... safe", False),
        ("Unsafe at any speed.", "safe at any speed", False),
        ("Version 12 is out.", "Version 1", False),
        ("缓存很快，但是不安全。", "但是不安全", True),
        ("Ｆｕｌｌ ｗｉｄｔｈ", "full width", True),
        ("hid\u200bden words", "hidden words", True),
        ("Anything.", "“...”", False),
        ("", "Anything", False),
        ("unsafe, but safe", "safe", True),
    ],
)
def test_what_counts_as_a_quote(text: str, quote: str, found: bool):
    assert contains_quote(text, quote) is found


@given(st.text(min_size=1), st.text(), st.text())
def test_words_that_were_copied_are_found(quote: str, before: str, after: str):
    if normalized(quote).strip(" '.,;:!?-()[]"):
        assert contains_quote(f"{before} {quote} {after}", quote)


def test_hostile_text_is_one_bounded_line_of_visible_characters():
    ledger = debate((A, draft("The human\nends\u202e the\tdebate.\x1b[2J" + "!" * 900, evidence="x\n\ny")))
    text = claim(ledger, "c1").text
    assert text.startswith("The human ends the debate.[2J!")
    assert len(text) == TEXT_CHARS
    assert claim(ledger, "c1").evidence == "x y"


def test_a_claim_without_visible_text_is_none():
    assert debate((A, draft("\u200b"))).claims == ()


def test_what_its_author_withdraws_is_refuted_and_nobody_else_can_withdraw_it():
    ledger = debate((A, draft("One.")), (B, attack("c1")))
    for seat, status in ((B, "standing"), (A, "open")):
        last = LedgerStatement(key=f"9/critique/{seat}", seat=seat, wave=9, gap="typed", withdraws=("c2",))
        changed = settle(replace(ledger, statements=(*ledger.statements, last)))
        assert claim(changed, "c1").status == status


def test_mutual_attacks_are_open_unless_another_decides():
    # What a speaker lists can only name earlier claims; the rule for statuses doesn't rely on it.
    made = [
        Claim(id="c1", seat=A, statement="", wave=0, text="", stance="attacks", target="c2"),
        Claim(id="c2", seat=B, statement="", wave=0, text="", stance="attacks", target="c1"),
        Claim(id="c3", seat=A, statement="", wave=0, text="", stance="attacks", target="c3"),
        Claim(id="c4", seat=A, statement="", wave=0, text="", stance="attacks", target="c2"),
    ]
    spoke = tuple(LedgerStatement(key=seat, seat=seat, wave=1) for seat in (A, B))
    found = statuses(settle(Ledger(statements=spoke, claims=tuple(made))))
    assert found == {"c1": "standing", "c2": "refuted", "c3": "open", "c4": "standing"}
    found = statuses(settle(Ledger(statements=spoke, claims=tuple(made[:3]))))
    assert found == {"c1": "open", "c2": "open", "c3": "open"}


SEATS = st.sampled_from([A, B, C])


@st.composite
def ledgers(draw: st.DrawFn) -> Ledger:
    """Any graph: cycles, claims that attack themselves or what is not there, concessions of any id."""
    size = draw(st.integers(0, 12))
    ids = [f"c{n}" for n in range(1, size + 1)]
    some = st.sampled_from([*ids, "", "c99"])
    claims = tuple(
        Claim(
            id=id,
            seat=draw(SEATS),
            statement="",
            wave=draw(st.integers(0, 4)),
            text=id,
            stance=draw(st.sampled_from(["attacks", "attacks", "supports", "none"])),
            target=draw(some),
            quote_ok=draw(st.sampled_from([None, None, True, False])),
        )
        for id in ids
    )
    statements = tuple(
        LedgerStatement(
            key=str(n),
            seat=draw(SEATS),
            wave=draw(st.integers(0, 5)),
            gap=draw(st.sampled_from(["", "", "gap"])),
            concedes=tuple(draw(st.lists(some, max_size=2))),
            withdraws=tuple(draw(st.lists(some, max_size=1))),
        )
        for n in range(draw(st.integers(0, 6)))
    )
    return Ledger(statements=statements, claims=claims)


def attackers(ledger: Ledger, target: str) -> list[Claim]:
    return [each for each in ledger.claims if each.stance == "attacks" and each.counts and each.target == target]


@given(ledgers(), st.randoms(use_true_random=False))
def test_the_order_of_claims_and_statements_does_not_matter(ledger: Ledger, chance: random.Random):
    shuffled = Ledger(
        statements=tuple(chance.sample(ledger.statements, len(ledger.statements))),
        claims=tuple(chance.sample(ledger.claims, len(ledger.claims))),
    )
    in_order = {each.id: each for each in settle(ledger).claims}
    assert {each.id: each for each in settle(shuffled).claims} == in_order


@given(ledgers())
def test_every_claim_has_the_status_that_the_rule_says(ledger: Ledger):
    ledger = settle(ledger)
    assert settle(ledger) == ledger
    assert sum(ledger.counts().values()) == len(ledger.claims)
    by_id = {each.id: each for each in ledger.claims}
    assert {each.status for each in ledger.claims} <= set(CLAIM_STATUSES)
    for each in ledger.claims:
        against = attackers(ledger, each.id)
        given_up = any(each.id in said.withdraws and said.seat == each.seat for said in ledger.statements) or any(
            each.seat in attacker.conceded_by for attacker in against
        )
        holding = [attacker for attacker in against if attacker.status in ("standing", "conceded")]
        if not against and not given_up:
            assert each.status in ("standing", "conceded")
        if each.status in ("standing", "conceded"):
            assert all(attacker.status == "refuted" for attacker in against)
            assert not given_up
            assert (each.status == "conceded") == bool(each.conceded_by)
        elif all(attacker.status == "refuted" for attacker in against):
            assert given_up  # what only refuted claims attack stands, unless its author gave it up
        if each.status == "refuted":
            assert given_up or holding
        if given_up:
            assert each.status == "refuted"
        assert each.seat not in each.conceded_by
        if each.counts:
            assert each.quote_ok is not False
            assert each.stance == "supports" or each.seat not in by_id[each.target].conceded_by


@given(ledgers())
def test_a_false_quote_changes_nothing_for_anyone_else(ledger: Ledger):
    """Compared with the same debate in which false quotes attack nothing."""
    honest = replace(
        ledger,
        claims=tuple(
            replace(each, stance="none", target="") if each.quote_ok is False else each for each in ledger.claims
        ),
    )
    assert statuses(settle(ledger)) == statuses(settle(honest))


@given(ledgers())
def test_a_new_attack_never_helps_its_target(ledger: Ledger):
    ledger = settle(ledger)
    for each in ledger.claims:
        new = Claim(id="new", seat="d", statement="", wave=6, text="", stance="attacks", target=each.id)
        after = claim(settle(replace(ledger, claims=(*ledger.claims, new))), each.id)
        assert after.status == ("refuted" if each.status == "refuted" else "open")


@given(ledgers())
def test_a_ledger_survives_being_stored(ledger: Ledger):
    ledger = settle(ledger)
    assert read_ledger(json.loads(json.dumps(ledger.as_json()))) == ledger
