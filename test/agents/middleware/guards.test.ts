import { EMPTY, NEVER, Observable, of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { agent } from '../../../src/agents/loop/agent.js';
import { guardInput } from '../../../src/agents/middleware/guard-input.js';
import { guardOutput } from '../../../src/agents/middleware/guard-output.js';
import { defineTool, invoke, userMessage } from '../../../src/index.js';
import type { ChatDelta, ChatModel } from '../../../src/models/chat-model.js';
import { recordingModel } from './support.js';

const noSecrets = ({ text }: { readonly text: string }) =>
  text.includes('secret') ? { reason: 'it is about secrets' } : undefined;
const refusal = { code: 'GUARD_TRIPPED', message: expect.stringContaining('it is about secrets') };
const look = defineTool({ name: 'look', description: 'Looks.', run: () => 'a secret' });

describe('guardInput', () => {
  it('refuses what it is asked, with its name and the reason', async () => {
    const guarded = agent({
      name: 'clerk',
      model: recordingModel('hi'),
      use: [guardInput(noSecrets, { name: 'manners' })],
    });
    await expect(invoke(guarded, 'tell me a secret')).rejects.toMatchObject({
      code: 'GUARD_TRIPPED',
      message: 'Guard "manners" of agent "clerk" refused: it is about secrets',
      details: { agent: 'clerk', guard: 'manners', reason: 'it is about secrets' },
    });
    expect(await invoke(guarded, 'hello')).toBe('hi');
  });

  it('unsubscribes a model that is at work', async () => {
    let isOpen = false;
    const model: ChatModel = {
      chat: () =>
        new Observable(() => {
          isOpen = true;
          return () => {
            isOpen = false;
          };
        }),
    };
    // It is called before the model is asked; what it says comes behind that.
    const check = () => Promise.resolve().then(() => (isOpen ? { reason: 'the model is at work' } : undefined));
    const guarded = agent({ name: 'clerk', model, use: [guardInput(check, { replacement: 'No.' })] });
    expect(await invoke(guarded, 'hello')).toBe('No.');
    expect(isOpen).toBe(false);
  });

  it.each([
    ['the options', { replacement: 'No.' }, undefined, 'No.'],
    ['the trip', { replacement: 'No.' }, 'Never.', 'Never.'],
  ])('answers with the text of %s', async (_, options, replacement, answer) => {
    const check = () => ({ reason: 'no', ...(replacement !== undefined && { replacement }) });
    const guarded = agent({ name: 'clerk', model: recordingModel('hi'), use: [guardInput(check, options)] });
    expect(await invoke(guarded, 'hello')).toBe(answer);
  });

  it('stands in for no other model, and is not tried again', async () => {
    const model = recordingModel('hi');
    const failover = recordingModel('hello');
    const guarded = agent({
      name: 'clerk',
      model,
      failover: [failover],
      retry: { attempts: 3 },
      use: [guardInput(async (input) => noSecrets(input))],
    });
    await expect(invoke(guarded, 'a secret')).rejects.toMatchObject(refusal);
    expect(failover.requests).toEqual([]);
  });

  it('looks only at what is new, once, with everything that came together', async () => {
    const seen: string[] = [];
    const note = ({ text }: { readonly text: string }) => {
      seen.push(text);
      return undefined;
    };
    const model = recordingModel([{ tool: 'look' }], 'done');
    const guarded = agent({ name: 'clerk', model, tools: [look], use: [guardInput(note)] });
    await invoke(guarded, [
      userMessage('old'),
      { role: 'assistant', content: 'hm' },
      userMessage('one'),
      userMessage([{ type: 'text', text: 'two' }]),
    ]);
    expect(seen).toEqual(['one\n\ntwo']);
  });

  it('asks the model only behind the check where it is told to', async () => {
    const model = recordingModel('hi');
    const guarded = agent({
      name: 'clerk',
      model,
      use: [guardInput(async (input) => noSecrets(input), { wait: true })],
    });
    await expect(invoke(guarded, 'a secret')).rejects.toMatchObject(refusal);
    expect(model.requests).toEqual([]);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('offline');
      },
    ],
    ['rejects', () => Promise.reject(new Error('offline'))],
    ['says something else', () => true as never],
  ])('lets nothing pass when the check %s', async (_, check) => {
    const guarded = agent({
      name: 'clerk',
      model: recordingModel('hi'),
      failover: [recordingModel('ho')],
      use: [guardInput(check)],
    });
    await expect(invoke(guarded, 'hello')).rejects.toMatchObject({
      code: 'GUARD_TRIPPED',
      message: expect.stringContaining('Guard "guardInput" could not check'),
    });
  });

  it('takes a verdict from a stream, and leaves it', async () => {
    let left = 0;
    const verdicts$ = new Observable<undefined>((subscriber) => {
      subscriber.next(undefined);
      return () => {
        left += 1;
      };
    });
    for (const check of [() => verdicts$, () => EMPTY]) {
      expect(await invoke(agent({ name: 'clerk', model: recordingModel('hi'), use: [guardInput(check)] }), 'x')).toBe(
        'hi',
      );
    }
    expect(left).toBe(1);
  });

  it.each([
    [() => guardInput('x' as never), '"check" must be a function'],
    [() => guardInput(() => NEVER, { replacement: 1 as never }), '"replacement" must be a text'],
    [() => guardOutput(() => NEVER, { everyCharacters: 0 }), '"everyCharacters"'],
    [() => guardOutput(() => NEVER, { window: 1 } as never), 'there is no option "window"'],
  ])('refuses what cannot be used (%#)', (make, message) => {
    expect(make).toThrow(
      expect.objectContaining({ code: 'OPTION_INVALID', message: expect.stringContaining(message) }),
    );
  });
});

