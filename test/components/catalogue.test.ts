import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { COMPONENT_PAGE, componentDocs } from '../../scripts/generate-component-docs.js';
import { describeComponent, formatComponent, parameterSchema } from '../../src/components/catalogue.js';
import { defineComponent } from '../../src/components/component.js';
import { components } from '../../src/components/index.js';
import { pipelineComponents } from '../../src/components/ingestion/index.js';

const echo = defineComponent({
  type: 'Echo',
  aliases: ['Repeat'],
  summary: 'Says a text again.',
  params: z.looseObject({
    text: z.string().default('hi').describe('What to say.'),
    mode: z.enum(['loud', 'soft']).nullish().describe('How.'),
    words: z.array(z.union([z.number(), z.string()])),
  }),
  outputs: { content: { type: 'string', description: 'The text.' } },
  create: () => () => ({}),
});

describe('the catalogue', () => {
  it('describes a component by what it declares', () => {
    expect(describeComponent(echo)).toEqual({
      type: 'Echo',
      aliases: ['Repeat'],
      summary: 'Says a text again.',
      group: 'other',
      hasBody: false,
      choosesTargets: false,
      speaks: false,
      asks: false,
      hears: false,
      isEntry: false,
      parameters: [
        { name: 'text', type: 'string', default: 'hi', description: 'What to say.' },
        { name: 'mode', type: '"loud" or "soft" or null', description: 'How.' },
        { name: 'words', type: 'array of number or string', description: '' },
      ],
      outputs: [{ name: 'content', type: 'string', description: 'The text.' }],
    });
  });

  it('describes what a palette and a canvas need to know', () => {
    const of = (type: string) => describeComponent(components.find((one) => one.type === type) ?? echo);
    expect(of('Loop')).toMatchObject({ group: 'flow', hasBody: true, bodyStart: 'LoopItem', isEntry: false });
    expect(of('LoopItem')).toMatchObject({ group: 'flow', hasBody: false, isEntry: true });
    expect(of('Parallel')).not.toHaveProperty('bodyStart');
    expect(of('Switch')).toMatchObject({ choosesTargets: true, speaks: false });
    expect(of('Message')).toMatchObject({ group: 'conversation', speaks: true });
    expect(of('UserFillUp')).toMatchObject({ asks: true, hears: false });
    expect(of('Agent')).toMatchObject({ hears: true });
  });

  it('has every built-in node type in a group, and bodies that begin with a type that exists', () => {
    const all = [...components, ...pipelineComponents].map(describeComponent);
    expect(all.filter(({ group }) => group === 'other')).toEqual([]);
    const types = new Set(all.map(({ type }) => type));
    expect(all.flatMap(({ bodyStart }) => bodyStart ?? []).filter((type) => !types.has(type))).toEqual([]);
  });

  it('gives parameters as a JSON Schema', () => {
    expect(parameterSchema(echo.params)).toMatchObject({
      type: 'object',
      properties: { text: { type: 'string', default: 'hi', description: 'What to say.' } },
      required: ['words'],
    });
  });

  it('writes a description as text', () => {
    expect(formatComponent(describeComponent(echo))).toBe(`Echo (also Repeat)
Says a text again.

Parameters
  text: string, default "hi"
      What to say.
  mode: "loud" or "soft" or null
      How.
  words: array of number or string

Outputs
  content: string
      The text.
`);
  });

  it.each(components.map((component) => [component.type, component] as const))(
    'has a sentence for everything of %s',
    (_type, component) => {
      const { summary, parameters, outputs } = describeComponent(component);
      expect(summary).toMatch(/^[A-Z].*\.$/);
      expect(parameters.filter(({ description }) => description === '')).toEqual([]);
      expect(outputs.filter(({ description }) => description === '')).toEqual([]);
    },
  );
});

describe('docs/components.md', () => {
  it('is what `npm run docs:components` writes', () => {
    expect(readFileSync(COMPONENT_PAGE, 'utf8')).toBe(componentDocs());
  });
});
