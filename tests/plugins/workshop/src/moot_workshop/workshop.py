from moot.models.providers import Api, Provider

PROVIDER = Provider(
    name="workshop",
    example="workshop:hammer-1",
    about="the workshop's own models",
    api=Api(
        url="https://api.workshop.example/v1",
        url_variable="WORKSHOP_BASE_URL",
        keys=("WORKSHOP_API_KEY",),
        embeds=True,
        renamed={"seed": "random_seed"},
    ),
    models={"debater": "hammer-1", "judge": "hammer-1"},
    sampling=frozenset({"temperature", "top_p", "seed"}),
)
