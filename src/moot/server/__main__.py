"""`python -m moot.server` prints the API's description, without a server and without a database."""

from __future__ import annotations

import json

from moot.app import App
from moot.core.settings import Settings, read
from moot.server.app import create_app

if __name__ == "__main__":
    print(json.dumps(create_app(App(read(Settings, {}), {})).openapi(), indent=1))
