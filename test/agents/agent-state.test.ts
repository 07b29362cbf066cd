/** The state of an agent, written as text and read again. */
import { lastValueFrom, of, tap } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { type AgentEvent, type AgentState, newAgentState, readAgentState } from '../../src/agents/agent-events.js';
import type { AgentTool } from '../../src/agents/agent-tool.js';
import { callContext } from '../../src/agents/call-context.js';
import { openChat } from '../../src/agents/chat.js';
import { runAgent } from '../../src/agents/run-agent.js';
import type { Json } from '../../src/json.js';
import type { ChatDelta } from '../../src/models/chat-model.js';
import type { ChatMessage } from '../../src/models/messages.js';
import { toolResult } from '../../src/tools/tool.js';
import { chatServices } from '../components/text-activation.js';

/** A state as a store gives it back. */
const stored = (state: AgentState): AgentState | undefined => readAgentState(JSON.parse(JSON.stringify(state)) as Json);

const image = { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png', detail: 'high' } as const;
const question: ChatMessage = { role: 'user', name: 'Ada', content: [{ type: 'text', text: 'What is it?' }, image] };

describe('a stored state', () => {
  it.each<[string, ChatMessage]>([
    ['a text', { role: 'user', content: 'q' }],
    ['an image by its bytes', question],
    [
      'an image in the short form',
      { role: 'user', content: [{ type: 'image_url', url: 'data:image/png;base64,AA==' }] },
    ],
    ['a sound', { role: 'user', content: [{ type: 'audio', data: 'AA==', mimeType: 'audio/wav' }] }],
    ['a file at its provider', { role: 'user', content: [{ type: 'file', fileId: 'f1', name: 'a.pdf' }] }],
    ['a system message of parts', { role: 'system', content: [{ type: 'text', text: 's', extra: { cache: true } }] }],
    [
      'an answer with thoughts and calls',
      {
        role: 'assistant',
        content: '',
        toolCalls: [{ id: 'c', name: 'find', arguments: '{}', kind: 'custom', extra: { signature: 'x' } }],
        reasoning: 'hm',
        parts: [
          { type: 'reasoning', text: 'hm', signature: 'sig' },
          { type: 'tool-call', id: 'c', name: 'find', arguments: '{}' },
        ],
      },
    ],
    [
      'a result with an image, of a tool that failed',
      { role: 'tool', toolCallId: 'c', content: 'see', isError: true, parts: [{ type: 'text', text: 'see' }, image] },
    ],
  ])('keeps %s', (_, message) => {
    const state = newAgentState([message]);
    expect(stored(state)).toStrictEqual(state);
  });

  it('keeps what waits for an approval, with its thoughts, and inner agents', () => {
    const inner = newAgentState([question]);
    const state: AgentState = {
      ...newAgentState([question]),
      pending: {
        text: 'Let me see.',
        calls: [{ id: 'c', name: 'find', arguments: '{}', extra: { signature: 'x' } }],
        parts: [{ type: 'reasoning', text: '', signature: 'sig', isRedacted: true }],
      },
      inner: [{ at: 0, state: inner }],
    };
    expect(stored(state)).toStrictEqual(state);
  });

  it.each<[string, unknown]>([
    ['a part that is none', { role: 'user', content: [{ type: 'smell', data: 'AA==' }] }],
    ['a role that is none', { role: 'boss', content: 'q' }],
    ['a message without content', { role: 'user' }],
  ])('is refused with %s', (_, message) => {
    expect(stored(newAgentState([message as ChatMessage]))).toBeUndefined();
  });
});

describe('an agent that is asked about an image', () => {
  const thought: ChatDelta = { type: 'part', part: { type: 'reasoning', text: '', signature: 'sig' } };
  const first: ChatDelta[] = [
    { type: 'thinking', text: 'Look it up.' },
    thought,
    { type: 'tool-call', index: 0, id: 'c', name: 'find', arguments: '{"q":1}', extra: { signature: 'x' } },
    { type: 'finish', reason: 'tool_calls' },
  ];
  const last: ChatDelta[] = [
    { type: 'text', text: 'A cat.' },
    { type: 'finish', reason: 'stop' },
  ];
  const find: AgentTool = {
    kind: 'tool',
    title: 'find',
    definition: { name: 'find', description: 'Finds.', parameters: {} },
    needsApproval: true,
    mayCite: false,
    call: () => of(toolResult('cats', {})),
  };
  const call = { id: 'c', name: 'find', arguments: '{"q":1}', extra: { signature: 'x' } };
  const conversation: ChatMessage[] = [
    question,
    {
      role: 'assistant',
      content: '',
      toolCalls: [call],
      parts: [
        { type: 'reasoning', text: 'Look it up.', signature: 'sig' },
        { type: 'tool-call', ...call },
      ],
    },
    { role: 'tool', toolCallId: 'c', content: 'cats' },
  ];

  /** Runs it to its end over these answers of its model. */
  async function work(answers: readonly ChatDelta[][], state: AgentState, tool: AgentTool, isAllowed = false) {
    const { services, requests } = chatServices({ chat: () => of(...(answers[requests.length - 1] ?? [])) });
    const said: AgentEvent[] = [];
    const setup = {
      chat: openChat(callContext({ services }), { model: 'm' }),
      tools: [tool],
      maxRounds: 3,
      idPrefix: '',
      keyPrefix: 'k/',
      path: 'Boss',
      now: () => 0,
      ...(isAllowed && { approvals: new Map([['c', { isAllowed, reason: '' }]]) }),
    };
    const end = await lastValueFrom(runAgent(setup, state).pipe(tap((event) => said.push(event))));
    return { requests, said, end };
  }

  it('shows it to the model in every round, beside its own thoughts with their signature', async () => {
    const { requests, end } = await work([first, last], newAgentState([question]), { ...find, needsApproval: false });
    expect(requests.map(({ messages }) => messages)).toEqual([[question], conversation]);
    expect(end).toMatchObject({ type: 'answer', text: 'A cat.' });
  });

  it('goes on from a stored state of each round as if it had not stopped', async () => {
    const { said } = await work([first, last], newAgentState([question]), { ...find, needsApproval: false });
    const state = said.find((event) => event.type === 'state')?.state as AgentState;
    const { requests, end } = await work([last], stored(state) as AgentState, find);
    expect(requests.map(({ messages }) => messages)).toEqual([conversation]);
    expect(end).toMatchObject({ type: 'answer', text: 'A cat.' });
  });

  it('goes on with an approved call as if it had not been asked', async () => {
    const { end: asked } = await work([first], newAgentState([question]), find);
    expect(asked).toMatchObject({ type: 'approval', calls: [call] });
    const paused = stored((asked as { state: AgentState }).state) as AgentState;
    const { requests, end } = await work([last], paused, find, true);
    expect(requests.map(({ messages }) => messages)).toEqual([conversation]);
    expect(end).toMatchObject({ type: 'answer', text: 'A cat.' });
  });

  it('may answer with an image alone, which is no empty answer', async () => {
    const drawn: ChatDelta[] = [
      { type: 'part', part: image },
      { type: 'finish', reason: 'stop' },
    ];
    const { requests, end } = await work([drawn], newAgentState([question]), find);
    expect(requests).toHaveLength(1);
    expect(end).toMatchObject({ type: 'answer', text: '', parts: [image] });
  });

  it('says the text of whole parts live, too', async () => {
    const whole: ChatDelta[] = [
      { type: 'part', part: { type: 'reasoning', text: 'Hm.', signature: 's' } },
      { type: 'part', part: { type: 'text', text: 'A dog.', citations: [{ at: 1 }] } },
      { type: 'finish', reason: 'stop' },
    ];
    const { said, end } = await work([whole], newAgentState([question]), find);
    expect(said.filter(({ type }) => type === 'text' || type === 'thinking')).toEqual([
      { type: 'thinking', text: 'Hm.' },
      { type: 'text', text: 'A dog.' },
    ]);
    expect(end).toMatchObject({ text: 'A dog.', parts: [{ type: 'reasoning' }, { type: 'text', text: 'A dog.' }] });
  });

  it('sends no call back that was too many to be made', async () => {
    const many = Array.from(
      { length: 70 },
      (_, index): ChatDelta => ({
        type: 'tool-call',
        index,
        id: `c${index}`,
        name: 'find',
        arguments: `{"q":${index}}`,
      }),
    );
    const tool = { ...find, needsApproval: false };
    const { requests } = await work([[thought, ...many], last], newAgentState([question]), tool);
    const [, answer, ...results] = requests[1]?.messages ?? [];
    expect(results).toHaveLength(64);
    expect(answer?.role === 'assistant' && answer.toolCalls).toHaveLength(64);
    expect(answer?.role === 'assistant' && answer.parts).toHaveLength(65);
  });
});
