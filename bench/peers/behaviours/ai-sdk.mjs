/** The programs in the AI SDK, as its guides say: a loop of tools, and a history of messages that its caller keeps. */
import {
  convertToModelMessages,
  generateText,
  lastAssistantMessageIsCompleteWithToolCalls,
  stepCountIs,
  streamText,
  ToolLoopAgent,
  tool,
} from 'ai';
import { z } from 'zod';
import { replyFor, SLOW, twoTools } from './cases.mjs';

const USAGE = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const finishOf = (reason) => ({ type: 'finish', finishReason: { unified: reason, raw: reason }, usage: USAGE });

/** A model that answers by what it was told. */
function scripted(reply, stream) {
  const partsFor = (prompt) => {
    const contents = prompt.flatMap(({ role, content }) => (role === 'tool' ? content : []));
    const results = contents.filter(({ type }) => type === 'tool-result');
    const { call, text, input = '{}' } = reply({ results: results.length, heard: 0, outputs: results });
    return call === undefined
      ? { content: [{ type: 'text', text }], reason: 'stop' }
      : {
          content: [{ type: 'tool-call', toolCallId: `call-${results.length}`, toolName: call, input }],
          reason: 'tool-calls',
        };
  };
  const piecesFor = (prompt) => {
    const { content, reason } = partsFor(prompt);
    const [part] = content;
    const pieces =
      part.type === 'text'
        ? [
            { type: 'text-start', id: 't' },
            { type: 'text-delta', id: 't', delta: part.text },
            { type: 'text-end', id: 't' },
          ]
        : content;
    return ReadableStream.from([{ type: 'stream-start', warnings: [] }, ...pieces, finishOf(reason)]);
  };
  return {
    specificationVersion: 'v3',
    provider: 'scripted',
    modelId: 'scripted',
    supportedUrls: {},
    doGenerate: async ({ prompt }) => {
      const { content, reason } = partsFor(prompt);
      return { content, finishReason: finishOf(reason).finishReason, usage: USAGE, warnings: [] };
    },
    doStream: async ({ prompt }) => ({ stream: stream?.() ?? piecesFor(prompt) }),
  };
}

/** Pieces of a model, which counts those that it has made. */
export function producer(made) {
  const pieces = async function* () {
    yield { type: 'stream-start', warnings: [] };
    yield { type: 'text-start', id: 't' };
    while (made.chunks < SLOW.chunks) {
      made.chunks += 1;
      yield { type: 'text-delta', id: 't', delta: 'x' };
      await new Promise((resolve) => setImmediate(resolve));
    }
    yield { type: 'text-end', id: 't' };
    yield finishOf('stop');
  };
  const stream = () => ReadableStream.from(pieces());
  return streamText({ model: scripted(() => ({ text: '' }), stream), prompt: 'Go.' }).textStream;
}

export const ABSENT = {
  join: 'has no graphs',
  cancel: 'has no graphs',
  input: 'takes no input for an agent at work',
  lost: 'keeps no runs',
};

// https://ai-sdk.dev/docs/ai-sdk-ui/chatbot-tool-usage: tools without a function are answered by the person, and sent on when all are.
async function answerAlone(order) {
  const asking = (description) => tool({ description, inputSchema: z.object({}) });
  const tools = { hotel: asking('How many stars?'), seat: asking('Window or aisle?') };
  const outputOf = (outputs, name) => outputs.find(({ toolName }) => toolName === name)?.output.value;
  const book = ({ outputs }) => ({ text: `${outputOf(outputs, 'hotel')} stars, ${outputOf(outputs, 'seat')}` });
  const answers = { hotel: 4, seat: 'window' };
  const calls = Object.keys(tools).map((name) => ({
    type: `tool-${name}`,
    toolCallId: `call-${name}`,
    state: 'input-available',
    input: {},
  }));
  let kept = JSON.stringify([
    { id: 'u', role: 'user', parts: [{ type: 'text', text: 'Oslo' }] },
    { id: 'a', role: 'assistant', parts: calls },
  ]);
  let seen = '';
  for (const name of order) {
    const messages = JSON.parse(kept);
    const call = messages.at(-1).parts.find(({ type }) => type === `tool-${name}`);
    Object.assign(call, { state: 'output-available', output: answers[name] });
    kept = JSON.stringify(messages);
    const open = messages.at(-1).parts.filter(({ state }) => state === 'input-available').length;
    if (seen === '') seen = `waits for ${open}`;
    if (!lastAssistantMessageIsCompleteWithToolCalls({ messages })) continue;
    const prompt = await convertToModelMessages(messages, { tools });
    const { text } = await generateText({ model: scripted(book), tools, messages: prompt });
    return `${seen}, then ${text}`;
  }
  return `${seen}, then nothing`;
}

export const PROGRAMS = {
  questions: async () => ({
    forward: await answerAlone(['hotel', 'seat']),
    backward: await answerAlone(['seat', 'hotel']),
  }),
  // https://ai-sdk.dev/docs/agents/subagents: a tool calls the agent, and gives the signal on.
  'cancel-agent': async ({ url, arrived, closed }) => {
    const asks = tool({
      description: 'Asks a server.',
      inputSchema: z.object({}),
      execute: async (_, { abortSignal }) => (await fetch(url, { signal: abortSignal })).text(),
    });
    const inner = new ToolLoopAgent({ model: scripted(() => ({ call: 'asks' })), tools: { asks } });
    const called = tool({
      description: 'Knows.',
      inputSchema: z.object({}),
      execute: async (_, { abortSignal }) => (await inner.generate({ prompt: 'Go.', abortSignal })).text,
    });
    const outer = new ToolLoopAgent({ model: scripted(() => ({ call: 'inner' })), tools: { inner: called } });
    const abort = new AbortController();
    outer.generate({ prompt: 'Go.', abortSignal: abort.signal }).catch(() => {});
    await arrived;
    abort.abort();
    return { closed: await closed };
  },
  // https://ai-sdk.dev/docs/advanced/stopping-streams: `onAbort` gives the steps that had ended, for the caller to keep.
  stop: async () => {
    const { call, working, tell } = twoTools('second');
    const made = (id) =>
      tool({
        description: `Does the ${id} thing.`,
        inputSchema: z.object({}),
        execute: (_, { abortSignal }) => call(id, abortSignal),
      });
    const settings = {
      model: scripted((seen) => replyFor('stop', seen)),
      tools: { first: made('first'), second: made('second') },
      stopWhen: stepCountIs(5),
    };
    const abort = new AbortController();
    const asked = [{ role: 'user', content: 'Go.' }];
    const stopped = new Promise((resolve) => {
      const onAbort = ({ steps }) => resolve(steps.at(-1)?.response.messages ?? []);
      streamText({ ...settings, messages: asked, abortSignal: abort.signal, onAbort })
        .consumeStream()
        .catch(() => {});
    });
    await working;
    abort.abort();
    const kept = JSON.parse(JSON.stringify([...asked, ...(await stopped)]));
    const { text } = await generateText({ ...settings, messages: kept });
    return { seen: tell(text) };
  },
};
