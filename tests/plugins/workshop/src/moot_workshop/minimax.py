from fractions import Fraction

from moot.reasoning.voting import Counted, Method, Profile
from moot.reasoning.voting.profile import by_figure


def count(profile: Profile) -> Counted:
    worst = {name: min(leads.values(), default=Fraction()) for name, leads in profile.margins.items()}
    return Counted(places=by_figure(profile.candidates, worst), rounds=())


MINIMAX = Method(
    name="minimax",
    summary="Its worst defeat, head to head, is the smallest.",
    takes="ranking",
    weighs=True,
    count=count,
)
