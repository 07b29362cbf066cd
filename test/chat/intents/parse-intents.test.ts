import { describe, expect, it } from 'vitest';
import type { Intent } from '../../../src/chat/intents/intent.js';
import { parseIntents } from '../../../src/chat/intents/parse-intents.js';
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
  it('are more than 150', () => {
    expect(rowsOf(FURTHER).length).toBeGreaterThan(150);
  });

  it.each(rowsOf(FURTHER))('$said', ({ said, wanted }) => {
    expect(wantedBy(said)).toEqual(wanted);
  });
});
