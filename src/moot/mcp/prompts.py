"""The prompts: what a user may want of a debate, in words for the model that is connected."""

# pyright: reportUnusedFunction=false

from __future__ import annotations

from typing import Annotated, Any

from mcp.server import MCPServer
from pydantic import Field

from moot import formats

_RUN = """\
1. Call search_decisions with the question. If it was decided before, tell me, and ask whether to debate it again.
2. Call start_debate. {format}
3. Call wait_for_debate until its status is completed. When it asks something, put the question to me, and give my
   answer with answer_gate; don't answer for me.
4. Call read_record."""
_NO_FORMAT = "These are its formats; choose the one that fits, or leave `format` out:\n{formats}"


def add(server: MCPServer[Any]) -> None:
    def steps(format: str = "") -> str:
        known = formats.installed().values()
        listed = "\n".join(f"   - {each.name}: {each.purpose}. {each.summary}" for each in known)
        named = f"Take the format {format.strip()!r}." if format.strip() else _NO_FORMAT.format(formats=listed)
        return _RUN.format(format=named)

    @server.prompt(title="Debate a question")
    def debate_question(
        question: Annotated[str, Field(description="what to debate")],
        format: Annotated[str, Field(description="a format or preset; left out: what suits the question")] = "",
    ) -> str:
        """Let several models argue a question out, and report the answer."""
        return f"""\
I want this question debated, not only answered:

{question.strip()}

{steps(format)}

Then tell me the answer in a sentence, the strongest reason for it, the strongest objection and what became of it, and
what was left open. Say what moot has checked about the verdict, doubts included, and what it cost."""

    @server.prompt(title="Stress-test a plan")
    def stress_test_plan(
        plan: Annotated[str, Field(description="the plan, in full")],
        worry: Annotated[str, Field(description="what you are most afraid of, if anything")] = "",
    ) -> str:
        """Have a plan attacked before it is carried out, and report what did not hold."""
        afraid = f"\n\nWhat worries me most: {worry.strip()}" if worry.strip() else ""
        return f"""\
I want to know whether this plan holds before I carry it out:

{plan.strip()}{afraid}

Make one question of it that names the plan and asks whether it will work as it is, and what would make it fail. Put
everything into the question that someone needs who knows nothing else of it.

{steps()}

Then list what was found against the plan, the worst first: what could go wrong, whether it was answered in the debate,
and the smallest change that would remove it. End with what you would check before starting. Don't defend the plan."""

    @server.prompt(title="Second opinion on a decision")
    def second_opinion(
        decision: Annotated[str, Field(description="what was decided, or is about to be")],
        reasons: Annotated[str, Field(description="why, as far as you can say")] = "",
    ) -> str:
        """Have a decision judged by models that were not told what to think of it."""
        why = f"\n\nMy reasons, which are for you and not for the debate: {reasons.strip()}" if reasons.strip() else ""
        return f"""\
I want a second opinion on this decision:

{decision.strip()}{why}

Make a question of it that leaves open what I have decided: name the alternatives in a neutral order, and keep my
reasons out of it, so that they don't steer the debate.

{steps()}

Then compare: does the outcome agree with my decision? Which of my reasons came up by themselves, which were refuted,
and which reason did I not have? If it disagrees, say what would have to be true for me to be right."""
