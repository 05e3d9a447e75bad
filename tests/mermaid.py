"""A strict reader of the Mermaid that docs/diagrams has: flowcharts and entity-relationship diagrams. What it does not
know is an error."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise

_ID = r"[a-z_][a-z0-9_]*"
_SHAPES = {"[(": ")]", "([": "])", "[": "]", "{": "}"}
_EDGE = re.compile(r" -->(?:\|([^|\[\]{}()]+)\|)? ")
_NODE = re.compile(rf"({_ID})(?:(\[\(|\(\[|\[|\{{)([^\[\](){{}}|\"]+)(\)\]|\]\)|\]|\}}))?")
_RELATION = re.compile(rf'({_ID}) (?:\|\||\|o|\}}o|\}}\|)--(?:\|\||o\||o\{{|\|\{{) ({_ID}) : "([^"]+)"')
_COLUMN = re.compile(rf"({_ID}) ({_ID})(?: (PK|FK))?")
RESERVED = ("end", "graph", "subgraph", "flowchart", "style", "class")


class NotMermaid(ValueError):
    pass


@dataclass
class Diagram:
    kind: str
    nodes: dict[str, str] = field(default_factory=dict)  # text by id
    edges: list[tuple[str, str, str]] = field(default_factory=list)  # from, to, label
    groups: list[str] = field(default_factory=list)
    columns: dict[str, list[str]] = field(default_factory=dict)  # by entity


def parse(text: str) -> Diagram:
    """Raises NotMermaid, which names the line."""
    lines = [(n, line.strip()) for n, line in enumerate(text.splitlines(), 1)]
    lines = [(n, line) for n, line in lines if line and not line.startswith("%%")]
    if not lines:
        raise NotMermaid("it is empty")
    head, rest = lines[0][1], lines[1:]
    if re.fullmatch(r"flowchart (TD|LR)", head):
        return _flowchart(rest)
    if head == "erDiagram":
        return _entities(rest)
    raise NotMermaid(f"line {lines[0][0]}: {head!r} is no kind of diagram that is known here")


def _flowchart(lines: list[tuple[int, str]]) -> Diagram:
    made, depth = Diagram("flowchart"), 0
    for n, line in lines:
        if found := re.fullmatch(rf"subgraph ({_ID})", line):
            made.groups.append(found[1])
            depth += 1
        elif line == "end":
            depth -= 1
            if depth < 0:
                raise NotMermaid(f"line {n}: an end without a subgraph")
        else:
            _statement(made, n, line)
    if depth:
        raise NotMermaid("a subgraph has no end")
    bare = [id for id, text in made.nodes.items() if not text]
    if bare:
        raise NotMermaid(f"these have no text: {', '.join(bare)}")
    return made


def _statement(made: Diagram, n: int, line: str) -> None:
    parts = _EDGE.split(line)
    ids = [_node(made, n, part) for part in parts[::2]]
    for (one, two), label in zip(pairwise(ids), parts[1::2], strict=True):
        made.edges.append((one, two, label or ""))


def _node(made: Diagram, n: int, text: str) -> str:
    found = _NODE.fullmatch(text)
    if found is None or (found[2] and _SHAPES[found[2]] != found[4]) or found[1] in RESERVED:
        raise NotMermaid(f"line {n}: {text!r} is no node")
    if found[3] and made.nodes.get(found[1]):
        raise NotMermaid(f"line {n}: {found[1]} has a text already")
    made.nodes[found[1]] = found[3] or made.nodes.get(found[1], "")
    return found[1]


def _entities(lines: list[tuple[int, str]]) -> Diagram:
    made = Diagram("erDiagram")
    inside = ""
    for n, line in lines:
        if inside and line == "}":
            inside = ""
        elif inside:
            found = _COLUMN.fullmatch(line)
            if found is None:
                raise NotMermaid(f"line {n}: {line!r} is no column")
            made.columns[inside].append(found[2])
        elif found := re.fullmatch(rf"({_ID}) \{{", line):
            inside = found[1]
            if inside in made.columns:
                raise NotMermaid(f"line {n}: {inside} is described twice")
            made.columns[inside] = []
        elif found := _RELATION.fullmatch(line):
            made.edges.append((found[1], found[2], found[3]))
        else:
            raise NotMermaid(f"line {n}: {line!r} is neither a relation nor an entity")
    if inside:
        raise NotMermaid(f"{inside} has no end")
    return made
