"""A client that `openapi-python-client` has generated: `moot_client` in the folder that is given, with the address."""

import json
import sys

sys.path.insert(0, sys.argv[1])

from moot_client import Client
from moot_client.api.debates import create_debate, estimate_debate, get_debate, list_debates
from moot_client.api.gates import answer_gate, list_gates
from moot_client.api.records import get_record
from moot_client.api.session import get_session
from moot_client.api.transcript import get_events, list_turns
from moot_client.models import (
    Event,
    GateAnswer,
    GetEventsUntil,
    NewDebate,
    NewDebateSettings,
    Problem,
    Status,
)

base_url = sys.argv[2]
client = Client(base_url=base_url, raise_on_unexpected_status=True)
watcher = Client(base_url=base_url, headers={"Accept": "text/event-stream"})
settings = NewDebateSettings.from_dict({"max_rounds": 1, "perspectives": 2})
new = NewDebate(topic="Redis or PostgreSQL?", format_="panel", settings=settings)

calls = estimate_debate.sync(client=client, body=new).full_length.calls
made = create_debate.sync(client=client, body=new)
watched, answered = [], 0
while True:
    request = get_events._get_kwargs(made.id, after=len(watched), until=GetEventsUntil.REST)
    with watcher.get_httpx_client().stream(**request) as response:
        kind = ""
        for line in response.iter_lines():
            name, _, value = line.partition(": ")
            if name == "data" and not kind:
                watched.append(Event.from_dict(json.loads(value)))
            kind = value if name == "event" else "" if not line else kind
    debate = get_debate.sync(made.id, client=client)
    if debate.status != Status.WAITING:
        break
    for gate in list_gates.sync(made.id, client=client).items:
        if gate.status == "open":
            words = {"choice": gate.choices[0]} if gate.choices else {"text": "For a small shop."}
            assert answer_gate.sync(made.id, client=client, body=GateAnswer(key=gate.key, **words)).gate.key == gate.key
            answered += 1

page = get_events.sync(made.id, client=client, limit=1000)
problem = get_debate.sync("nope", client=client)
assert isinstance(problem, Problem)
listed = list_debates.sync(client=client, status=Status.COMPLETED)
print(
    json.dumps(
        {
            "calls": calls,
            "id": made.id,
            "status": debate.status,
            "answered": answered,
            "watched": [event.seq for event in watched],
            "page": [event.seq for event in page.items],
            "turns": len(list_turns.sync(made.id, client=client).items),
            "seats": [seat.name for seat in debate.seats],
            "headline": debate.headline,
            "record": get_record.sync(made.id, client=client).decided.headline,
            "listed": [each.id for each in listed.items],
            "problem": problem.type_,
            "scopes": [scope.value for scope in get_session.sync(client=client).scopes],
        }
    )
)
