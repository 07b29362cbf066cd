/** Events of a made-up run, for pictures: what no engine would do is not in it. */
import type { RunEvent } from '../../../src/graph/events.js';
import { NO_USAGE } from '../../../src/graph/state.js';

/** A random number in [0, 1), from a seed. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/**
 * About `count` events, with an end: a container whose rounds have a node that streams and one that calls tools and is tried again at times,
 * and a node that speaks. In the middle the process is lost.
 */
export function* generatedEvents(count: number, random: () => number = randomOf(1)): Generator<RunEvent> {
  let seq = 0;
  const header = () => ({ run: 'r', seq: ++seq, at: 1_000 + seq * 3 });
  yield { ...header(), type: 'run-started', input: { query: 'how?' }, resumed: false };
  yield { ...header(), type: 'node-started', node: 'Loop:L', token: 1, attempt: 1 };
  let token = 1;
  let isLost = false;
  for (let round = 0; seq < count; round += 1) {
    const within = `Loop:L/${round}`;
    yield { ...header(), type: 'body-opened', node: 'Loop:L', token: 1, round: { key: `${round}`, of: 50 } };
    token += 1;
    yield* speaking({ node: 'LLM:A', within, token }, header, random);
    if (!isLost && seq > count / 2) {
      isLost = true;
      token += 1;
      const lost = { node: 'Message:M', within, token };
      const from = seq + 1;
      yield { ...header(), type: 'node-started', ...lost, attempt: 1 };
      yield { ...header(), type: 'node-delta', ...lost, port: 'content', text: 'lost ' };
      yield { ...header(), type: 'run-started', input: {}, resumed: true, recovered: true };
      yield { ...header(), type: 'node-started', node: 'Loop:L', token: 1, attempt: 1, resumed: true };
      token += 1_000_000;
      yield { ...header(), type: 'node-started', ...lost, token, attempt: 1, retractFrom: from };
      yield { ...header(), type: 'node-delta', ...lost, token, port: 'content', text: 'found ' };
      yield { ...header(), type: 'node-settled', ...lost, token, outputs: { content: 'found' }, elapsedMs: 5 };
    }
    token += 1;
    yield* calling({ node: 'Agent:B', within, token }, header, random);
    yield { ...header(), type: 'body-closed', node: 'Loop:L', token: 1, key: `${round}` };
  }
  yield { ...header(), type: 'node-settled', node: 'Loop:L', token: 1, outputs: {}, elapsedMs: seq };
  yield { ...header(), type: 'run-settled', outputs: {}, elapsedMs: seq, input: {}, usage: NO_USAGE };
}

interface Place {
  readonly node: string;
  readonly within: string;
  readonly token: number;
}

type Header = () => { readonly run: string; readonly seq: number; readonly at: number };

function* speaking(of: Place, header: Header, random: () => number): Generator<RunEvent> {
  yield { ...header(), type: 'node-started', ...of, attempt: 1 };
  if (random() < 0.5) {
    yield { ...header(), type: 'node-thinking', ...of, phase: 'started' };
    yield { ...header(), type: 'node-delta', ...of, port: 'thinking', text: 'hm' };
    yield { ...header(), type: 'node-thinking', ...of, phase: 'ended' };
  }
  for (let piece = Math.floor(random() * 20); piece >= 0; piece -= 1) {
    yield { ...header(), type: 'node-delta', ...of, port: 'content', text: `word ${piece} ` };
  }
  yield { ...header(), type: 'node-notice', ...of, name: 'message-ended', data: { reference: {} } };
  yield { ...header(), type: 'node-settled', ...of, outputs: { content: 'words' }, next: ['Agent:B'], elapsedMs: 9 };
}

function* calling(of: Place, header: Header, random: () => number): Generator<RunEvent> {
  for (let attempt = 1; ; attempt += 1) {
    yield { ...header(), type: 'node-started', ...of, attempt };
    yield { ...header(), type: 'node-call', ...of, call: { type: 'started', id: 'm', kind: 'model', name: 'gpt' } };
    yield { ...header(), type: 'node-usage', ...of, promptTokens: 3, completionTokens: 2, totalTokens: 5 };
    const isLast = attempt === 3 || random() < 0.7;
    if (isLast) break;
    const error = { code: 'NODE_FAILED', message: 'no', node: of.node } as const;
    // biome-ignore lint/suspicious/noThenProperty: it is no promise
    yield { ...header(), type: 'node-failed', ...of, error, outputs: { _ERROR: 'no' }, elapsedMs: 4, then: 'retry' };
  }
  yield { ...header(), type: 'node-call', ...of, call: { type: 'finished', id: 'm' } };
  yield { ...header(), type: 'node-settled', ...of, outputs: { n: 1 }, elapsedMs: 9 };
}
