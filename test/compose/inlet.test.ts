import { expect, it, vi } from 'vitest';
import { Inlet, type Source } from '../../src/compose/engine/inputs.js';

const sourcesOf = (...ids: string[]): Source[] =>
  ids.map((id, node) => ({ id, node, rule: undefined, path: undefined }));

it.each([
  ['no rule for several values', {}],
  ['a rule for other sources', { input: { whole: () => 0, inOrder: { ids: ['b', 'a'], whole: () => 0 } } }],
])('finds out once that values in order tell nothing: %s', (_, given) => {
  const sources = sourcesOf('a', 'b');
  const looked = vi.spyOn(sources, 'map');
  const inlet = new Inlet({ path: 'n', sources, reads: [], input: undefined, merge: undefined, ...given });
  expect([inlet.gather, inlet.gather, inlet.gather]).toEqual([null, null, null]);
  expect(looked).toHaveBeenCalledTimes(1);
});

it('gathers by the rule of just these sources', () => {
  const input = {
    whole: () => 0,
    inOrder: { ids: ['a', 'b'], whole: (values: readonly unknown[]) => values.join('+') },
  };
  const inlet = new Inlet({ path: 'n', sources: sourcesOf('a', 'b'), reads: [], input, merge: undefined });
  expect(inlet.gather?.([1, 2])).toBe('1+2');
});
