import { describe, expect, it } from 'vitest';
import type { Intent } from '../../../src/chat/intents/intent.js';
import { parseIntents } from '../../../src/chat/intents/parse-intents.js';
import { SPOKEN } from './spoken-utterances.js';
import { FURTHER, rowsOf, SPECIFIED } from './utterances.js';

const NOW = Date.parse('2026-11-21T12:00:00Z');

/** As the tables write it: keys in the order of the schema. */
function describeIntent({ kind, tool, args = {}, topic, missing = [] }: Intent): string {
  if (kind === 'KB') return 'KB';
  if (kind === 'SYSTEM') return `SYSTEM ${topic}`;
  const order = [
    'city',
    'date',
    'period',
    'year',
    'region',
    'id',
    'status',
    'expression',
    'timezone',
    'amount',
    'from',
    'to',
    'metric',
    'window',
    'query',
  ];
  const sorted = Object.fromEntries(order.flatMap((key) => (Object.hasOwn(args, key) ? [[key, args[key]]] : [])));
  return `${tool} ${JSON.stringify(sorted)}${missing.length === 0 ? '' : ` ? ${missing.join(',')}`}`;
}

const wantedBy = (said: string): readonly string[] => parseIntents(said, { now: NOW }).map(describeIntent);

describe('the utterances of the specification', () => {
  it('are 48', () => {
    expect(rowsOf(SPECIFIED)).toHaveLength(48);
  });

  it.each(rowsOf(SPECIFIED))('$said', ({ said, wanted }) => {
    expect(wantedBy(said)).toEqual(wanted);
  });
});

describe('further utterances', () => {
  it('are more than 350', () => {
    expect(rowsOf(FURTHER + SPOKEN.trimStart()).length).toBeGreaterThan(350);
  });

  it.each(rowsOf(FURTHER + SPOKEN.trimStart()))('$said', ({ said, wanted }) => {
    expect(wantedBy(said)).toEqual(wanted);
  });
});

describe('several questions in one message', () => {
  it.each<[string, readonly (string | undefined)[]]>([
    ['Runnel 的依赖占多大空间？哪些是最大的包？', [undefined]],
    ['What is a checkpoint? When is it written? I use Postgres.', [undefined]],
    ['When does a breaker open, and for how long?', [undefined]],
    [
      'What is a checkpoint? 北京今天天气怎么样？ How large is it?',
      ['北京今天天气怎么样', 'What is a checkpoint\nHow large is it'],
    ],
  ])('asks the documents all that no tool answers: %s', (said, texts) => {
    expect(parseIntents(said, { now: NOW }).map(({ text }) => text)).toEqual(texts);
  });
});
