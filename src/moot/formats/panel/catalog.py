"""The choice of opposing perspectives for a question."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from moot.formats.panel.settings import PanelSettings
from moot.formats.shared.perspectives import Perspective, built_in, plugged_in


def catalog(custom: Sequence[Perspective]) -> Mapping[str, Perspective]:
    """Built-in and custom perspectives by name; a custom one replaces a built-in one of the same name."""
    own = {perspective.name.casefold(): perspective for perspective in custom}
    kept = [perspective for perspective in built_in() if perspective.name.casefold() not in own]
    return {perspective.name: perspective for perspective in (*custom, *kept)}


def with_plugged_in(settings: PanelSettings, topic: str) -> PanelSettings:
    """The settings with the perspectives of plug-ins among the custom ones: a debate keeps those it was made with, and
    can be replayed where the plug-in is not installed."""
    own = {perspective.name.casefold() for perspective in settings.custom_perspectives}
    more = [perspective for perspective, _ in plugged_in() if perspective.name.casefold() not in own]
    return settings.model_copy(update={"custom_perspectives": (*settings.custom_perspectives, *more)})


def oppose(one: Perspective, two: Perspective) -> bool:
    return two.name in one.opposes or one.name in two.opposes


def balanced(perspectives: Sequence[Perspective]) -> bool:
    """Whether at least two of them oppose each other."""
    return any(oppose(one, two) for one in perspectives for two in perspectives)


def called_for(question: str, available: Mapping[str, Perspective]) -> list[Perspective]:
    """Perspectives with a keyword in the question, most hits first; ties in the order of the catalog."""
    words = set(re.findall(r"[\w-]+", question.casefold()))
    hits = {name: len(words & {k.casefold() for k in p.keywords}) for name, p in available.items()}
    return sorted((p for name, p in available.items() if hits[name]), key=lambda p: -hits[p.name])


def choose(question: str, wanted: Sequence[str], count: int, available: Mapping[str, Perspective]) -> list[Perspective]:
    """Choose `count` perspectives: `wanted` ones first, then those that the question calls for, then the rest of the
    catalog. At least two of them oppose each other if the catalog has such a pair."""
    by_name = {name.casefold(): perspective for name, perspective in available.items()}
    named = [by_name[name.casefold().strip()] for name in wanted if name.casefold().strip() in by_name]
    ranked = list({p.name: p for p in (*named, *called_for(question, available), *available.values())}.values())
    chosen = ranked[:count]
    if balanced(chosen):
        return chosen
    # Replace the least relevant by the most relevant one that opposes one of those who stay.
    for stays in (chosen[:-1], chosen[:1]):
        for candidate in ranked[count:]:
            if any(oppose(candidate, one) for one in stays):
                return [*chosen[:-1], candidate]
    return chosen
