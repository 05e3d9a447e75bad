"""What every store must do. A backend passes when a subclass with a `run` fixture passes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.store.contract_debates import DebatesContract
from tests.store.contract_memories import MemoriesContract
from tests.store.contract_people import PeopleContract
from tests.store.contract_steps import StepsContract
from tests.store.samples import Clock


class StoreContract(DebatesContract, StepsContract, PeopleContract, MemoriesContract):
    """`run` opens a store (with a clock that only moves when told), runs the coroutine, closes the store."""

    @pytest.fixture
    def run(self) -> Callable[..., Any]:
        raise NotImplementedError

    @pytest.fixture
    def clock(self) -> Clock:
        return Clock()
