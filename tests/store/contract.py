"""The contract of every store. A backend is tested by a subclass with a `store` that goes by the fixture `clock`."""

from __future__ import annotations

import pytest

from moot.store import Store
from tests.store.contract_access import AccessContract
from tests.store.contract_artifacts import ArtifactsContract
from tests.store.contract_budgets import BudgetsContract
from tests.store.contract_debates import DebatesContract
from tests.store.contract_deletion import DeletionContract
from tests.store.contract_evaluations import EvaluationsContract
from tests.store.contract_memories import MemoriesContract
from tests.store.contract_people import PeopleContract
from tests.store.contract_steps import StepsContract


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
    @pytest.fixture
    def store(self) -> Store:
        raise NotImplementedError
