/** Which types the canvas asks the server for. */
import { describe, expect, it } from 'vitest';
import { typesWithoutKind } from '../../../web/canvas/catalogue.js';

const nodes = (...types: readonly string[]) => types.map((type) => ({ type, tools: [] }));

describe('types that have no picture', () => {
  it('are named once, in lower case, without those that have one', () => {
    expect(typesWithoutKind(nodes('Odd', ' odd', 'Message', 'Other'), [])).toEqual(['odd', 'other']);
  });

  it('are asked of tools of agents, too, but not of what servers of tools offer', () => {
    const tools = (['tool', 'agent', 'server'] as const).map((kind) => ({ kind, name: 'Given', type: `Odd ${kind}` }));
    expect(typesWithoutKind([{ type: 'Agent', tools }], [])).toEqual(['odd tool', 'odd agent']);
  });

  it('are the same list as long as they are the same types, so that no node is drawn again', () => {
    const before = typesWithoutKind(nodes('Message', 'Odd'), []);
    expect(typesWithoutKind(nodes('odd', 'LLM', 'Message'), before)).toBe(before);
    expect(typesWithoutKind(nodes('Message', 'Other'), before)).toEqual(['other']);
    expect(typesWithoutKind(nodes('Message', 'Odd', 'Other'), before)).toEqual(['odd', 'other']);
    expect(typesWithoutKind(nodes('Message'), before)).toEqual([]);
  });
});
