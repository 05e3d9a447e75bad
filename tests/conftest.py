from hypothesis import settings

from tests import plugins

pytest_plugins = ("tests.postgres",)

plugins.install()  # before anything looks for formats

settings.register_profile("moot", deadline=None)  # a busy machine is no failure
settings.load_profile("moot")
