"""Registers debates as models with Inspect (the package `inspect_ai`), which loads this module by its entry point."""

# Inspect is not installed with moot.
# pyright: basic, reportMissingImports=false
from inspect_ai.model import modelapi


@modelapi(name="moot")
def moot():
    """`--model moot/council`. Imported when such a model is asked for."""
    from moot.library.inspect_model import DebateModel

    return DebateModel
