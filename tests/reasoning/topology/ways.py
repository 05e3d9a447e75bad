"""The way that words take through a topology."""

from __future__ import annotations

from moot.reasoning.topology import Topology


def route(topology: Topology, phase: str, sender: str, receiver: str) -> tuple[str, ...]:
    """The shortest way by which words of one reach another, both included; empty if there is none. In a tree, this is
    up to the common parent and down again."""
    reads = topology.reads(phase)
    ways: dict[str, tuple[str, ...]] = {sender: (sender,)}
    while receiver not in ways:
        found = {
            listener: (*ways[speaker], listener)
            for listener, speakers in reads.items()
            for speaker in speakers
            if speaker in ways and listener not in ways
        }
        if not found:
            return ()
        ways = {**found, **ways}
    return ways[receiver]
