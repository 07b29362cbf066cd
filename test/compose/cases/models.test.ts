/** Chat models and other components as steps. The behaviours are those of Eino's `components/model` and of its model nodes in `compose`. */
import { concat, Observable, of, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { chunksOf, stepActivation } from '../../../marble-tests/support/step-activation.js';
import {
  type ChatDelta,
  type ChatMessage,
  type ChatModel,
  type ChatRequest,
  chain,
  chatModel,
  componentStep,
  createModels,
  createScriptedModel,
  defineState,
  defineTool,
  graph,
  hasToolCall,
  invoke,
  type Models,
  messageParser,
  options,
  run,
  stream,
  toolsNode,
} from '../../../src/index.js';
import { componentFunction } from '../../../src/knowledge/component-function.js';
import { concatMessages, messageOf } from '../../../src/models/concat-messages.js';
import { type AssistantMessage, userMessage } from '../../../src/models/messages.js';
import { modelsFromEnvironment } from '../../../src/settings/read-settings.js';

const ASK: readonly ChatMessage[] = [userMessage('Hi?')];

/** A model that gives these deltas, and keeps what it was asked. */
function fixed(...deltas: readonly ChatDelta[]) {
  const requests: ChatRequest[] = [];
  const model: ChatModel = {
    chat(request) {
      requests.push(request);
      return of(...deltas);
    },
  };
  return { model, requests };
}

const add = defineTool({
  name: 'add',
  description: 'Adds.',
  input: z.object({ a: z.number(), b: z.number() }),
  run: ({ a, b }) => a + b,
});

describe('a chat model as a step', () => {
  it('gives the answer as a message, with its reason and its cost', async () => {
    const model = chatModel(createScriptedModel({ default: { reply: 'Hello.' } }));
    expect(await invoke(model, ASK)).toEqual({
      role: 'assistant',
      content: 'Hello.',
      finishReason: 'stop',
      usage: { promptTokens: 1, completionTokens: 2, totalTokens: 3 },
    });
  });

  it('streams chunks that are messages, and whose concatenation is the answer', async () => {
    const script = { default: { reply_stream: ['<think>hm</think>', 'Hel', 'lo'], tool_calls: [{ name: 'add' }] } };
    const model = chatModel(createScriptedModel(script));
    const chunks: AssistantMessage[] = [];
    for await (const chunk of stream(model, ASK)) chunks.push(chunk);
    expect(chunks.every(({ role, content }) => role === 'assistant' && typeof content === 'string')).toBe(true);
    expect(chunks.map(({ content }) => content).filter((text) => text !== '')).toEqual(['Hel', 'lo']);
    const whole = await invoke(model, ASK);
    expect(messageOf(concatMessages(chunks))).toEqual(whole);
    expect(whole).toMatchObject({
      content: 'Hello',
      reasoning: 'hm',
      toolCalls: [{ id: 'call_0', name: 'add', arguments: '{}' }],
    });
  });

  it('hands its tool calls to a node of tools, offline', async () => {
    const scripted = createScriptedModel({
      default: {
        tool_calls: [
          { name: 'add', arguments: { a: 1, b: 2 } },
          { name: 'add', arguments: { a: 3, b: 4 } },
        ],
      },
    });
    const ask = chatModel(scripted, { tools: [add] }).pipe(toolsNode({ tools: [add] }));
    const results = await invoke(ask, ASK);
    expect(results.map(({ toolCallId, content }) => [toolCallId, content])).toEqual([
      ['call_0', '3'],
      ['call_1', '7'],
    ]);
  });

  it('takes turns with a node of tools in a graph until it answers', async () => {
    const scripted = createScriptedModel({
      rules: [
        { when: { user: '^What' }, reply: 'Let me see. ', tool_calls: [{ name: 'add', arguments: { a: 1, b: 2 } }] },
        { when: { user: '^3$' }, reply: 'It is $user.' },
      ],
    });
    const Conversation = defineState('conversation', () => ({ messages: [] as readonly ChatMessage[] }));
    const react = graph<readonly ChatMessage[], AssistantMessage>(
      'react',
      (g) => {
        const model = g.node('model', chatModel(scripted, { tools: [add] }), {
          before: (input: readonly ChatMessage[], at) => at.state(Conversation).append('messages', ...input).messages,
        });
        const tools = g.node('tools', toolsNode({ tools: [add] }), {
          before: (answer: AssistantMessage, at) => {
            at.state(Conversation).append('messages', answer);
            return answer;
          },
        });
        g.edge(g.start, model);
        g.streamBranch(model, { tools, end: g.end }, hasToolCall());
        g.edge(tools, model);
      },
      { state: Conversation },
    );
    expect(await invoke(react, [userMessage('What is 1 + 2?')])).toMatchObject({ content: 'It is 3.' });
  });

  it('finds a model by its name among those of the run, and another one where an option names it', async () => {
    const asked: string[] = [];
    const models: Pick<Models, 'chat'> = {
      chat(name) {
        asked.push(name);
        const model = createScriptedModel({ default: { reply: `I am ${name}.` } });
        return { model, name: `own ${name}`, supportsImages: false, contextLength: undefined };
      },
    };
    const model = chatModel('small');
    const options = { services: { models } };
    expect(await invoke(model, ASK, options)).toMatchObject({ content: 'I am small.' });
    expect(await invoke(model, { messages: ASK, model: 'large' }, options)).toMatchObject({ content: 'I am large.' });
    expect(asked).toEqual(['small', 'large']);
    await expect(invoke(model, ASK)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('needs the service "models"'),
    });
  });

  it('answers with the scripted model where a process has no provider', async () => {
    const models = createModels(await modelsFromEnvironment({}, async () => ''));
    expect(await invoke(chatModel(''), ASK, { services: { models } })).toMatchObject({ content: 'echo: Hi?' });
    await models.close();
  });

  it('lays options of the input over its own, and those of the run over both', async () => {
    const { model, requests } = fixed({ type: 'finish', reason: 'stop' });
    const asking = chatModel(model, { model: 'one', temperature: 1, topP: 0.5, stop: ['a'], maxTokens: 9 });
    await invoke(asking, { messages: ASK, temperature: 0.5, stop: ['b'], maxTokens: undefined });
    const given = options(asking, { temperature: 0, toolChoice: 'none', model: 'two' });
    await invoke(asking, { messages: ASK, temperature: 0.5, jsonSchema: { name: 'x', schema: {} } }, { with: [given] });
    expect(requests[0]).toMatchObject({
      model: 'one',
      messages: ASK,
      sampling: { temperature: 0.5, topP: 0.5, maxTokens: 9 },
      stop: ['b'],
    });
    expect(requests[1]).toMatchObject({
      model: 'two',
      sampling: { temperature: 0, topP: 0.5, maxTokens: 9 },
      stop: ['a'],
      toolChoice: 'none',
      jsonSchema: { name: 'x', schema: {} },
    });
  });

  it('offers tools as plain definitions, and an empty list where a run takes them away', async () => {
    const { model, requests } = fixed({ type: 'finish', reason: 'stop' });
    await invoke(
      chatModel(model, { tools: [add, { name: 'x', description: 'X.', parameters: {}, deferred: true }] }),
      ASK,
    );
    chunksOf(chatModel(model, { tools: [add] }), ASK, stepActivation({ options: { tools: [] } })).subscribe();
    expect(requests[0]?.tools).toEqual([
      { name: 'add', description: 'Adds.', parameters: add.parameters },
      { name: 'x', description: 'X.', parameters: {}, deferred: true },
    ]);
    expect(requests[1]?.tools).toEqual([]);
  });

  it('refuses options that there are not, and inputs that are no messages', async () => {
    const { model } = fixed();
    expect(() => chatModel(model, { temprature: 1 } as never)).toThrow(
      'there is no option "temprature". Did you mean "temperature"?',
    );
    expect(() => chatModel(7 as never)).toThrow('"model" must be the name of a model');
    await expect(invoke(chatModel(model), { messages: ASK, top: 1 } as never)).rejects.toMatchObject({
      code: 'OPTION_INVALID',
    });
    await expect(invoke(chatModel(model), 'Hi?' as never)).rejects.toMatchObject({
      code: 'INPUT_INVALID',
      message: expect.stringContaining('received text'),
    });
    await expect(invoke(chatModel(model), [{ text: 'Hi?' }] as never)).rejects.toMatchObject({ code: 'INPUT_INVALID' });
  });

  it('gives a message without content for a model that says nothing', async () => {
    expect(await invoke(chatModel(fixed().model), ASK)).toEqual({ role: 'assistant', content: '' });
  });

  it('reports the call, its cost and its end among the events of the run', async () => {
    const model = chatModel(createScriptedModel({ default: { reply: 'Hello.' } }), { model: 'm', temperature: 0 });
    const seen: unknown[] = [];
    await new Promise<void>((resolve, reject) => {
      run(model, { input: ASK }).subscribe({
        next: (event) => {
          if (event.type === 'node-call') seen.push(event.call.type);
          if (event.type === 'node-usage') seen.push(event.totalTokens);
          if (event.type === 'run-settled') seen.push((event.value as AssistantMessage).content);
        },
        error: reject,
        complete: resolve,
      });
    });
    expect(seen).toEqual(['started', 'moment', 3, 'finished', 'Hello.']);
  });

  it('fails as the model does, behind the chunks that came', async () => {
    const model: ChatModel = {
      chat: () =>
        concat(
          of<ChatDelta>({ type: 'text', text: 'Hel' }),
          throwError(() => new Error('cut off')),
        ),
    };
    const heard: string[] = [];
    const reading = (async () => {
      for await (const { content } of stream(chatModel(model), ASK)) heard.push(content);
    })();
    await expect(reading).rejects.toMatchObject({ message: expect.stringContaining('cut off') });
    expect(heard).toEqual(['Hel']);
    const scripted = createScriptedModel({ default: { error: 'overloaded' } });
    await expect(invoke(chatModel(scripted), ASK)).rejects.toMatchObject({ code: 'MODEL_UNAVAILABLE' });
  });

  it('closes the connection when it is not listened to any more', () => {
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
    const subscription = stream(chatModel(model), ASK).subscribe();
    expect(isOpen).toBe(true);
    subscription.unsubscribe();
    expect(isOpen).toBe(false);
  });

  it('lets a model wait while nothing has room for its chunks', async () => {
    let given = 0;
    let waited = 0;
    const model: ChatModel = {
      chat: ({ ready }) =>
        new Observable((subscriber) => {
          const write = async () => {
            for (; given < 200 && !subscriber.closed; given += 1) {
              const pause = ready?.();
              if (pause !== undefined) {
                waited += 1;
                await pause;
              }
              subscriber.next({ type: 'text', text: 'x' });
            }
            subscriber.complete();
          };
          write().catch((error: unknown) => subscriber.error(error));
        }),
    };
    const chunks = stream(chatModel(model), ASK)[Symbol.asyncIterator]();
    await chunks.next();
    expect(given).toBeLessThan(100);
    let text = 1;
    for (let next = await chunks.next(); next.done !== true; next = await chunks.next())
      text += next.value.content.length;
    expect(text).toBe(200);
    expect(waited).toBeGreaterThan(0);
  });
});

