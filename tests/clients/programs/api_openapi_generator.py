"""A client that `openapi-generator` has generated: `moot_client` in the folder that is given, with the address."""

import json
import sys

sys.path.insert(0, sys.argv[1])

import moot_client
from moot_client import Event, GateAnswer, NewDebate, Status

configuration = moot_client.Configuration(host=sys.argv[2])
with moot_client.ApiClient(configuration) as client:
    debates, transcript = moot_client.DebatesApi(client), moot_client.TranscriptApi(client)
    gates, records = moot_client.GatesApi(client), moot_client.RecordsApi(client)
    settings = {"max_rounds": 1, "perspectives": 2}
    new = NewDebate(topic="Redis or PostgreSQL?", format="panel", settings=settings)

    calls = debates.estimate_debate(new).full_length.calls
    made = debates.create_debate(new)
    watched, answered = [], 0
    while True:
        stream = transcript.get_events_without_preload_content(
            made.id, after=len(watched), until="rest", _headers={"Accept": "text/event-stream"}
        )
        kind = ""
        for line in b"".join(stream.stream()).decode().splitlines():
            name, _, value = line.partition(": ")
            if name == "data" and not kind:
                watched.append(Event.from_json(value))
            kind = value if name == "event" else "" if not line else kind
        debate = debates.get_debate(made.id)
        if debate.status != Status.WAITING:
            break
        for gate in gates.list_gates(made.id).items:
            if gate.status == "open":
                words = {"choice": gate.choices[0]} if gate.choices else {"text": "For a small shop."}
                assert gates.answer_gate(made.id, GateAnswer(key=gate.key, **words)).gate.key == gate.key
                answered += 1

    problem = ""
    try:
        debates.get_debate("nope")
    except moot_client.exceptions.NotFoundException as error:
        problem = error.data.type
    print(
        json.dumps(
            {
                "calls": calls,
                "id": made.id,
                "status": debate.status,
                "answered": answered,
                "watched": [event.seq for event in watched],
                "page": [event.seq for event in transcript.get_events(made.id, limit=1000).items],
                "turns": len(transcript.list_turns(made.id).items),
                "seats": [seat.name for seat in debate.seats],
                "headline": debate.headline,
                "record": records.get_record(made.id).decided.headline,
                "listed": [each.id for each in debates.list_debates(status="completed").items],
                "problem": problem,
                "scopes": [scope.value for scope in moot_client.SessionApi(client).get_session().scopes],
            }
        )
    )
