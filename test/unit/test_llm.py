"""The language model as planner, with a canned model."""

from typing import Any

import pytest
from pydantic import ValidationError

from alpha_chaos.catalogues import planners
from alpha_chaos.plan import ActionPlan, Waypoints
from alpha_chaos.planners.base import Completion, CompletionRequest, PlanReply, PlanRequest
from alpha_chaos.planners.llm import Llm
from alpha_chaos.planners.providers.base import ProviderError
from alpha_chaos.plugins import BadSetting, parse

REQUEST = PlanRequest(
    block='red',
    zone=(0.6, 0.35, 0.65),
    success_radius=0.05,
    blocks={'red': (0.5, -0.15, 0.655)},
    observed_s=0.5,
    waypoints=Waypoints(hover=0.15, grasp=0.02, lift=0.15, zone_hover=0.15, zone_place=0.06),
)


def reply(text: str, **rest: Any) -> PlanReply:
    answer = {
        'text': text,
        'provider': 'embedded',
        'model': 'tiny',
        'digest': 'ab' * 32,
        'prompt_tokens': 700,
        'completion_tokens': 99,
        'wall_s': 1.5,
        'done_reason': 'stop',
        **rest,
    }
    return Llm().plan(REQUEST, lambda question: Completion(**answer))


def test_the_text_is_handed_over_as_it_was_written() -> None:
    text = ' ```json\n{"actions": [] }\n``` \x00 \ud800'
    answer = reply(text)
    assert (answer.text, answer.plan, answer.error) == (text, None, '')


def test_the_reply_carries_its_provenance() -> None:
    asked: list[CompletionRequest] = []

    def complete(question: CompletionRequest) -> Completion:
        asked.append(question)
        return Completion('{}', 'ollama', '7e1', 'ab' * 32, 770, 249, 15.8, 'stop', cached=True)

    info = Llm(seed=7, max_tokens=99, temperature=0.5, top_p=0.8).plan(REQUEST, complete).info
    (question,) = asked
    assert (info.planner, info.provider, info.model) == ('llm', 'ollama', '7e1')
    assert (info.digest, info.prompt_sha256) == ('ab' * 32, question.prompt_sha256)
    assert (info.prompt_tokens, info.completion_tokens, info.wall_s) == (770, 249, 15.8)
    assert (info.cached, info.done_reason) == (True, 'stop')
    options = question.options
    assert (options.seed, options.max_tokens) == (7, 99)
    assert (options.temperature, options.top_p) == (0.5, 0.8)


def typed(text: str, **rest: Any) -> PlanReply:
    answer = Completion(text, 'embedded', 'tiny', 'ab' * 32, 700, 99, 1.5, 'stop', **rest)
    return Llm(handover='typed').plan(REQUEST, lambda question: answer)


def test_a_typed_handover_has_a_plan_with_numbers_and_no_text() -> None:
    answer = typed('{"actions":[{"action":"MOVE_TO","target":"red.hover"}]}')
    assert (answer.text, answer.error) == (None, '')
    assert answer.plan is not None
    (action,) = answer.plan.actions
    assert action.target == (0.5, -0.15, 0.655 + 0.15)  # type: ignore[union-attr]
    assert answer.info.completion_tokens == 99


@pytest.mark.parametrize(
    ('text', 'code'),
    [
        ('I cannot do that.', 'not_json'),
        ('{"actions":[]}', 'empty_plan'),
        ('{"actions":[{"action":"MOVE_TO","target":"blue.hover"}]}', 'unseen_block'),
    ],
)
def test_a_typed_handover_of_no_plan_is_the_planners_error(text: str, code: str) -> None:
    answer = typed(text)
    assert (answer.plan, answer.text) == (None, text)
    assert (answer.error, answer.infrastructure) == (code, False)


def test_a_refusal_is_a_reply_for_the_parser_to_judge() -> None:
    answer = reply('I cannot do that.')
    assert not answer.error
    assert answer.text is not None
    assert ActionPlan.validate_raw_plan(answer.text).reasons[0].code == 'not_json'


@pytest.mark.parametrize('text', [' \n' * 200, '{"actions":[{"action"'])
def test_a_reply_cut_off_by_the_limit_is_truncated(text: str) -> None:
    answer = reply(text, done_reason='length', completion_tokens=400)
    assert (answer.error, answer.infrastructure) == ('truncated', False)
    assert '400 tokens' in answer.message
    assert answer.text == text
    assert answer.info.done_reason == 'length'


def test_an_empty_reply_is_the_planners_error() -> None:
    answer = reply('\n', thinking='Let me see.')
    assert (answer.error, answer.infrastructure) == ('empty_reply', False)
    assert '11 characters of thinking' in answer.message
    assert 'thinking' not in reply('').message


@pytest.mark.parametrize('infrastructure', [True, False])
def test_a_provider_that_fails_is_an_answer_not_an_exception(infrastructure: bool) -> None:
    def complete(question: CompletionRequest) -> Completion:
        error = ProviderError('timeout', 'no answer within 5 s', infrastructure)
        error.provider, error.model = 'ollama', 'llama3:latest'
        raise error

    answer = Llm().plan(REQUEST, complete)
    assert (answer.plan, answer.text) == (None, None)
    assert (answer.error, answer.message) == ('timeout', 'no answer within 5 s')
    assert answer.infrastructure is infrastructure
    assert (answer.info.provider, answer.info.model) == ('ollama', 'llama3:latest')
    assert answer.info.prompt_sha256


def test_without_a_model_it_is_the_infrastructures_error() -> None:
    answer = Llm().plan(REQUEST, None)
    assert (answer.error, answer.infrastructure) == ('no_model', True)


@pytest.mark.parametrize('tag', ['7e1', '123E5', '1'])
def test_a_model_tag_stays_text(tag: str) -> None:
    planner = parse(planners(), {'kind': 'llm', 'model': tag}, 'planner')
    assert isinstance(planner, Llm)
    assert planner.model == tag
    assert Llm.model_validate_json(planner.model_dump_json()).model == tag


def test_a_tag_that_became_a_number_is_refused_by_name() -> None:
    with pytest.raises(BadSetting, match='model'):
        parse(planners(), {'kind': 'llm', 'model': 7e1}, 'planner')


@pytest.mark.parametrize('settings', [{'temperature': -1}, {'top_p': 0}, {'max_tokens': 0}])
def test_sampling_that_cannot_be_is_refused(settings: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        Llm.model_validate(settings)
