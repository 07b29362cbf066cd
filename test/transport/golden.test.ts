import { describe, expect, it } from 'vitest';
import { ECHO, FORM, PROBE } from './support/documents.js';
import { type Frame, namesOf, openStream } from './support/event-stream.js';
import { startServer } from './support/server.js';

/** The shapes that RAGFlow's clients read, frame by frame. */
describe('golden transcripts', () => {
  it('streams Begin and Message in a new session', async () => {
    const server = await startServer();
    const agent_id = await server.agent(ECHO);
    const stream = await openStream(`${server.url}/api/v1/agents/chat/completions`, {
      body: { agent_id, query: 'hi', stream: true },
    });
    const frames = await stream.rest();

    expect(stream.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(stream.headers.get('cache-control')).toBe('no-cache');
    expect(stream.headers.get('x-accel-buffering')).toBe('no');
    expect(stream.headers.get('x-run-id')).toMatch(/^[0-9a-f]{32}$/);
    expect(namesOf(frames)).toEqual([
      'workflow_started',
      'node_started',
      'node_finished',
      'node_started',
      'message',
      'message_end',
      'node_finished',
      'workflow_finished',
      '[DONE]',
    ]);
    expect(frames.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, undefined]);
    expect(stream.raw).toMatch(/^id: 1\ndata:\{"event":"workflow_started"/);
    expect(stream.raw.endsWith('\n\ndata:[DONE]\n\n')).toBe(true);

    const first = frames[0]?.json;
    const session_id = first.session_id;
    expect(session_id).toMatch(/^[0-9a-f]{32}$/);
    expect(first).toEqual({
      event: 'workflow_started',
      message_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      created_at: expect.any(Number),
      task_id: session_id,
      session_id,
      data: { inputs: {} },
    });
    expect(frames[1]?.json.data).toMatchObject({
      inputs: null,
      component_id: 'begin',
      component_type: 'Begin',
      created_at: expect.any(Number),
    });
    expect(frames[4]?.json.data).toEqual({ content: 'you said hi', component_id: 'Message:A' });
    expect(frames[5]?.json.data).toEqual({ component_id: 'Message:A' });
    expect(frames[6]?.json.data).toMatchObject({ outputs: { content: 'you said hi', downloads: [] }, error: null });
    expect(frames[7]?.json.data).toEqual({
      inputs: {},
      outputs: { content: 'you said hi', downloads: [] },
      elapsed_time: expect.any(Number),
      created_at: expect.any(Number),
      usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0, calls: 0 },
    });
  });

  it('brackets reasoning', async () => {
    const server = await startServer();
    const agent = await server.agent(PROBE);
    const stream = await openStream(`${server.url}/api/v1/agents/${agent}/stream`, { body: { query: 'why' } });
    const probe = await server.probes.next();
    probe.think('consider…');
    probe.say('Answer');
    probe.settle();
    const messages = (await stream.rest()).filter(({ json }) => json?.event === 'message');
    expect(messages.map(({ json }) => json.data)).toEqual([
      { content: '', start_to_think: true, component_id: 'Probe:P' },
      { content: 'consider…', component_id: 'Probe:P' },
      { content: '', end_to_think: true, component_id: 'Probe:P' },
      { content: 'Answer', component_id: 'Probe:P' },
    ]);
    const session = (await server.call('GET', `/api/v1/agents/${agent}/sessions`)).body.data[0];
    expect(session.message.map(({ content }: { content: string }) => content)).toEqual([
      'why',
      '<think>consider…</think>Answer',
    ]);
  });

  it('pauses for a form and goes on with its answer', async () => {
    const server = await startServer();
    const agent_id = await server.agent(FORM);
    const url = `${server.url}/api/v1/agents/chat/completions`;
    const asked = await (await openStream(url, { body: { agent_id, query: 'go', stream: true } })).rest();
    expect(namesOf(asked).slice(-2)).toEqual(['user_inputs', '[DONE]']);
    const form = asked.at(-2)?.json;
    expect(form.data).toMatchObject({
      inputs: { city: { name: 'City', type: 'line', optional: false, options: [], value: null } },
      tips: 'Where to?',
      cpn_id: 'UserFillUp:B',
    });
    const { session_id } = form;
    const inputs = { city: { name: 'City', type: 'line', value: 'Oslo' } };
    const resumed = await (await openStream(url, { body: { agent_id, session_id, stream: true, inputs } })).rest();
    expect(namesOf(resumed)[0]).toBe('node_started');
    expect(resumed[0]?.json.data.component_id).toBe('UserFillUp:B');
    expect(textOf(resumed)).toBe('to Oslo');
    expect(namesOf(resumed).slice(-2)).toEqual(['workflow_finished', '[DONE]']);

    const runs = (await server.call('GET', `/api/v1/agents/${agent_id}/runs`)).body.data;
    expect(runs.map(({ status }: { status: string }) => status).sort()).toEqual(['succeeded', 'waiting']);
    const second = runs.find(({ status }: { status: string }) => status === 'succeeded');
    expect(second.parent_run_id).toBe(runs.find(({ status }: { status: string }) => status === 'waiting').id);
  });

  it('tells of a failure with the node, the code-500 frame and the end mark', async () => {
    const server = await startServer();
    const agent = await server.agent(PROBE);
    const stream = await openStream(`${server.url}/api/v1/agents/${agent}/stream`, { body: { query: 'x' } });
    (await server.probes.next()).fail(new Error('connect ECONNREFUSED'));
    const frames = await stream.rest();
    expect(namesOf(frames).slice(-3)).toEqual(['node_finished', '500', '[DONE]']);
    expect(frames.at(-3)?.json.data.error).toContain('connect ECONNREFUSED');
    const { session_id } = frames[0]?.json ?? {};
    expect(frames.at(-2)?.json).toEqual({
      code: 500,
      message: expect.stringContaining('connect ECONNREFUSED'),
      data: false,
      task_id: session_id,
      session_id,
      error: 'NODE_FAILED',
    });
    expect(frames.at(-2)?.id).toBe(frames.length - 1);
  });

  it('ends a cancelled run with the words of RAGFlow, however often it is cancelled', async () => {
    const server = await startServer();
    const agent = await server.agent(PROBE);
    const stream = await openStream(`${server.url}/api/v1/agents/${agent}/stream`, { body: { query: 'x' } });
    const probe = await server.probes.next();
    const [first] = await stream.until(() => true);
    const task = first?.json.session_id;
    const cancelled = { code: 0, message: 'success', data: true };
    expect((await server.call('POST', `/api/v1/tasks/${task}/cancel`)).body).toEqual(cancelled);
    expect((await server.call('POST', `/api/v1/tasks/${task}/cancel`)).body).toEqual(cancelled);
    const frames = await stream.rest();
    expect(probe.isStopped).toBe(true);
    expect(namesOf(frames).slice(-2)).toEqual(['workflow_finished', '[DONE]']);
    expect(namesOf(frames).filter((name) => name === 'workflow_finished' || name === '500')).toHaveLength(1);
    expect(frames.at(-2)?.json.data).toMatchObject({ inputs: {}, outputs: 'Task has been canceled' });
    expect((await server.call('POST', `/api/v1/tasks/${task}/cancel`)).body).toEqual(cancelled);
    const { data } = (await server.call('GET', `/api/v1/agents/${agent}/runs`)).body;
    expect(data[0].status).toBe('cancelled');
  });

  it("speaks OpenAI's language when asked to", async () => {
    const server = await startServer();
    const agent_id = await server.agent(ECHO);
    const stream = await openStream(`${server.url}/api/v1/agents/chat/completions`, {
      body: {
        agent_id,
        'openai-compatible': true,
        stream: true,
        model: 'ignored',
        messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
      },
    });
    const frames = await stream.rest();
    expect(frames.map(({ text }) => text.trim()).at(-1)).toBe('[DONE]');
    expect(stream.raw).toMatch(/\ndata: \{"id":/);
    const chunks = frames.slice(0, -1).map(({ json }) => json);
    expect(chunks).toHaveLength(2);
    const id = chunks[0].id;
    const choice = (delta: object, finish_reason: string | null) => [
      {
        delta: { role: 'assistant', function_call: null, tool_calls: null, ...delta },
        finish_reason,
        index: 0,
        logprobs: null,
      },
    ];
    expect(chunks[0]).toEqual({
      id,
      object: 'chat.completion.chunk',
      created: expect.any(Number),
      model: agent_id,
      system_fingerprint: '',
      usage: null,
      choices: choice({ content: 'you said hi' }, null),
    });
    expect(chunks[1]).toMatchObject({
      usage: { total_tokens: expect.any(Number), completion_tokens_details: { reasoning_tokens: 0 } },
      choices: choice({ content: null }, 'stop'),
    });
  });
});

function textOf(frames: readonly Frame[]): string {
  return frames
    .filter(({ json }) => json?.event === 'message')
    .map(({ json }) => json.data.content)
    .join('');
}
