"""What there is to choose from, for people: how each provider's models are written, and what they are."""

from __future__ import annotations

ROLES = ("debater", "judge")
EXAMPLES = {
    "openai": "openai:gpt-6-luna",
    "anthropic": "anthropic:claude-haiku-5-5",
    "deepseek": "deepseek:deepseek-flash",
    "openrouter": "openrouter:openai/gpt-6-luna",
    "ollama": "ollama:llama3.2",
    "openai-compatible": "openai-compatible:my-model@http://127.0.0.1:8000/v1",
    "local": "local",
    "scripted": "scripted:answers.yaml",
    "sim": "sim:",
    "replay": "replay:3f2a91c0",
    "human": "human",
}
ABOUT = {
    "ollama": "a local server; no key",
    "openai-compatible": "any server that speaks OpenAI's protocol; MOOT_API_KEY if it needs a key",
    "local": "the embedded model: no key, no service; a demonstration, its verdicts mean nothing",
    "scripted": "answers from a YAML file, for tests and drafts",
    "sim": "seeded nonsense, for load tests",
    "replay": "the answers of a recorded debate",
    "human": "a person speaks for the seat",
}
