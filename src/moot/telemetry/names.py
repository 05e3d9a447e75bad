"""Names that others read: of attributes, by OpenTelemetry's conventions for generative AI and our own beside them."""

from __future__ import annotations

OPERATION = "gen_ai.operation.name"
PROVIDER = "gen_ai.provider.name"
CONVERSATION = "gen_ai.conversation.id"
REQUEST_MODEL = "gen_ai.request.model"
REQUEST_MAX_TOKENS = "gen_ai.request.max_tokens"
REQUEST_TEMPERATURE = "gen_ai.request.temperature"
OUTPUT_TYPE = "gen_ai.output.type"
RESPONSE_MODEL = "gen_ai.response.model"
FINISH_REASONS = "gen_ai.response.finish_reasons"
FIRST_CHUNK = "gen_ai.response.time_to_first_chunk"  # seconds
INPUT_TOKENS = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
CACHED_TOKENS = "gen_ai.usage.cache_read.input_tokens"
STORED_TOKENS = "gen_ai.usage.cache_creation.input_tokens"
INPUT_MESSAGES = "gen_ai.input.messages"
OUTPUT_MESSAGES = "gen_ai.output.messages"
ERROR = "error.type"

CHAT = "chat"

DEBATE = "moot.debate.id"
EPOCH = "moot.debate.epoch"
FORMAT = "moot.debate.format"
STATUS = "moot.debate.status"
KEY = "moot.step.key"
KIND = "moot.step.kind"
ROUND = "moot.step.round"
PHASE = "moot.step.phase"
SEAT = "moot.step.seat"
COST = "moot.cost_usd"
ATTEMPTS = "moot.attempts"  # that did not count
