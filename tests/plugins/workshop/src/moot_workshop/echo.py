from moot.core.types import Call, Hear, Price, Reply, Usage
from moot.models.providers import ModelSpec, Opened, Opening, Provider


def open_echo(spec: ModelSpec, opening: Opening) -> Opened:
    async def echo(call: Call, hear: Hear) -> Reply:
        text = call.messages[-1].text[: 4 * call.max_tokens]
        hear(text)
        usage = Usage(tokens_in=len(text) // 4, tokens_out=len(text) // 4)
        return Reply(text=text, model=str(spec), provider="echo", usage=usage)

    return Opened(model=echo, priced=False)


PROVIDER = Provider(
    name="echo",
    example="echo:any",
    about="says what it was told",
    open=open_echo,
    price=lambda spec: Price(usd_in=0, usd_out=0),
    demonstration=True,
    restricted=lambda spec: False,
)
