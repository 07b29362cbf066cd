/** One round of an agent's model: the request, as middlewares make it, and the pieces of the answer. */
import { concatMap, defer, first as firstOf, from, isObservable, map, type Observable, of, takeUntil, tap } from 'rxjs';
import { isThenable } from '../../compose/engine/later.js';
import { show } from '../../compose/make-step.js';
import type { Step, StepActivation } from '../../compose/step.js';
import { step } from '../../compose/steps.js';
import { toEngineError } from '../../errors.js';
import type { AssistantMessage, TokenUsage } from '../../models/messages.js';
import { goOnWith } from '../../operators/go-on-with.js';
import { requestMessages } from '../round.js';
import type { AgentInGraph } from './agent-in-graph.js';
import { StepView } from './agent-view.js';
import { type AnswerTelling, answerTelling, eventMarker } from './answer-events.js';
import { askModel, isRestart, joinAnswer, RESTART, UNFINISHED } from './ask-model.js';
import { calling, givenBy, piecesBy, preparedBy, wrongGiven } from './given.js';
import { heardAt } from './heard-inputs.js';
import { placeOf } from './listen-step.js';
import { liveAt } from './live-control.js';
import { addUsage, largerUsage, loopAt } from './loop-state.js';
import type { AnyMiddleware, AskModel, RoundRequest } from './middleware.js';
import { MiddlewareView } from './run-hooks.js';
import { markAnswer } from './say-step.js';

/** Asks the model; the chunks are those of its message, as {@link joinAnswer} joins them. */
export function modelStep(agent: AgentInGraph): Step<unknown, AssistantMessage> {
  const { setup } = agent;
  const marker = eventMarker(setup.use);
  return step<unknown, AssistantMessage>('model', (_, at) => defer(() => answer$(agent, at)), {
    kind: 'chatModel',
    chunks: joinAnswer,
  });

  function answer$({ endsOnFailure }: AgentInGraph, at: StepActivation): Observable<AssistantMessage> {
    const startedAt = at.now();
    const place = placeOf(setup, at);
    const live = liveAt(at);
    const loop = loopAt(at);
    const telling = marker && { marker, ...answerTelling() };
    const policy = {
      agent: setup.name,
      failover: setup.failover,
      retry: setup.retry,
      limits: setup.limits,
      wrap: (request: RoundRequest, ask: AskModel) => wrapped(agent, at, ask, telling)(request),
    };
    const before = loop.value.model;
    let model = before;
    let usage: TokenUsage | undefined;
    const worked = (position: number): void => {
      model = position;
    };
    const ask = (request: RoundRequest): Observable<AssistantMessage> => {
      const answer$ = askModel(policy, request, at, { model: before, worked });
      return agent.isLive && live === undefined ? answer$.pipe(markAnswer(setup, request.tools.length)) : answer$;
    };
    const request = requestOf(agent, at);
    const pieces$ = isObservable(request) ? request.pipe(concatMap(ask)) : ask(request);
    const heard$ = live === undefined ? pieces$ : pieces$.pipe(droppedBy(live.now$(place, heardAt(at))));
    const counted$ = heard$.pipe(
      tap((chunk) => {
        if (isRestart(chunk)) usage = undefined;
        else if (chunk.usage !== undefined) usage = largerUsage(usage, chunk.usage);
      }),
    );
    const keep = (message: AssistantMessage): void => {
      loop.update({ kept: { round: loop.value.round, message } });
    };
    const told$ = telling === undefined ? counted$ : counted$.pipe(telling.toldFor(keep));
    return told$.pipe(
      goOnWith((end) => {
        if (end !== undefined && !endsOnFailure) throw end.error;
        const used = end === undefined ? usage : undefined;
        const { value } = loop;
        const tookMs = at.now() - startedAt;
        loop.update({
          ...(used !== undefined && { usage: addUsage(value.usage, used) }),
          ...(tookMs !== 0 && { elapsedMs: value.elapsedMs + tookMs }),
          ...(model !== before && { model }),
        });
        live?.reached(place, 'model');
        return end && of(RESTART, failure(end.error));
      }),
    );
  }
}

/** A request, and what may change it: gives the next one, or nothing to leave it as it is. */
type RequestChange = (request: RoundRequest) => unknown;

