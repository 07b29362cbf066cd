import { lastValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createNode, fakeActivation, perform, performNow } from '../../marble-tests/support/activation.js';
import { fillup } from '../../src/components/fillup.js';
import { interrupt, type NodeEvent, settled } from '../../src/graph/node-events.js';
import type { Json, JsonObject } from '../../src/json.js';

const LINE = { type: 'line', name: 'Word', optional: false };
const NOTE = { ...LINE, name: 'Note', optional: true };
const BOTH = { word: LINE, note: NOTE };

const asked = (inputs: JsonObject): JsonObject => ({ kind: 'form', inputs, tips: '' });
const open = (field: JsonObject): JsonObject => ({ ...field, value: null });

/** What a form says when it is reached, or when a run is resumed with `answer`. */
const fill = (inputs: JsonObject, answer?: Json): readonly NodeEvent[] =>
  performNow(
    createNode(fillup, { inputs, tips: 'never shown {gone@x}' }),
    fakeActivation(answer === undefined ? {} : { answer }),
  );

describe('Fillup', () => {
  it.each<[string, JsonObject, NodeEvent]>([
    ['every field, without tips', BOTH, interrupt(asked({ word: open(LINE), note: open(NOTE) }), {})],
    [
      'a field with its stored value as a suggestion',
      { word: { ...LINE, value: 'x' } },
      interrupt(asked({ word: { ...open(LINE), default: 'x' } }), {}),
    ],
    ['nothing without fields', {}, settled({})],
    ['nothing for an optional file', { doc: { ...NOTE, type: 'file' } }, settled({})],
  ])('asks for %s', (_, inputs, event) => {
    expect(fill(inputs)).toEqual([event]);
  });

  it.each<[string, Json, JsonObject]>([
    ['all fields', { inputs: { word: 'a', note: 'b' } }, { word: 'a', note: 'b' }],
    ['a field with its type', { inputs: { word: { type: 'line', value: 'a' } } }, { word: 'a' }],
    ['fields alone', { word: 'a' }, { word: 'a' }],
  ])('gives what it is answered, and no tips: %s', (_, answer, outputs) => {
    expect(fill(BOTH, answer)).toEqual([settled(outputs)]);
  });

  it('settles with what it got when fields are missing', () => {
    expect(fill(BOTH, { inputs: { note: 'n' } })).toEqual([settled({ note: 'n' })]);
    expect(fill(BOTH, { query: 'again' })).toEqual([settled({})]);
  });

  it('fails for a file that cannot be read', async () => {
    const node = createNode(fillup, { inputs: { doc: { ...LINE, type: 'file' } } });
    const answer = { inputs: { doc: { id: 'x', name: 'x.pdf' } } };
    await expect(lastValueFrom(perform(node, fakeActivation({ answer })))).rejects.toThrow();
  });

  it('takes a list of fields for no form', () => {
    expect(fillup.params.safeParse({ inputs: 'word' }).success).toBe(false);
  });
});
