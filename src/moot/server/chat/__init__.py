"""Debates as models, for clients that speak OpenAI's chat API. docs/openai.md describes it."""
