import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { embed } from '../../src/canvas/embed.js';
import { loadCanvas } from '../../src/canvas/load-canvas.js';
import { chain } from '../../src/compose/chain.js';
import { resumeFrom } from '../../src/compose/resume.js';
import { invoke, stream } from '../../src/compose/run.js';
import type { EngineError } from '../../src/errors.js';

const canvasOf = (name: string) => loadCanvas(readFileSync(`examples/${name}/canvas.json`, 'utf8'));

const node = (name: string, params: object, downstream: string[], upstream: string[]) => ({
  obj: { component_name: name, params },
  downstream,
  upstream,
});

const asking = loadCanvas({
  components: {
    begin: node('Begin', {}, ['Message:First'], []),
    'Message:First': node('Message', { content: ['Before. '] }, ['UserFillUp:Ask'], ['begin']),
    'UserFillUp:Ask': node(
      'UserFillUp',
      { inputs: { city: { type: 'line', name: 'City' } } },
      ['Message:Last'],
      ['Message:First'],
    ),
    'Message:Last': node('Message', { content: ['After {UserFillUp:Ask@city}.'] }, [], ['UserFillUp:Ask']),
  },
});

const failing = loadCanvas({
  components: {
    begin: node('Begin', {}, ['Message:A'], []),
    'Message:A': node('Message', { content: ['{{ 1 | nothing }}'] }, [], ['begin']),
  },
});

describe('a canvas as a step', () => {
  it('gives the text of its messages, to the step behind it', async () => {
    const shout = chain(embed(canvasOf('hello')), (text) => text.toUpperCase());
    const text = await invoke(embed(canvasOf('hello')), 'Ada');
    expect(text).toContain('Ada');
    expect(await invoke(shout, 'Ada')).toBe(text.toUpperCase());
  });

  it('gives the text piece by piece', async () => {
    const pieces: string[] = [];
    for await (const piece of stream(embed(asking), '')) {
      pieces.push(piece);
      break;
    }
    expect(pieces).toEqual(['Before. ']);
  });

  it('asks what its form asks, and goes on with the answer behind what it had said', async () => {
    const step = chain(embed(asking), (text) => `<${text}>`);
    const waiting = await invoke(step, '').then(
      () => expect.unreachable(),
      (error: EngineError) => error,
    );
    expect(waiting.code).toBe('RUN_INTERRUPTED');
    const { questions, checkpoint } = waiting.details as {
      questions: { address: string; question: unknown }[];
      checkpoint: never;
    };
    expect(questions).toMatchObject([
      { address: 'canvas', question: { pending: [{ node: 'UserFillUp:Ask', payload: { kind: 'form' } }] } },
    ]);
    const stored = JSON.parse(JSON.stringify(checkpoint));
    const answered = await invoke(
      step,
      resumeFrom(stored, { canvas: { inputs: { city: { type: 'line', value: 'Oslo' } } } }),
    );
    expect(answered).toBe('<Before. After Oslo.>');
  });

  it('asks again when the run goes on without an answer', async () => {
    const errors: EngineError[] = [];
    await invoke(embed(asking), '').catch((error: EngineError) => errors.push(error));
    const { checkpoint } = (errors[0] as EngineError).details as { checkpoint: never };
    await invoke(embed(asking), resumeFrom(checkpoint)).catch((error: EngineError) => errors.push(error));
    expect(errors.map(({ code }) => code)).toEqual(['RUN_INTERRUPTED', 'RUN_INTERRUPTED']);
  });

  describe('is answered', () => {
    const two = loadCanvas({
      components: {
        begin: node('Begin', {}, ['UserFillUp:Ask'], []),
        'UserFillUp:Ask': node(
          'UserFillUp',
          { inputs: { city: { type: 'line', name: 'City' }, days: { type: 'integer', name: 'Days' } } },
          ['Message:Last'],
          ['begin'],
        ),
        'Message:Last': node(
          'Message',
          { content: ['{UserFillUp:Ask@city} {UserFillUp:Ask@days}'] },
          [],
          ['UserFillUp:Ask'],
        ),
      },
    });
    const answered = async (canvas: typeof two, answer: unknown) => {
      const { details } = (await invoke(embed(canvas), '').catch((error: unknown) => error)) as EngineError;
      const { checkpoint } = JSON.parse(JSON.stringify(details)) as { checkpoint: never };
      return invoke(embed(canvas), resumeFrom(checkpoint, { canvas: answer }));
    };

    it.each([
      ['a whole text for the only field', asking, 'Oslo', 'Before. After Oslo.'],
      ['a turn with a text for the only field', asking, { query: 'Oslo' }, 'Before. After Oslo.'],
      ['the fields alone', asking, { city: 'Oslo' }, 'Before. After Oslo.'],
      ['a text that has the name of a field', asking, 'city', 'Before. After city.'],
      ['the fields of several', two, { inputs: { city: 'Oslo', days: 2 } }, 'Oslo 2'],
    ])('by %s', async (_, canvas, answer, text) => {
      expect(await answered(canvas, answer)).toBe(text);
    });

    it.each([
      ['a whole text for several fields', two, 'Oslo'],
      ['nothing', asking, null],
      ['a list', asking, ['Oslo']],
    ])('not by %s: the question stays', async (_, canvas, answer) => {
      await expect(answered(canvas, answer)).rejects.toMatchObject({ code: 'ANSWER_INVALID', node: 'canvas' });
    });
  });

  it.each([
    ['nothing', undefined, {}],
    ['an empty object', {}, {}],
    ['a document', { components: {} }, {}],
    ['an unknown option', canvasOf('hello'), { title: 'x' }],
  ])('refuses %s', (_, canvas, options) => {
    expect(() => embed(canvas as never, options as never)).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }));
  });

  it('fails as its canvas fails', async () => {
    await expect(invoke(embed(failing), '')).rejects.toMatchObject({ code: expect.stringMatching(/^TEMPLATE_/) });
  });
});
