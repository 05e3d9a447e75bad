pytest_plugins = ("tests.postgres",)
