/** Chats and agents in code without a canvas. */
import { firstValueFrom, lastValueFrom, of, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { newAgentState } from '../../src/agents/agent-events.js';
import type { AgentTool } from '../../src/agents/agent-tool.js';
import { callContext } from '../../src/agents/call-context.js';
import { openChat } from '../../src/agents/chat.js';
import { runAgent } from '../../src/agents/run-agent.js';
import { collectAnswer } from '../../src/models/collect-answer.js';
import { toolResult } from '../../src/tools/tool.js';
import type { TraceSource } from '../../src/trace-context.js';
import { chatServices } from '../components/text-activation.js';

describe('a chat without a canvas', () => {
  it('needs services and the name of a model', async () => {
    const { services, requests } = chatServices({ rules: [], default: { reply: 'yes' } });
    const chat = openChat(callContext({ services: { ...services, session: { id: 's' } } }), {
      model: 'm@F',
      sampling: { temperature: 0.5 },
    });
    const request = chat.request([{ role: 'user', content: 'well?' }]);
    const events = await firstValueFrom(chat.ask(request, (answer$) => answer$.pipe(collectAnswer())).pipe(toArray()));

    expect(events.find((event) => 'text' in event)).toMatchObject({ text: 'yes' });
    expect(events.filter((event) => 'type' in event && event.type === 'call')).toMatchObject([
      { call: { type: 'started', id: 'chat-1', kind: 'model' } },
      { call: { type: 'moment' } },
      { call: { type: 'finished' } },
    ]);
    expect(requests).toMatchObject([{ model: 'm@F', sampling: { temperature: 0.5 }, user: 's' }]);
  });

  it('passes on the trace of its services', async () => {
    const { services, requests } = chatServices({ rules: [], default: { reply: 'yes' } });
    const trace: TraceSource = { contextOf: (token, call) => ({ traceparent: `${token} ${call}` }) };
    const chat = openChat(callContext({ services: { ...services, trace }, token: 'job/1' }), { model: 'm' });
    await lastValueFrom(chat.ask(chat.request([]), (answer$) => answer$, { id: 'a' }));
    expect(requests).toMatchObject([{ headers: { traceparent: 'job/1 a' } }]);
  });

  it('fails without models, and names its caller', () => {
    expect(() => openChat(callContext({ services: {}, node: 'nightly report' }), { model: 'm' })).toThrowError(
      expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringContaining('"nightly report"') }),
    );
  });
});

describe('an agent without a canvas', () => {
  it('needs a chat and tools, and tells what models of these took', async () => {
    const context = callContext({
      services: chatServices({
        rules: [{ when: { tools: true }, times: 1, tool_calls: [{ name: 'clock', arguments: {} }] }],
        default: { reply: 'It is noon.' },
      }).services,
      now: () => 7,
    });
    const taken = { type: 'usage', promptTokens: 300, completionTokens: 40, totalTokens: 340 } as const;
    const clock: AgentTool = {
      kind: 'tool',
      title: 'clock',
      definition: { name: 'clock', description: 'Tells the time.', parameters: {} },
      needsApproval: false,
      mayCite: false,
      call: () => of(taken, toolResult('12:00', {})),
    };
    const setup = {
      chat: openChat(context, { model: 'm' }),
      tools: [clock],
      maxRounds: 2,
      idPrefix: '',
      keyPrefix: `${context.token}/`,
      path: 'Clerk',
      now: context.now,
    };
    const asked = newAgentState([{ role: 'user', content: 'How late is it?' }]);
    const events = await lastValueFrom(runAgent(setup, asked).pipe(toArray()));
    expect(events).toContainEqual(taken);
    expect(events.at(-1)).toMatchObject({ type: 'answer', text: 'It is noon.', state: { round: 1 } });
  });
});
