import { expect, it } from 'vitest';
import type { ActivationPicture, NodePicture } from '../../../src/canvas/picture/picture.js';
import {
  formatMs,
  roundsText,
  stateDetail,
  stateTexts,
  stateWords,
  tellingText,
  tokensText,
} from '../../../web/canvas/live/node-state.js';

const words = stateTexts.en;

const node = (more: Partial<NodePicture>, activation?: Partial<ActivationPicture>): NodePicture =>
  ({
    id: 'LLM:A',
    status: 'running',
    activations:
      activation === undefined ? [] : [{ status: 'open', startedAtMs: 1_000, text: '', thinking: '', ...activation }],
    sums: { activations: 1, busyMs: 1_234, usage: { totalTokens: 0 } },
    ...more,
  }) as NodePicture;

it('says how long a node is at work, by the time in the run', () => {
  expect(stateDetail(node({}, {}), words, 4_200)).toBe('3.2 s');
  expect(stateDetail(node({}, {}), words, 900)).toBe('0 ms');
});

it('says which try of how many it waits for', () => {
  const retrying = node(
    { status: 'retrying', attempt: 2, attempts: 3 },
    { error: { code: 'NODE_FAILED', message: 'no line' } },
  );
  expect(stateWords(retrying, words)).toBe('retrying 2 of 3');
  expect(tellingText(retrying, words)).toBe('no line');
});

it('says what a node took, and how often it ran', () => {
  const sums = { activations: 3, busyMs: 61_000, usage: { totalTokens: 12_345 } } as NodePicture['sums'];
  const done = node({ status: 'done', sums });
  expect(stateDetail(done, words, 0)).toBe('3 ×, 1 min 1 s');
  expect(tokensText(done, words)).toBe('12k tokens');
  expect(tokensText(node({ status: 'done' }), words)).toBe('');
});

it('says what was missing, what failed, and the end of what is written', () => {
  expect(tellingText(node({ status: 'skipped' }, { missing: ['LLM:B', 'LLM:C'] }), words)).toBe(
    'No value from LLM:B, LLM:C',
  );
  expect(tellingText(node({ status: 'failed' }, { error: { code: 'X', message: 'why' } as never }), words)).toBe('why');
  expect(tellingText(node({}, { text: 'It was\nopened' }), words)).toBe('It was opened');
  const long = tellingText(node({}, { text: `${'word '.repeat(100)}end` }), words);
  expect(long).toMatch(/^…word .* end$/);
  expect(long.length).toBeLessThan(90);
  expect(tellingText(node({}, { thinking: 'Let me see' }), words)).toBe('Let me see');
});

it('names the pass of a container', () => {
  expect(roundsText(node({ rounds: { begun: 2, ended: 1, of: 5, open: [] } }), words)).toBe('pass 2 of 5');
  expect(roundsText(node({ rounds: { begun: 2, ended: 1, open: [] } }), words)).toBe('pass 2');
  expect(roundsText(node({ rounds: { begun: 0, ended: 0, open: [] } }), words)).toBe('');
  expect(roundsText(node({}), words)).toBe('');
});

it.each([
  [0.4, '0 ms'],
  [999, '999 ms'],
  [1_000, '1.0 s'],
  [59_940, '59.9 s'],
  [125_000, '2 min 5 s'],
])('writes %d milliseconds as %s', (ms, text) => {
  expect(formatMs(ms)).toBe(text);
});
