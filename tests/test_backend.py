"""One call gives the store of a location, and the pace, queue and clock that belong to it."""

from __future__ import annotations

import asyncio
import time

import pytest

from moot.backend import open_backend
from moot.core.errors import InputError
from moot.core.pace import Rates
from moot.core.settings import RateLimit
from moot.store.overview import Presence
from tests.store.samples import debate

RATES = Rates.of(RateLimit(requests_per_minute=10))


@pytest.mark.parametrize("form", ["{}", "sqlite:///{}"])
def test_a_file_is_driven_by_the_process_that_opens_it(tmp_path, form):
    path = tmp_path / "moot.db"

    async def main() -> None:
        backend = open_backend(form.format(path))
        assert backend.location == path
        assert backend.queue is backend.workers is None
        assert (await backend.status()).version == 0
        assert (await backend.pace.take("model", RATES, 1)).wait == 0
        assert abs(backend.now() - time.time()) < 5
        assert not path.exists()  # nothing but the store creates it
        await backend.store.create(debate(1))
        assert (await backend.status()).debates == {"pending": 1}
        assert backend.store is backend.store
        await backend.store.close()

    asyncio.run(main())


def test_a_server_is_shared_by_workers(database_url):
    async def main() -> None:
        backend, other = open_backend(database_url), open_backend(database_url)
        assert (await backend.status()).debates == {}
        await backend.store.create(debate(1))
        assert (await other.store.get(debate(1).id)).topic == debate(1).topic
        await backend.queue.put(debate(1).id, expect=("pending",))
        assert (await other.queue.depth()).waiting == 1
        assert (await backend.pace.take("model", RATES, 1)).wait == 0
        assert (await other.pace.take("model", RATES, 1)).wait > 0  # one limit for both
        await backend.workers.check_in(Presence(name="w", version="1", started_at=0.0, debates=0, room=1))
        assert [worker.name for worker in (await other.store.overview(60)).workers] == ["w"]
        assert abs(backend.now() - other.now()) < 5
        assert backend.retries == 0
        await backend.store.close()
        await other.store.close()

    asyncio.run(main())


def test_another_scheme_is_refused():
    with pytest.raises(InputError, match="mysql:// databases can't be used; give a file"):
        open_backend("mysql://root:secret@host/db")
