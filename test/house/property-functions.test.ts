import { expect, it } from 'vitest';
import { readFiles } from '../../scripts/support/files.js';

/**
 * V8 puts a function that is written where it is assigned to a property into old space, for it takes that for a method of a class. There it
 * keeps what it closes over, such as a run, until the next full collection: runs of 100 nodes took up to twice as long. A function that has
 * a name first, or that a constructor is given, is like any other.
 */
const PRETENURED =
  /\.#?\w+\s*(?:\?\?|\|\||&&)?=\s*(?:async\s+)?(?:function\b|\w+\s*=>|\((?:[^()]|\([^()]*\))*\)(?::[^=\n]+)?\s*=>)/;

/** Files that do so once for a process, a connection or a plan. */
const ONCE: readonly string[] = [
  'src/adapters/mcp/open-session.ts',
  'src/cli/program.ts',
  'src/cli/serve-command.ts',
  'src/compose/compile.ts',
  'src/documents/pdf/typeface.ts',
];

const code = (text: string): string => text.replace(/\/\*[\s\S]*?\*\/|(?<!:)\/\/.*$/gm, '');

it('writes no function where it is assigned to a property of something short-lived', () => {
  const found = readFiles('src', '.ts').filter(({ text }) => PRETENURED.test(code(text)));
  expect(found.map(({ path }) => path).sort()).toEqual(ONCE);
});

it.each([
  'run.whenClosed = (error) => end(error);',
  'this.#end = () => signal.removeEventListener(name, cancel);',
  'view.endEarly =\n  async (ask) => {',
  'lease.whenLost ??= lost => {',
  'it.done = (end: (error?: Error) => void): void => {',
  'one.two = function () {',
])('would find %j', (text) => {
  expect(PRETENURED.test(code(text))).toBe(true);
});

it.each([
  'this.#end = endListening;',
  'const end = () => {};',
  'this.value = list.map((one) => one.id);',
  'if (a.b === (c) || d.e >= f) {}',
])('lets %j be', (text) => {
  expect(PRETENURED.test(code(text))).toBe(false);
});