/** The request of this round, through everything that may change it; at once where nothing has to be waited for. */
function requestOf(agent: AgentInGraph, at: StepActivation): RoundRequest | Observable<RoundRequest> {
  const { setup } = agent;
  const { prepareRound } = setup;
  const changes: RequestChange[] = [];
  if (prepareRound !== undefined) {
    const view = new StepView(setup, at);
    changes.push((request) => {
      const merge = (change: unknown): RoundRequest => preparedBy(setup.name, change, request);
      const change = prepareRound(request, view);
      if (isObservable(change)) return change.pipe(map(merge));
      return isThenable(change) ? change.then(merge) : merge(change);
    });
  }
  for (const middleware of setup.use) {
    if (middleware.beforeModel === undefined) continue;
    changes.push((request) => {
      const take = (given: unknown): RoundRequest => givenBy('beforeModel', middleware, given, request);
      const view = new MiddlewareView(setup, at, middleware);
      const given = calling('beforeModel', middleware, () => middleware.beforeModel?.(request, view));
      if (isObservable(given)) return given.pipe(map(take));
      return isThenable(given) ? given.then(take) : take(given);
    });
  }
  return changed(ownRequest(agent, at), changes, 0);
}

function changed(
  request: RoundRequest,
  changes: readonly RequestChange[],
  first: number,
): RoundRequest | Observable<RoundRequest> {
  let now = request;
  for (let index = first; index < changes.length; index += 1) {
    const given = changes[index]?.(now);
    const goOn = (later: unknown): Observable<RoundRequest> => {
      const next = changed((later as RoundRequest | undefined) ?? now, changes, index + 1);
      return isObservable(next) ? next : of(next);
    };
    if (isObservable(given)) return given.pipe(firstOf(undefined, now), concatMap(goOn));
    if (isThenable(given)) return from(given).pipe(concatMap(goOn));
    now = (given as RoundRequest | undefined) ?? now;
  }
  return now;
}

function ownRequest({ setup, offered, settings }: AgentInGraph, at: StepActivation): RoundRequest {
  const { messages, spent } = loopAt(at).value;
  return {
    model: setup.model,
    settings,
    instructions: instructionsOf(setup, at),
    messages: requestMessages(messages, spent === '' ? undefined : spent, setup.language),
    tools: spent === '' ? offered : [],
  };
}

function instructionsOf(setup: AgentInGraph['setup'], at: StepActivation): string {
  const { name, instructions, use } = setup;
  if (typeof instructions === 'string' && use.every((middleware) => middleware.instructions === undefined)) {
    return instructions;
  }
  const view = new StepView(setup, at);
  const texts = [instructions, ...use.map((middleware) => middleware.instructions ?? '')];
  return texts
    .map((text) => (typeof text === 'function' ? saidBy(name, text(view)) : text))
    .filter((text) => text !== '')
    .join('\n\n');
}

function saidBy(agent: string, given: unknown): string {
  if (typeof given === 'string') return given;
  throw wrongGiven(`A function "instructions" of agent "${agent}"`, 'text', show(given));
}

/** The middlewares around one try, the first one outermost. */
function wrapped(
  { setup }: AgentInGraph,
  at: StepActivation,
  ask: AskModel,
  telling: (Pick<AnswerTelling, 'passing'> & { readonly marker: AnyMiddleware }) | undefined,
): AskModel {
  return setup.use.reduceRight<AskModel>((next, middleware) => {
    if (middleware === telling?.marker) return (request) => next(request).pipe(telling.passing);
    if (middleware.wrapModel === undefined) return next;
    const view = new MiddlewareView(setup, at, middleware);
    return (request) =>
      defer(() =>
        piecesBy(
          middleware,
          calling('wrapModel', middleware, () => middleware.wrapModel?.(request, next, view)),
        ),
      );
  }, ask);
}

/**
 * Drops an answer for an input that does not wait.
 *
 * ```text
 * source    --a--b--c|
 * now$      -------x
 * result    --a--b-(U|)        (U: it is unfinished)
 * ```
 */
function droppedBy(now$: Observable<unknown>): (source: Observable<AssistantMessage>) => Observable<AssistantMessage> {
  return (source) =>
    defer(() => {
      let isWhole = false;
      const read$ = source.pipe(
        tap({
          complete: () => {
            isWhole = true;
          },
        }),
        takeUntil(now$),
      );
      return read$.pipe(
        goOnWith((end) => {
          if (end !== undefined) throw end.error;
          return isWhole ? undefined : of(UNFINISHED);
        }),
      );
    });
}

function failure(thrown: unknown): AssistantMessage {
  const { code, message } = toEngineError(thrown, 'MODEL_UNAVAILABLE');
  return { role: 'assistant', content: '', extra: { failed: { code, message } } };
}
