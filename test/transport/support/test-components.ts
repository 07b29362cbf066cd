import { finalize, Subject } from 'rxjs';
import { z } from 'zod';
import { createRegistry, defineComponent, type Registry } from '../../../src/components/component.js';
import { components } from '../../../src/components/index.js';
import { delta, type NodeEvent, settled } from '../../../src/graph/node-events.js';

/** A registry of the built-in types and `Probe`, whose one activation after the other a test plays by hand. */
export interface Probes {
  readonly registry: Registry;
  /** The next activation of a Probe; resolves when it begins. */
  next(): Promise<Probe>;
}

/** One activation of a Probe: says what the test tells it to say. */
export interface Probe {
  /** What the engine knows the activation by, also after a takeover. */
  readonly token: string;
  say(text: string): void;
  think(text: string): void;
  /** Keeps a step of its work, which it finds again behind a takeover. */
  keep(step: string): void;
  settle(content?: string): void;
  fail(error: Error): void;
  /** Whether the engine has ended the activation. */
  readonly isStopped: boolean;
  /** Resolves when the engine has ended the activation. */
  readonly stopped: Promise<void>;
}

export function createProbes(): Probes {
  const begun: Probe[] = [];
  const waiting: ((probe: Probe) => void)[] = [];
  const probe = defineComponent({
    type: 'Probe',
    summary: 'Does what a test says.',
    params: z.looseObject({}),
    outputs: {},
    speaks: true,
    create: () => (activation) => {
      const events = new Subject<NodeEvent>();
      const [made, started] = play(events, activation.token);
      const taker = waiting.splice(0, 1)[0];
      if (taker === undefined) begun.push(made);
      else taker(made);
      return started;
    },
  });
  return {
    registry: createRegistry([...components, probe]),
    next: () => {
      const first = begun.splice(0, 1)[0];
      return first === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(first);
    },
  };
}

function play(events: Subject<NodeEvent>, token: string): [Probe, ReturnType<typeof observe>] {
  let isStopped = false;
  let stop: () => void = () => {};
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });
  const probe: Probe = {
    token,
    say: (text) => events.next(delta('content', text)),
    think: (text) => events.next(delta('thinking', text)),
    keep: (step) => events.next({ type: 'progress', append: { steps: step } }),
    settle: (content = 'done') => {
      events.next(settled({ content }));
      events.complete();
    },
    fail: (error) => events.error(error),
    get isStopped() {
      return isStopped;
    },
    stopped,
  };
  return [
    probe,
    observe(events, () => {
      isStopped = true;
      stop();
    }),
  ];
}

function observe(events: Subject<NodeEvent>, whenStopped: () => void) {
  return events.pipe(finalize(whenStopped));
}
