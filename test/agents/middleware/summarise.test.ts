import { lastValueFrom, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { agent, type SummariseOptions, summarise } from '../../../src/entries/agents.js';
import { defineTool, EngineError, invoke, run } from '../../../src/index.js';
import type { ChatModel } from '../../../src/models/chat-model.js';
import type { ChatMessage } from '../../../src/models/messages.js';
import { recordingModel, told } from './support.js';

const look = defineTool({ name: 'look', description: 'Looks.', run: () => 'seen' });

/** So many questions and answers, and a last question. */
function talk(turns: number): ChatMessage[] {
  const before = Array.from({ length: turns }, (_, index): ChatMessage[] => [
    { role: 'user', content: `question ${index + 1}` },
    { role: 'assistant', content: `answer ${index + 1}` },
  ]);
  return [...before.flat(), { role: 'user', content: 'last question' }];
}

function clerk(model: ChatModel, options: SummariseOptions) {
  return agent({ name: 'clerk', model, tools: [look], use: [summarise(options)] });
}

const TITLE = 'user: Earlier messages are left out here. This is a summary of them:\n\n';

describe('summarise', () => {
  it('leaves a short conversation alone', async () => {
    const model = recordingModel('ok');
    await invoke(clerk(model, { atMessages: 10 }), talk(4));
    expect(model.requests.map((request) => told(request).length)).toEqual([9]);
  });

  it('puts a summary in place of older messages, and keeps the newest', async () => {
    const writer = recordingModel('They talked.');
    const model = recordingModel('ok');
    await invoke(clerk(model, { atMessages: 5, keep: 3, model: writer }), talk(3));
    expect(told(model.requests[0] as never)).toEqual([
      `${TITLE}They talked.`,
      'user: question 3',
      'assistant: answer 3',
      'user: last question',
    ]);
    const [prompt, transcript] = told(writer.requests[0] as never);
    expect(prompt).toMatch(/^system: .*summary/);
    expect(transcript).toBe('user: user: question 1\n\nassistant: answer 1\n\nuser: question 2\n\nassistant: answer 2');
    expect(writer.requests[0]?.tools).toBeUndefined();
  });

  it('replaces them for good: the next round has the summary, and asks for no other one', async () => {
    const writer = recordingModel('They talked.');
    const model = recordingModel([{ tool: 'look' }], 'ok');
    await invoke(clerk(model, { atMessages: 5, keep: 1, model: writer }), talk(3));
    expect(writer.requests).toHaveLength(1);
    expect(told(model.requests[1] as never).slice(0, 2)).toEqual([`${TITLE}They talked.`, 'user: last question']);
  });

  it('never parts results from their calls, also of several at once', async () => {
    const call = (id: string) => ({ id, name: 'look', arguments: '{}' });
    const messages: ChatMessage[] = [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: 'b' },
      { role: 'assistant', content: '', toolCalls: [call('1'), call('2')] },
      { role: 'tool', content: 'one', toolCallId: '1' },
      { role: 'tool', content: 'two', toolCallId: '2' },
    ];
    const model = recordingModel('ok');
    await invoke(clerk(model, { atMessages: 3, keep: 1, model: recordingModel('S') }), messages);
    expect(told(model.requests[0] as never)).toEqual([`${TITLE}S`, 'assistant: ', 'tool: one', 'tool: two']);
  });

  it('counts tokens, keeps what a quarter of them holds, and keeps system messages at the beginning', async () => {
    const model = recordingModel('ok');
    const messages = [{ role: 'system', content: 'Law.' } as const, ...talk(6)];
    await invoke(clerk(model, { at: 40, countTokens: () => 5, model: recordingModel('S') }), messages);
    expect(told(model.requests[0] as never)).toEqual([
      'system: Law.',
      `${TITLE}S`,
      'assistant: answer 6',
      'user: last question',
    ]);
  });

  it.each([
    [
      'fails',
      {
        chat: () => {
          throw new EngineError('MODEL_REQUEST', 'quota');
        },
      } as ChatModel,
      'MODEL_REQUEST',
    ],
    ['says nothing', recordingModel(' '), 'OUTPUT_INVALID'],
  ])('leaves the messages and tells of it when its model %s', async (_, writer, code) => {
    const model = recordingModel('ok');
    const events = await lastValueFrom(
      run(clerk(model, { atMessages: 3, model: writer }), { input: talk(3) }).pipe(toArray()),
    );
    expect(told(model.requests[0] as never)).toHaveLength(7);
    expect(JSON.stringify(events)).toContain('summary-failed');
    expect(JSON.stringify(events)).toContain(code);
    expect(events.at(-1)?.type).toBe('run-settled');
  });

  it('gives up after three failures in a row', async () => {
    const writer = recordingModel('');
    const model = recordingModel(...Array.from({ length: 5 }, () => [{ tool: 'look' }]), 'ok');
    await invoke(clerk(model, { atMessages: 3, keep: 1, model: writer }), talk(3));
    expect(writer.requests).toHaveLength(3);
  });

  it('takes what to keep, the prompt and the messages from functions, and speaks Chinese', async () => {
    const writer = recordingModel('S');
    const model = recordingModel('ok');
    const options: SummariseOptions = {
      atMessages: 3,
      model: writer,
      keep: (messages) => messages.length - 2,
      prompt: ({ older }) => `Make ${older.length} short.`,
      finalise: (summary, { recent }) => [{ role: 'assistant', content: `${summary} + ${recent.length}` }],
    };
    await invoke(clerk(model, options), talk(2));
    expect(told(writer.requests[0] as never)[0]).toBe('system: Make 2 short.');
    expect(told(model.requests[0] as never)[0]).toBe('assistant: S + 3');
    const chinese = recordingModel('ok');
    await invoke(clerk(chinese, { atMessages: 3, keep: 1, model: writer, language: 'zh' }), talk(2));
    expect(told(chinese.requests[0] as never)[0]).toBe('user: 较早的消息已省略，以下是其摘要：\n\nS');
  });

  it('cuts a summary that is too long', async () => {
    const model = recordingModel('ok');
    const writer = recordingModel('word '.repeat(1_000));
    await invoke(clerk(model, { atMessages: 3, keep: 1, model: writer, maxTokens: 10 }), talk(2));
    expect(told(model.requests[0] as never)[0]?.length).toBeLessThan(TITLE.length + 80);
  });

  it.each([
    [{ at: 0 }],
    [{ atMessages: 1.5 }],
    [{ keep: 0 }],
    [{ model: {} }],
    [{ prompt: 5 }],
    [{ language: 'de' }],
    [{ after: 5 }],
  ])('refuses %j', (options) => {
    expect(() => summarise(options as never)).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }));
  });
});
