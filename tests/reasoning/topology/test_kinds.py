"""Mesh, star, chain and tree by example: waves, readers, leaders, what a failure does."""

from __future__ import annotations

import pytest

from moot.reasoning.topology import Agent, build, fresh
from moot.reasoning.topology.star import Star
from moot.reasoning.topology.topology import COORDINATION
from moot.reasoning.topology.tree import Tree
from tests.reasoning.topology.ways import route


def agents(*ids: str, **affinities: dict[str, float]) -> list[Agent]:
    return [Agent(id=each, affinities=affinities.get(each, {})) for each in ids]


def written(reads) -> dict[str, str]:
    return {each: "".join(sorted(others)) for each, others in reads.items()}


def test_in_a_mesh_all_speak_at_once_and_read_all():
    mesh = build("mesh", agents(*"abc"))
    assert mesh.waves("x") == (("a", "b", "c"),)
    assert written(mesh.reads("x")) == {"a": "bc", "b": "ac", "c": "ab"}
    assert written(fresh(mesh, "x")) == {"a": "", "b": "", "c": ""}  # what they said before
    assert mesh.without("a").waves("x") == (("b", "c"),)


def test_in_a_star_the_hub_reads_the_spokes_and_they_read_only_the_hub():
    star = build("star", agents(*"abcd"))
    assert star.waves("x") == (("b", "c", "d"), ("a",))
    assert written(star.reads("x")) == {"a": "bcd", "b": "a", "c": "a", "d": "a"}
    assert written(fresh(star, "x")) == {"a": "bcd", "b": "", "c": "", "d": ""}
    assert route(star, "x", "b", "d") == ("b", "a", "d")
    able = build("star", agents(*"abcd", c={COORDINATION: 0.9}, d={COORDINATION: 0.5}))
    assert isinstance(able, Star)
    assert (able.hub, able.without("c").hub, able.without("a").hub) == ("c", "d", "c")


def test_in_a_chain_each_reads_the_one_before():
    chain = build("chain", agents(*"abc"))
    assert chain.waves("x") == (("a",), ("b",), ("c",))
    assert written(chain.reads("x")) == {"a": "c", "b": "a", "c": "b"}
    assert written(fresh(chain, "x")) == {"a": "", "b": "a", "c": "b"}  # a reads what c said before
    assert chain.leader("x") == "c"
    assert written(chain.without("b").reads("x")) == {"a": "c", "c": "a"}
    assert chain.without("b").without("a").reads("x") == {"c": ()}


LEADERS = [
    Agent(id="architect", affinities={COORDINATION: 1.0, "design": 0.9}),
    Agent(id="security", leads=("critique",), affinities={"security": 1.0}),
    Agent(id="red", affinities={"security": 0.8, "testing": 0.4}),
    Agent(id="blue", affinities={"security": 0.7}),
    Agent(id="analyzer", leads=("optimization",), affinities={"performance": 1.0}),
    Agent(id="tester", affinities={"testing": 1.0}),
]


def test_a_tree_is_built_from_what_agents_are_good_at():
    tree = build("tree", LEADERS)
    assert isinstance(tree, Tree)
    assert tree.root == "architect"
    assert tree.children("architect") == ("security", "analyzer", "tester")
    assert tree.children("security") == ("red", "blue")
    assert [tree.level(each.id) for each in tree.agents] == [0, 1, 2, 2, 1, 1]
    assert tree.waves("x") == (("red", "blue"), ("security", "analyzer", "tester"), ("architect",))
    assert route(tree, "x", "red", "blue") == ("red", "security", "blue")  # siblings through the parent
    assert route(tree, "x", "red", "tester") == ("red", "security", "architect", "tester")
    assert [tree.leader(phase) for phase in ("critique", "optimization", "proposal")] == [
        "security",
        "analyzer",
        "architect",
    ]


def test_agents_without_a_concern_fill_a_tree_from_above():
    tree = build("tree", agents(*"abcdefg"))
    assert dict(tree.parents) == {"b": "a", "c": "a", "d": "b", "e": "b", "f": "c", "g": "c"}
    assert written(tree.reads("x"))["b"] == "ade"


def test_the_children_of_one_who_fails_go_to_the_sibling_with_the_smallest_subtree():
    left = build("tree", LEADERS).without("security")
    assert dict(left.parents) == {"red": "analyzer", "blue": "tester", "analyzer": "architect", "tester": "architect"}
    alone = Tree(agents=tuple(agents(*"abcd")), parents={"b": "a", "c": "b", "d": "b"})
    assert dict(alone.without("b").parents) == {"c": "a", "d": "a"}  # without siblings, to the parent


def test_a_root_that_fails_is_followed_by_its_best_child():
    able = [*LEADERS[:5], Agent(id="tester", affinities={"testing": 1.0, COORDINATION: 0.5})]
    left = build("tree", able).without("architect")
    assert left.root == "tester"
    assert dict(left.parents) == {"security": "tester", "red": "security", "blue": "security", "analyzer": "tester"}


@pytest.mark.parametrize(
    ("parents", "problem"),
    [
        ({"b": "a"}, "one root"),
        ({"b": "a", "c": "z"}, "one root"),
        ({"b": "c", "c": "b"}, "above itself"),
        ({"a": "b", "b": "c", "c": "a"}, "one root"),
    ],
)
def test_what_is_no_tree_is_refused(parents, problem):
    with pytest.raises(ValueError, match=problem):
        Tree(agents=tuple(agents(*"abc")), parents=parents)


def test_a_topology_without_anyone_is_refused():
    with pytest.raises(ValueError, match="at least one"):
        build("mesh", [])
    with pytest.raises(ValueError, match="same id"):
        build("mesh", agents("a", "a"))
    for kind in ("mesh", "star", "chain", "tree"):
        with pytest.raises(ValueError, match="no one is left"):
            build(kind, agents("a")).without("a")
        with pytest.raises(ValueError, match="no 'z'"):
            build(kind, agents("a", "b")).without("z")
