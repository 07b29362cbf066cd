import { of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { type AnyMiddleware, agent, defineMiddleware, todos } from '../../../src/entries/agents.js';
import { defineTool, invoke } from '../../../src/index.js';
import { recordingModel } from './support.js';

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
    ['beforeModel', of({ instructions: '' }), 'a request, such as { ...request, instructions }', 'an object'],
    ['afterModel', { message: 'text' }, 'an answer, such as { message, results }', 'an object'],
    ['afterTools', 7, 'a list of results', '7'],
    ['afterAgent', 'text', 'an answer, such as { text }', '"text"'],
  ])('is refused when %s gives %j, with what it needs', async (hook, given, needs, received) => {
    const message = `The hook "${hook}" of the middleware "odd" must give ${needs}, or nothing; received ${received}.`;
    const expected = expect.objectContaining({ code: 'NODE_PROTOCOL', message });
    await expect(run({ [hook]: () => given })).rejects.toEqual(expected);
    if (typeof given !== 'object') await expect(run({ [hook]: async () => given })).rejects.toEqual(expected);
  });

  it('is what came in when a hook gives nothing, at once or later', async () => {
    const hooks = ['beforeAgent', 'beforeModel', 'afterModel', 'afterTools', 'afterAgent'];
    expect(await run(Object.fromEntries(hooks.map((hook) => [hook, () => undefined])))).toBe('ok');
    expect(await run(Object.fromEntries(hooks.map((hook) => [hook, async () => undefined])))).toBe('ok');
  });
});

describe('the middlewares of an agent', () => {
  it('are refused when one was not called', () => {
    expect(() => agent({ name: 'clerk', use: [todos as never] })).toThrow(
      'agent "clerk": "use" must be a list of middlewares; call what makes one: todos(…)',
    );
  });
});
