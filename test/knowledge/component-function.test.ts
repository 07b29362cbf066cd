import { describe, expect, it } from 'vitest';
import { componentFunction } from '../../src/knowledge/component-function.js';

describe('a function with name and kind', () => {
  it('does what the function does, and carries both', async () => {
    const load = componentFunction('notes', 'loader', async (uri: string) => `read ${uri}`);
    expect(await load('a.md')).toBe('read a.md');
    expect([load.stepName, load.stepKind, load.name]).toEqual(['notes', 'loader', 'notes']);
  });

  it('leaves the function as it is, so that it can have several names', () => {
    const identity = async (value: number) => value;
    const one = componentFunction('one', 'transformer', identity);
    const two = componentFunction('two', 'transformer', identity);
    expect([one.stepName, two.stepName, 'stepName' in identity]).toEqual(['one', 'two', false]);
  });

  it.each(['', '  '])('refuses the name "%s"', (name) => {
    expect(() => componentFunction(name, 'loader', () => 1)).toThrow(
      expect.objectContaining({ code: 'OPTION_INVALID' }),
    );
  });
});
