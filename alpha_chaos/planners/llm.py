"""The planner under test: a language model."""

from typing import ClassVar, Literal

from pydantic import Field

from alpha_chaos.plan import ActionPlan, PlanProblem
from alpha_chaos.planners.base import (
    Complete,
    Completion,
    Planner,
    PlanReply,
    PlanRequest,
    Provenance,
    Sampling,
)
from alpha_chaos.planners.foresight import without_thoughts
from alpha_chaos.planners.prompt import Prompting, completion_request
from alpha_chaos.planners.providers.base import ProviderError


class Llm(Planner):
    """Ask a language model, once, and hand over what it wrote, as it wrote it.

    As text it is not looked into: whether it is a plan is for the parser to say, after the way
    through the relay.
    """

    kind: Literal['llm'] = 'llm'
    node: ClassVar[Literal['oracle_planner', 'llm_planner']] = 'llm_planner'
    needs_llm: ClassVar[bool] = True

    provider: Literal['auto', 'ollama', 'embedded'] = Field(
        default='auto', description='where the model runs'
    )
    model: str = Field(
        default='', description='Ollama tag or path of a .gguf file; empty for the first choice'
    )
    temperature: float = Field(default=0.0, ge=0, description='0 is greedy [1]')
    top_p: float = Field(default=0.9, gt=0, le=1, description='share of likely tokens kept [1]')
    seed: int = Field(default=42, ge=0, description='of the sampler; of no effect when greedy')
    max_tokens: int = Field(default=400, gt=0, description='length that ends a reply [1]')
    context_tokens: int | None = Field(
        default=None,
        ge=256,
        le=1_000_000,
        description='room for prompt and reply together [1]; none: what one block needs',
    )
    prompting: Prompting = Field(
        default='base',
        description='foresight: each action is to be tried out in thought before it is written',
    )
    handover: Literal['text', 'typed'] = Field(
        default='text',
        description='typed: the reply is read where it was made and handed over as a plan, so '
        'that no text passes the boundary',
    )

    def plan(self, request: PlanRequest, complete: Complete | None) -> PlanReply:
        """Return the model's reply as text, or the typed reason why there is none.

        A reply that is empty or was cut off is the planner's error; a server that did not answer
        is the infrastructure's.
        """
        question = completion_request(
            request,
            Sampling(
                temperature=self.temperature,
                top_p=self.top_p,
                seed=self.seed,
                max_tokens=self.max_tokens,
            ),
            self.prompting,
        )
        try:
            if complete is None:
                raise ProviderError('no_model', 'the planner has no model to ask')
            answer = complete(question)
        except ProviderError as error:
            info = Provenance(
                self.kind, error.provider, error.model, prompt_sha256=question.prompt_sha256
            )
            return PlanReply(None, None, info, error.code, error.message, error.infrastructure)
        info = Provenance(
            planner=self.kind,
            provider=answer.provider,
            model=answer.model,
            digest=answer.digest,
            prompt_sha256=question.prompt_sha256,
            prompt_tokens=answer.prompt_tokens,
            completion_tokens=answer.completion_tokens,
            wall_s=answer.wall_s,
            cached=answer.cached,
            done_reason=answer.done_reason,
        )
        code, message = _problem(answer)
        text = without_thoughts(answer.text) if self.prompting == 'foresight' else answer.text
        if self.handover == 'typed' and not code:
            return _typed(text, request, info)
        return PlanReply(None, text, info, code, message)


Llm.example = Llm(model='llama3:latest', seed=7)


def _typed(text: str, request: PlanRequest, info: Provenance) -> PlanReply:
    verdict = ActionPlan.validate_raw_plan(text, request.words)
    if verdict.reasons:
        reason = verdict.reasons[0]
        return PlanReply(None, text, info, reason.code, str(reason))
    try:
        plan = request.resolve(verdict.plan)
    except PlanProblem as problem:
        return PlanReply(None, text, info, problem.reason.code, str(problem))
    return PlanReply(plan, None, info)


def _problem(answer: Completion) -> tuple[str, str]:
    if answer.done_reason == 'length':
        return 'truncated', f'the reply was cut off after {answer.completion_tokens} tokens'
    if not answer.text.strip():
        beside = len(answer.thinking)
        rest = f'; the model wrote {beside} characters of thinking instead' if beside else ''
        return 'empty_reply', f'the reply is empty{rest}'
    return '', ''
