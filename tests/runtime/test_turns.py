"""Turns: any reply can be stored."""

from __future__ import annotations

import asyncio
import json

from moot.client import documents
from moot.core.types import Reply, Usage
from moot.core.values import storable
from tests.running import an_app, answers_file, new_debate, run_to_rest


def test_halves_of_characters_are_joined_and_lone_ones_replaced():
    assert storable("hi \ud83d\ude00") == "hi 😀"
    assert storable("a\ud800b") == "a\ufffdb"
    assert storable("plain") == "plain"


def test_a_reply_that_is_no_text_does_not_fail_the_debate(tmp_path):
    async def main():
        async with an_app(tmp_path) as app:
            debate = await new_debate(app, answers_file(tmp_path), "classic", max_rounds=1)

            async def broken(call, hear):
                if call.returns is not None:
                    answer = call.returns.model_validate(
                        {"summary": "s", "score_a": 1, "score_b": 2, "no_new_substantive_arguments": True}
                    )
                    return Reply(text=json.dumps(answer.model_dump()), model="m", provider="p", answer=answer)
                return Reply(text="hi \ud83d there", model="m", provider="p", usage=Usage(tokens_out=3))

            app.models.open = lambda spec: broken
            done = await run_to_rest(app, debate)
            assert (done.status, done.tokens_out) == ("completed", 6)
            assert (await app.runtime.store.turns(done.id))[0].content == "hi \ufffd there"
            assert (await documents.prove(app, done.id)).same

    asyncio.run(main())
