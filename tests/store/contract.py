"""The contract of every store. A backend is tested by a subclass with a `run` fixture."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.store.contract_access import AccessContract
from tests.store.contract_artifacts import ArtifactsContract
from tests.store.contract_budgets import BudgetsContract
from tests.store.contract_debates import DebatesContract
from tests.store.contract_deletion import DeletionContract
from tests.store.contract_evaluations import EvaluationsContract
from tests.store.contract_memories import MemoriesContract
from tests.store.contract_people import PeopleContract
from tests.store.contract_steps import StepsContract
from tests.store.samples import Clock


class StoreContract(
    DebatesContract,
    StepsContract,
    PeopleContract,
    DeletionContract,
    ArtifactsContract,
    MemoriesContract,
    AccessContract,
    BudgetsContract,
    EvaluationsContract,
):
    """`run` opens a store with the manual clock, runs the coroutine on it, and closes it."""

    @pytest.fixture
    def run(self) -> Callable[..., Any]:
        raise NotImplementedError

    @pytest.fixture
    def clock(self) -> Clock:
        return Clock()
