import { of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { type AnyMiddleware, agent, defineMiddleware, type HookView, todos } from '../../../src/entries/agents.js';
import { defineTool, invoke } from '../../../src/index.js';
import { recordingModel } from './support.js';

const SAID = { role: 'assistant', content: 'Hello.' };
const WITHOUT_MODEL = 'one whose "model" is undefined';

const look = defineTool({ name: 'look', description: 'Looks.', run: () => 'seen' });
const run = (hooks: Readonly<Record<string, () => unknown>>) => {
  const model = recordingModel([{ tool: 'look' }], 'ok');
  return invoke(
    agent({
      name: 'clerk',
      model,
      tools: [look],
      use: [defineMiddleware({ name: 'odd', ...hooks } as unknown as AnyMiddleware)],
    }),
    'go',
  );
};

describe('what hooks give', () => {
  it.each([
    ['beforeAgent', 'text', 'a list of messages', '"text"'],
    ['beforeModel', 'text', 'a request, such as { ...request, instructions }', '"text"'],
    ['beforeModel', of({ instructions: '' }), 'a request, such as { ...request, instructions }', WITHOUT_MODEL],
    ['afterModel', { message: 'text' }, 'an answer, such as { message, results }', 'one whose "message" is "text"'],
    ['afterModel', { message: SAID }, 'an answer, such as { message, results }', 'one whose "results" are undefined'],
    ['afterTools', 7, 'a list of results', '7'],
    ['afterTools', [SAID], 'a list of results', 'one whose [0] is an object'],
    ['beforeAgent', [SAID, 'text'], 'a list of messages', 'one whose [1] is "text"'],
    ['afterAgent', 'text', 'an answer, such as { text }', '"text"'],
  ])('is refused when %s gives %j, with what it needs', async (hook, given, needs, received) => {
    const message = `The hook "${hook}" of the middleware "odd" must give ${needs}, or nothing; received ${received}.`;
    const expected = expect.objectContaining({ code: 'NODE_PROTOCOL', message });
    await expect(run({ [hook]: () => given })).rejects.toEqual(expected);
    if (typeof given !== 'object') await expect(run({ [hook]: async () => given })).rejects.toEqual(expected);
  });

  it.each([
    ['wrapModel', undefined, 'an Observable of pieces, such as next(request)', 'undefined'],
    ['wrapModel', of('text'), "pieces such as { role: 'assistant', content }", '"text"'],
    ['wrapTool', undefined, 'text, parts, { text }, a question, or what next(request) gives', 'undefined'],
    ['wrapTool', of(7), 'text, parts, { text }, a question, or what next(request) gives', '7'],
    ['wrapTool', Promise.resolve(7), 'text, parts, { text }, a question, or what next(request) gives', '7'],
  ])('fails the run when %s gives %j around it', async (hook, given, needs, received) => {
    const message = `The hook "${hook}" of the middleware "odd" must give ${needs}; received ${received}.`;
    await expect(run({ [hook]: () => given })).rejects.toMatchObject({
      code: 'NODE_PROTOCOL',
      message: expect.stringContaining(message),
    });
  });

  it('is what came in when a hook gives nothing, at once or later', async () => {
    const hooks = ['beforeAgent', 'beforeModel', 'afterModel', 'afterTools', 'afterAgent'];
    expect(await run(Object.fromEntries(hooks.map((hook) => [hook, () => undefined])))).toBe('ok');
    expect(await run(Object.fromEntries(hooks.map((hook) => [hook, async () => undefined])))).toBe('ok');
  });
});

describe('what functions of an agent give', () => {
  const needs = 'an object with some of model, instructions, messages, tools, settings, or nothing';
  const prepared = `"prepareRound" of agent "clerk" must give ${needs}`;
  const retry = (more: object) => ({ retry: { attempts: 2, ...more } });

  it.each<[object, string]>([
    [{ prepareRound: () => 'text' }, `${prepared}; received "text".`],
    [{ prepareRound: async () => ({ temperature: 0 }) }, `${prepared}; received one with "temperature".`],
    [{ prepareRound: () => ({ messages: ['hi'] }) }, 'received one whose "messages" is one whose [0] is "hi".'],
    [{ prepareRound: () => ({ tools: {} }) }, 'received one whose "tools" is an object.'],
    [{ prepareRound: () => ({ settings: 1 }) }, 'received one whose "settings" is 1.'],
    [{ prepareRound: () => ({ instructions: null }) }, 'received one whose "instructions" is null.'],
    [{ instructions: () => 7 }, 'A function "instructions" of agent "clerk" must give text; received 7.'],
    [
      { stopWhen: [() => true] },
      'A rule in "stopWhen" of agent "clerk" must give text that says why, or nothing; received true.',
    ],
    [
      retry({ when: () => undefined }),
      '"retry.when" of agent "clerk" must give true, false, or { delayMs, request }; received undefined.',
    ],
    [retry({ when: async () => ({ delay: 5 }) }), '{ delayMs, request }; received an object.'],
    [
      retry({ when: () => true, delayMs: () => Number.NaN }),
      '"retry" of agent "clerk" must give milliseconds of at least 0; received NaN.',
    ],
  ])('%j is refused with what it needs', async (options, message) => {
    const clerk = agent({ name: 'clerk', model: recordingModel([{ tool: 'look' }], 'ok'), tools: [look], ...options });
    await expect(invoke(clerk, 'go')).rejects.toMatchObject({
      code: 'NODE_PROTOCOL',
      message: expect.stringContaining(message),
    });
  });

  it('is refused when a hook replaces the conversation by none', async () => {
    const hooks = { beforeModel: (_: unknown, view: HookView) => view.replaceMessages('none' as never) };
    await expect(run(hooks as never)).rejects.toMatchObject({
      message: expect.stringContaining('replaceMessages: "messages" must be a list of messages; received "none".'),
    });
  });
});

describe('the middlewares of an agent', () => {
  it('are refused when one was not called', () => {
    expect(() => agent({ name: 'clerk', use: [todos as never] })).toThrow(
      'agent "clerk": "use" must be a list of middlewares; call what makes one: todos(…)',
    );
  });
});