describe('an answer that is parsed', () => {
  it('is the typed value of its content, or of its tool call', async () => {
    const Title = z.object({ title: z.string() });
    const inText = chatModel(createScriptedModel({ default: { reply: '```json\n{"book":{"title":"Oslo"}}\n```' } }));
    const inCall = chatModel(
      createScriptedModel({ default: { tool_calls: [{ name: 'answer', arguments: { title: 'Bergen' } }] } }),
    );
    expect(await invoke(inText.pipe(messageParser(Title, { path: 'book' })), ASK)).toEqual({ title: 'Oslo' });
    expect(await invoke(inCall.pipe(messageParser(Title, { from: 'toolCall' })), ASK)).toEqual({ title: 'Bergen' });
    await expect(invoke(inText.pipe(messageParser(Title)), ASK)).rejects.toMatchObject({ code: 'OUTPUT_INVALID' });
  });
});

describe('a function with a name and a kind', () => {
  interface Options {
    readonly topK?: number;
    readonly signal?: AbortSignal | undefined;
  }
  const seen: Options[] = [];
  const find = componentFunction('notes', 'retriever', async (query: string, options: Options = {}) => {
    seen.push(options);
    return [`about ${query}`];
  });

  it('is a step of that name and kind, which gets the signal and the options of the run', async () => {
    const search = componentStep<string, string[], Options>(find);
    expect([search.name, search.kind]).toEqual(['notes', 'retriever']);
    expect(await invoke(search, 'Oslo')).toEqual(['about Oslo']);
    chunksOf(search, 'Bergen', stepActivation({ options: { topK: 2 } }));
    expect(seen).toEqual([{ signal: expect.any(AbortSignal) }, { topK: 2, signal: expect.any(AbortSignal) }]);
    expect(() => componentStep(((query: string) => query) as never)).toThrow('componentFunction(name, kind, fn)');
  });

  it('is the same where it stands in a chain as it is', async () => {
    const titled = chain(
      (question: string) => question.trim(),
      find,
      (found) => found.length,
    );
    expect(await invoke(titled, ' Oslo ')).toBe(1);
  });
});
