/** One round of an agent's model: the request, as middlewares make it, and the pieces of the answer. */
import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  first,
  from,
  isObservable,
  map,
  type Observable,
  of,
  takeUntil,
  tap,
} from 'rxjs';
import { isThenable } from '../../compose/engine/later.js';
import { jsonSchemaOf } from '../../compose/json-schema.js';
import type { Step, StepActivation } from '../../compose/step.js';
import { step } from '../../compose/steps.js';
import { toolDefinition } from '../../compose/tools/step-tool.js';
import { toEngineError } from '../../errors.js';
import type { ToolDefinition } from '../../models/chat-model.js';
import type { AssistantMessage } from '../../models/messages.js';
import type { AgentInGraph } from './agent-in-graph.js';
import { StepView } from './agent-view.js';
import { askModel, joinAnswer, RESTART, UNFINISHED } from './ask-model.js';
import { offeredAtOnce } from './background-state.js';
import { heardAt } from './heard-inputs.js';
import { placeOf } from './listen-step.js';
import { liveAt } from './live-control.js';
import { addUsage, loopAt } from './loop-state.js';
import type { AskModel, RoundRequest } from './middleware.js';
import { givenBy, MiddlewareView } from './run-hooks.js';

/** Asks the model; the chunks are those of its message, as {@link joinAnswer} joins them. */
export function modelStep(agent: AgentInGraph): Step<unknown, AssistantMessage> {
  const { setup } = agent;
  return step<unknown, AssistantMessage>('model', (_, at) => defer(() => answer$(agent, at)), {
    kind: 'chatModel',
    chunks: joinAnswer,
  });

  function answer$({ endsOnFailure }: AgentInGraph, at: StepActivation): Observable<AssistantMessage> {
    const startedAt = at.now();
    const place = placeOf(setup, at);
    const live = liveAt(at);
    const loop = loopAt(at);
    const chunks: AssistantMessage[] = [];
    const policy = {
      agent: setup.name,
      failover: setup.failover,
      retry: setup.retry,
      limits: setup.limits,
      wrap: (request: RoundRequest, ask: AskModel) => wrapped(agent, at, ask)(request),
    };
    let model = loop.value.model;
    const worked = (position: number): void => {
      model = position;
    };
    const pieces$ = requestOf(agent, at).pipe(concatMap((request) => askModel(policy, request, at, { model, worked })));
    const dropped$ = live === undefined ? pieces$ : pieces$.pipe(droppedBy(live.now$(place, heardAt(at))));
    const ended$ = endsOnFailure
      ? dropped$.pipe(catchError((thrown: unknown) => of(RESTART, failure(thrown))))
      : dropped$;
    return concat(
      ended$.pipe(tap((chunk) => chunks.push(chunk))),
      defer(() => {
        const { usage } = joinAnswer(chunks);
        const { elapsedMs } = loop.value;
        loop.update({ usage: addUsage(loop.value.usage, usage), elapsedMs: elapsedMs + at.now() - startedAt, model });
        live?.reached(place, 'model');
        return EMPTY;
      }),
    );
  }
}

/** The request of this round, through everything that may change it. */
function requestOf(agent: AgentInGraph, at: StepActivation): Observable<RoundRequest> {
  const { setup } = agent;
  const view = new StepView(setup.name, at);
  const changes: ((request: RoundRequest) => unknown)[] = [];
  const { prepareRound } = setup;
  if (prepareRound !== undefined) {
    changes.push((request) => {
      const merge = (change: Partial<RoundRequest> | undefined): RoundRequest => ({ ...request, ...change });
      const change = prepareRound(request, view);
      return isThenable(change) ? change.then(merge) : merge(change);
    });
  }
  for (const middleware of setup.use) {
    if (middleware.beforeModel === undefined) continue;
    changes.push((request) => {
      const take = (given: unknown): RoundRequest => givenBy('beforeModel', middleware, given, request);
      const given = middleware.beforeModel?.(request, new MiddlewareView(setup.name, at, middleware));
      if (isObservable(given)) return given.pipe(map(take));
      return isThenable(given) ? given.then(take) : take(given);
    });
  }
  return changes.reduce<Observable<RoundRequest>>(
    (request$, change) =>
      request$.pipe(
        concatMap((request) => {
          const changed = change(request);
          const take = (given: unknown): RoundRequest => (given as RoundRequest | undefined) ?? request;
          if (isObservable(changed)) return changed.pipe(first(undefined, request), map(take));
          return isThenable(changed) ? from(changed.then(take)) : of(take(changed));
        }),
      ),
    of(ownRequest(agent, at)),
  );
}

function ownRequest(agent: AgentInGraph, at: StepActivation): RoundRequest {
  const { setup } = agent;
  const { model, settings, output } = setup;
  const { messages, spent } = loopAt(at).value;
  const schema = output === undefined ? undefined : jsonSchemaOf(output);
  return {
    model,
    settings: schema === undefined ? settings : { jsonSchema: { name: 'answer', schema }, ...settings },
    instructions: instructionsOf(setup, at),
    messages: spent === '' ? messages : [...messages, { role: 'user', content: withoutTools(spent) }],
    tools: spent === '' ? toolsOf(agent) : [],
  };
}

function toolsOf({ tools, agents, handoffs, background }: AgentInGraph): ToolDefinition[] {
  return [...tools, ...agents, ...handoffs.values()].map((tool) => {
    const told = toolDefinition(tool);
    return background?.isFor(tool) === true ? offeredAtOnce(told, background) : told;
  });
}

function instructionsOf({ name, instructions, use }: AgentInGraph['setup'], at: StepActivation): string {
  const view = new StepView(name, at);
  const texts = [instructions, ...use.map((middleware) => middleware.instructions ?? '')];
  return texts
    .map((text) => (typeof text === 'function' ? text(view) : text))
    .filter((text) => text !== '')
    .join('\n\n');
}

/** Said when no tool may be called any more. */
function withoutTools(reason: string): string {
  return `${reason} No more tools can be called now. Answer with what you know so far, and say what is missing.`;
}

/** The middlewares around one try, the first one outermost. */
function wrapped({ setup }: AgentInGraph, at: StepActivation, ask: AskModel): AskModel {
  return setup.use.reduceRight<AskModel>((next, middleware) => {
    if (middleware.wrapModel === undefined) return next;
    const view = new MiddlewareView(setup.name, at, middleware);
    return (request) => defer(() => middleware.wrapModel?.(request, next, view) ?? next(request));
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
      return concat(
        read$,
        defer(() => (isWhole ? EMPTY : of(UNFINISHED))),
      );
    });
}

function failure(thrown: unknown): AssistantMessage {
  const { code, message } = toEngineError(thrown, 'MODEL_UNAVAILABLE');
  return { role: 'assistant', content: '', extra: { failed: { code, message } } };
}
