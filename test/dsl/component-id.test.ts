import { describe, expect, it } from 'vitest';
import { canonicalId, findComponent, indexIds, v1KeyToV2Id, v2IdToV1Key } from '../../src/dsl/component-id.js';
import { parseDocument } from '../../src/dsl/read.js';
import { documentText } from './load-document.js';

describe('v1KeyToV2Id', () => {
  it.each([
    ['Agent:SmartCats', 'agent_smartcats'],
    ['LLM:LLM_Foo', 'llm_llm_foo'],
    ['begin', 'begin_'],
    ['NoColon', 'nocolon_'],
    ['A:b:c', 'a_b_c'],
    ['userfillup_abc', 'userfillup_abc_'],
    ['Größe:Ä', 'größe_Ä'],
  ])('%s becomes %s', (key, id) => expect(v1KeyToV2Id(key)).toBe(id));

  it.each([
    ['', /empty key/],
    [':', /no name before its colon/],
    [':x', /":x" has no name/],
    ['Agent:', /"Agent:" has nothing after its colon/],
  ])('refuses %j', (key, message) => expect(() => v1KeyToV2Id(key)).toThrow(message));
});

describe('v2IdToV1Key', () => {
  it.each([
    ['begin_abc', 'Begin:abc'],
    ['agent_abc', 'Agent:abc'],
    ['message_0', 'Message:0'],
    ['begin_', 'Begin'],
    ['switch_abc_def', 'Switch:abc_def'],
    ['llm_xyz', 'Llm:xyz'],
    ['begin', 'Begin'],
  ])('%s becomes %s', (id, key) => expect(v2IdToV1Key(id)).toBe(key));

  it.each(['_x', '_', ''])('refuses %j', (id) => expect(() => v2IdToV1Key(id)).toThrow(/no name before/));

  it.each(['begin_abc', 'agent_x', 'begin_', 'switch_abc_def', 'llm_0_'])('%s comes back from its key', (id) =>
    expect(v1KeyToV2Id(v2IdToV1Key(id))).toBe(id),
  );
});

describe('canonicalId', () => {
  it.each([
    ['Agent:Foo', 'agent_foo'],
    ['begin_', 'begin'],
    ['Begin', 'begin'],
    ['A:b:c__', 'a_b_c'],
    ['___', ''],
  ])('%s is %s', (id, form) => expect(canonicalId(id)).toBe(form));

  it('is shared by a key, its version 2 id and the key restored from it', () => {
    for (const key of ['LLM:LLM_Foo', 'begin', 'Message:0', 'A:b:c']) {
      const id = v1KeyToV2Id(key);
      expect([canonicalId(id), canonicalId(v2IdToV1Key(id))]).toEqual([canonicalId(key), canonicalId(key)]);
    }
  });
});

describe('looking components up', () => {
  const document = parseDocument(documentText('parcel-desk.json'));

  it.each([
    ['LLM:Guess', 'LLM:Guess'],
    ['llm_guess', 'LLM:Guess'],
    ['LLM:GUESS', 'LLM:Guess'],
    ['begin_', 'begin'],
    ['LLM:Other', undefined],
    ['constructor', undefined],
    ['__proto__', undefined],
  ])('finds %s as %s', (id, found) => expect(findComponent(document, id)?.id).toBe(found));

  it('prefers the exact spelling, then the first declared', () => {
    const index = indexIds(['LLM:a', 'LLM:A']);
    expect(['LLM:A', 'llm_a', 'llm_b'].map(index.resolve)).toEqual(['LLM:A', 'LLM:a', undefined]);
  });
});
