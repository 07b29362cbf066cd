/** `apply` is the only function that changes a run: no file but those it is made of writes to tokens, frames, cells or variables. */
import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const SRC = resolve(import.meta.dirname, '../../src');

/** The files that the transition is made of. */
const TRANSITION: readonly string[] = ['transition', 'beginnings', 'frontier', 'tokens', 'values', 'snapshot'].map(
  (name) => `graph/${name}.ts`,
);

/** Files that read or build States as values; the cells that they write belong to no run. */
const BUILDERS: readonly string[] = ['graph/fork.ts'];

/** What a live run hangs on tokens and frames; no part of the state. */
const ACTIVITY: readonly string[] = ['activity', 'observer'];

const textOf = (path: string): string => readFileSync(resolve(SRC, path), 'utf8');

/** Names of the fields of the classes and interfaces that hold the state of a run, as their files declare them. */
function stateFields(): readonly string[] {
  const bodies = [
    ...textOf('graph/tokens.ts').matchAll(/export (?:class (?:Token|Frame)|interface Values) \{([\s\S]*?)\n\}/g),
    ...textOf('graph/transition.ts').matchAll(/export class LiveState \{([\s\S]*?)\n\}/g),
    ...textOf('graph/frontier.ts').matchAll(/export class Frontier \{([\s\S]*?)\n {2}constructor/g),
  ];
  const names = bodies.flatMap(([, body = '']) =>
    [...body.matchAll(/^ {2}(?:readonly )?(\w+)(?::| =)/gm)].map(([, name]) => name as string),
  );
  return [...new Set(names)].filter((name) => !ACTIVITY.includes(name));
}

const MUTATORS = [
  'enter',
  'advance',
  'drop',
  'startStreaming',
  'putOff',
  'setStatus',
  'answer',
  'recheck',
  'remove',
  'countStep',
  'restore',
];
const FUNCTIONS = [
  'leave',
  'retire',
  'appendToList',
  'unlink',
  'watch',
  'unwatch',
  'takeWatchers',
  'detachConsumers',
  'applyWrites',
];

/** Writes to the state of a run in one file. */
function offencesIn(path: string, text: string): string[] {
  if (TRANSITION.includes(path)) return [];
  const code = text.replace(/\/\*[\s\S]*?\*\/|(?<!:)\/\/.*$/gm, '');
  const fields = stateFields().join('|');
  // The summary of calls has a status and a usage of its own.
  const isInside = path.startsWith('graph/') && path !== 'graph/calls.ts';
  const patterns = [
    // A field of another object than `this`: assigned, counted up or down, or deleted.
    ...(isInside ? [new RegExp(`(?<!\\bthis)\\.(?:${fields})\\s*(?:=(?![=>])|[-+*/|&?]{1,2}=|\\+\\+|--)`, 'g')] : []),
    ...(isInside ? [new RegExp(`delete [\\w.]+\\.(?:${fields})\\b`, 'g')] : []),
    new RegExp(`frontier\\.(?:${MUTATORS.join('|')})\\(`, 'gi'),
    ...(BUILDERS.includes(path) || !isInside ? [] : [/\bcells\.set\(/g, /\bframes\??\.(?:set|delete|clear)\(/g]),
    // Functions that change tokens, and tokens themselves outside of the engine.
    new RegExp(`import \\{[^}]*\\b(?:${FUNCTIONS.join('|')})\\b[^}]*\\} from '[./]+/(?:tokens|values)\\.js'`, 'g'),
    ...(isInside ? [] : [/from '[./\w]*graph\/(?:tokens|frontier|perform)\.js'/g]),
  ];
  return patterns.flatMap((pattern) => [...code.matchAll(pattern)].map(([found]) => `${path}: ${found}`));
}

describe('the state of a run', () => {
  it('has the fields that are looked for', () => {
    expect(stateFields()).toEqual(
      expect.arrayContaining([
        'status',
        'liveCount',
        'variables',
        'cells',
        'nextTokenId',
        'step',
        'lastOutputs',
        'usage',
        'hasFailed',
      ]),
    );
    expect(stateFields()).not.toContain('activity');
  });

  it('is written by the transition alone', () => {
    const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));
    const found = files.flatMap((path) => offencesIn(path, textOf(path)));
    // The public entry of the engine names the type of a token's status.
    expect(found.filter((one) => !one.startsWith('entries/'))).toEqual([]);
  });

  it.each([
    ["token.status = 'waiting';"],
    ['token.frame.liveCount += 1;'],
    ['frame.values.variables = {};'],
    ['frame.values.cells.set(0, {});'],
    ['live.frontier.nextTokenId++;'],
    ['live.usage ??= NONE;'],
    ['this.#live.frontier.drop(token, []);'],
    ["token.frames.delete('0');"],
    ["import { retire } from './tokens.js';"],
  ])('would be seen to be written by `%s`', (text) => {
    expect(offencesIn('graph/perform.ts', `// ${text}\n${text}`)).toHaveLength(1);
  });

  it.each([["import type { Token } from '../graph/tokens.js';"], ['frontier.advance(token, [], []);']])(
    'is out of reach of the folders beside the engine: `%s`',
    (text) => {
      expect(offencesIn('canvas/turn.ts', text)).toHaveLength(1);
    },
  );
});
