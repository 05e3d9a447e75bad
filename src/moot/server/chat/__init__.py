"""Debates as models, for clients that speak OpenAI's APIs: chat completions and responses. docs/openai.md describes it.

`completions` and `responses` are the two APIs; what they share is in the other modules. `wanted` reads a request,
`begin` finds or makes its debate, `follow` tells it until it ends."""
