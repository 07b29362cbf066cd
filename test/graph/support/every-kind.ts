/** A run that takes 10 ms, says an event of every kind and then waits for an answer. */
import { concat, concatMap, map, of, timer, toArray } from 'rxjs';
import { EngineError } from '../../../src/errors.js';
import type { RunEvent } from '../../../src/graph/events.js';
import type { Activation } from '../../../src/graph/node.js';
import { callStarted, delta, interrupt, type NodeEvent, notice, settled } from '../../../src/graph/node-events.js';
import type { Plan } from '../../../src/graph/plan.js';
import { passes } from './containers.js';
import { planOfSpecs } from './specs.js';

export const KINDS: readonly RunEvent['type'][] = [
  'run-started',
  'node-started',
  'node-delta',
  'node-notice',
  'node-thinking',
  'node-call',
  'node-usage',
  'node-progress',
  'node-streaming',
  'node-settled',
  'node-failed',
  'node-skipped',
  'node-interrupted',
  'body-opened',
  'body-closed',
  'run-interrupted',
];

/** `signals` collects the signal of one node that works for 10 ms. */
export function everyKind(signals: AbortSignal[] = []): Plan {
  const body = { rounds: 2, isParallel: true, isIsolated: true, result: ['x', 'value'], itemOf: () => null } as const;
  return planOfSpecs({
    s: {
      downstream: ['writer', 'flaky', 'bad', 'skipped', 'box', 'form', 'quiet', 'never'],
      activate: () => settled({}, { next: ['writer', 'flaky', 'bad', 'skipped', 'box', 'form', 'quiet'] }),
    },
    writer: { streams: ['content'], downstream: ['reader', 'other'], activate: write },
    reader: { consumes: ['writer'], activate: read },
    other: { consumes: ['writer'], activate: read },
    flaky: { retry: { attempts: 2, delayMs: 3 }, activate: fail },
    bad: { onError: { method: 'continue-at', outputs: {}, targets: ['rescue'] }, activate: fail },
    rescue: {},
    skipped: { needs: ['never'] },
    never: {},
    box: { isContainer: true, activate: passes(body) },
    x: { parent: 'box', activate: () => timer(2).pipe(map(() => settled({ value: 1 }))) },
    form: { activate: () => interrupt({ ask: 'name' }) },
    quiet: {
      activate: ({ signal }) => {
        signals.push(signal);
        return timer(10).pipe(map(() => settled({})));
      },
    },
  });
}

function write() {
  const said: NodeEvent[] = [
    { type: 'progress', nodeState: 1 },
    { type: 'usage', promptTokens: 1, completionTokens: 2, totalTokens: 3 },
    notice('warning', { message: 'careful' }),
    callStarted({ id: 'm', kind: 'model', name: 'large' }),
    delta('thinking', 'hm'),
    delta('content', 'ab'),
    delta('content', 'c'),
    settled({ content: 'abc' }),
  ];
  return of(...said).pipe(concatMap((event) => timer(1).pipe(map(() => event))));
}

function read(at: Activation) {
  const text$ = at.stream('writer@content');
  return concat(
    text$,
    text$.pipe(
      toArray(),
      map((pieces) => settled({ content: pieces.map(({ text }) => text).join('') })),
    ),
  );
}

function fail({ attempt }: Activation) {
  if (attempt > 1) return {};
  throw new EngineError('MODEL_UNAVAILABLE', 'Busy.', { retryable: true });
}