describe('guardOutput', () => {
  it('refuses an answer, or answers with another text', async () => {
    const make = (options: object) =>
      agent({ name: 'clerk', model: recordingModel('my secret is 7'), use: [guardOutput(noSecrets, options)] });
    await expect(invoke(make({}), 'x')).rejects.toMatchObject(refusal);
    expect(await invoke(make({ replacement: 'No.' }), 'x')).toBe('No.');
  });

  it('drops the calls of a refused answer', async () => {
    const calls: string[] = [];
    const send = defineTool({ name: 'send', description: 'Sends.', run: () => calls.push('sent') });
    const model: ChatModel = {
      chat: () =>
        of<ChatDelta[]>(
          { type: 'text', text: 'a secret' },
          { type: 'tool-call', index: 0, id: 'c1', name: 'send', arguments: '{}' },
          { type: 'finish', reason: 'tool_calls' },
        ),
    };
    const guarded = agent({
      name: 'clerk',
      model,
      tools: [send],
      use: [guardOutput(noSecrets, { replacement: 'No.' })],
    });
    expect(await invoke(guarded, 'x')).toBe('No.');
    expect(calls).toEqual([]);
  });

  it('looks at the result of a tool that is returned directly', async () => {
    const model = recordingModel([{ tool: 'look' }]);
    const make = (options: object) =>
      agent({ name: 'clerk', model, tools: [look], returnDirectly: ['look'], use: [guardOutput(noSecrets, options)] });
    await expect(invoke(make({}), 'x')).rejects.toMatchObject(refusal);
    expect(await invoke(make({ replacement: 'No.' }), 'x')).toBe('No.');
  });

  it('checks a text once', async () => {
    const seen: unknown[] = [];
    const check = (output: object) => {
      seen.push(output);
      return undefined;
    };
    expect(await invoke(agent({ name: 'clerk', model: recordingModel('hello'), use: [guardOutput(check)] }), 'x')).toBe(
      'hello',
    );
    expect(seen).toEqual([{ text: 'hello', isWhole: true }]);
  });
});
