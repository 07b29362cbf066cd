/** Routes over cold streams, for tests in virtual time. */
import { asyncScheduler, defer, type Observable } from 'rxjs';
import { EngineError } from '../../../src/errors.js';
import type { ChatDelta, ChatRequest } from '../../../src/models/chat-model.js';
import { Breakers } from '../../../src/models/routing/breakers.js';
import { FirstPacketTimes } from '../../../src/models/routing/first-packet-times.js';
import { createModelRoute, type ModelRouteOptions } from '../../../src/models/routing/model-route.js';
import type { RouteDelta, RouteTarget } from '../../../src/models/routing/route-target.js';

export const REQUEST: ChatRequest = { model: 'any', messages: [{ role: 'user', content: 'hello' }] };

export const text = (value: string): ChatDelta => ({ type: 'text', text: value });
export const FINISH: ChatDelta = { type: 'finish', reason: 'stop' };

/** Letters of marbles: `x y z` texts, `f` the end, `u` usage, `e` an end without a reason. */
export const PIECES: Record<string, ChatDelta> = {
  x: text('x'),
  y: text('y'),
  z: text('z'),
  f: FINISH,
  e: { type: 'finish', reason: 'unknown' },
  u: { type: 'usage', promptTokens: 1, completionTokens: 1, totalTokens: 2 },
  t: { type: 'tool-call', index: 0, id: 'c', name: 'n', arguments: '{}' },
};

export const failure = (status?: number, retryAfterMs?: number): EngineError =>
  new EngineError(
    status !== undefined && status < 429 ? 'MODEL_REQUEST' : 'MODEL_UNAVAILABLE',
    status === undefined ? 'cut' : `answered ${status}`,
    {
      retryable: status === undefined || status >= 429,
      details: {
        ...(status !== undefined && { status }),
        ...(retryAfterMs !== undefined && { retryAfterMs }),
      },
    },
  );

export const brokenAnswer = (): EngineError => new EngineError('MODEL_RESPONSE', 'sent no JSON');

/** A target whose calls subscribe to the given streams one after the other, the last one again and again. */
export function target(
  id: string,
  ...answers: readonly Observable<ChatDelta>[]
): RouteTarget & { asked: ChatRequest[] } {
  const asked: ChatRequest[] = [];
  return {
    id,
    breaker: id,
    name: `model-${id}`,
    model: {
      chat: (request) =>
        defer(() => {
          const answer = answers[Math.min(asked.length, answers.length - 1)] as Observable<ChatDelta>;
          asked.push(request);
          return answer;
        }),
    },
    times: new FirstPacketTimes(),
    asked,
  };
}

/** A route of targets, with breakers of its own. */
export function routeOf(targets: readonly RouteTarget[], options: Partial<ModelRouteOptions> = {}) {
  const breakers = new Breakers({ scheduler: asyncScheduler });
  const route = createModelRoute({ name: 'chat', targets, breakers, random: () => 1, ...options });
  return { route, breakers };
}

export const served = (id: string, attempts: number): RouteDelta => ({
  type: 'served',
  target: id,
  model: `model-${id}`,
  attempts,
});
