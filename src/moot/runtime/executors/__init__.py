"""Executors: one for each kind of step. A new kind of step is a new executor here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from moot.core.steps import Step
from moot.core.types import Memory, Models, StepKind, Toolbox
from moot.runtime.executors.ask import AskExecutor
from moot.runtime.executors.executor import Executor
from moot.runtime.executors.gate import GateExecutor
from moot.runtime.executors.recall import RecallExecutor
from moot.runtime.executors.tool import ToolExecutor

__all__ = ["Executor", "Executors"]


class Executors:
    """Finds the executor of a step."""

    def __init__(self, models: Models, memory: Memory | None = None, tools: Toolbox | None = None) -> None:
        self._memory = memory
        self._by_kind: Mapping[StepKind, Executor[Any]] = {
            "ask": AskExecutor(models),
            "gate": GateExecutor(models),
            "recall": RecallExecutor(memory),
            "use": ToolExecutor({} if tools is None else tools, models),
        }

    def of_debate(self, debate_id: str) -> Executors:
        """The executors for the steps of one debate: memory knows for whom it is asked."""
        view = Executors.__new__(Executors)
        view._memory = self._memory
        view._by_kind = {**self._by_kind, "recall": RecallExecutor(self._memory, debate_id)}
        return view

    def of(self, step: Step) -> Executor[Any]:
        return self._by_kind[step.kind]
