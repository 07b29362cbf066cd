/** What an agent does: rounds, answers in a form, stops, tries, other models, agents as tools. */
import { of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  agent,
  agentTool,
  called,
  defineMiddleware,
  finalAnswer,
  milliseconds,
  rounds,
  tokens,
} from '../../../src/entries/agents.js';
import {
  type ChatDelta,
  defineTool,
  draw,
  EngineError,
  invoke,
  resumeFrom,
  toolsNode,
  userMessage,
} from '../../../src/index.js';
import { eventsOf, questionsOf } from './questions.js';
import { echo, replies, say, talk } from './support.js';

const unavailable = (message = 'down') => new EngineError('MODEL_UNAVAILABLE', message, { retryable: true });

describe('rounds', () => {
  it('calls tools until an answer has no calls, and sends results in the order of the calls', async () => {
    const model = replies({ text: 'Let me see.', calls: [say('a'), say('b')] }, 'Done.');
    const tool = echo();
    expect(await invoke(agent({ name: 'guide', model, tools: [tool], instructions: 'Be brief.' }), 'go')).toBe('Done.');
    expect(talk(model.requests[1]?.messages ?? [])).toEqual([
      'system: Be brief.',
      'user: go',
      'assistant: Let me see. [echo, echo]',
      'tool: echo a',
      'tool: echo b',
    ]);
    expect(tool.calls).toEqual(['a', 'b']);
  });

  it.each([
    ['text', 'hello'],
    ['a message', userMessage('hello')],
    ['a conversation', [userMessage('hello')]],
  ])('takes %s', async (_, input) => {
    const model = replies('Hi.');
    expect(await invoke(agent({ name: 'guide', model }), input as string)).toBe('Hi.');
    expect(talk(model.requests[0]?.messages ?? [])).toEqual(['user: hello']);
  });

  it.each([[42], [[]], [{ role: 'king' }], [null]])('refuses %j', async (input) => {
    const step = agent({ name: 'guide', model: replies('Hi.') });
    await expect(invoke(step, input as never)).rejects.toMatchObject({ code: 'INPUT_INVALID' });
  });

  it('tells the model of a tool that is not there, of wrong arguments and of a failure', async () => {
    const model = replies(
      { calls: [say('a', 'nope'), { name: 'echo', arguments: { text: 1 } }, { name: 'bad' }] },
      'Done.',
    );
    const bad = defineTool({
      name: 'bad',
      description: 'Fails.',
      run: () => {
        throw new Error('no luck');
      },
    });
    await invoke(agent({ name: 'guide', model, tools: [echo(), bad] }), 'go');
    const said = talk(model.requests[1]?.messages ?? []).slice(2);
    expect(said[0]).toContain('There is no tool "nope"');
    expect(said[1]).toContain('do not fit');
    expect(said[2]).toContain('no luck');
  });

  it('reports calls that failed as failed, whatever the model is told of them', async () => {
    const model = replies({ calls: [say('a'), { name: 'bad' }, say('a', 'nope')] }, 'Done.');
    const bad = defineTool({
      name: 'bad',
      description: 'Fails.',
      run: () => {
        throw new EngineError('EGRESS_FAILED', 'no network');
      },
    });
    const events = await eventsOf(agent({ name: 'guide', model, tools: [echo(), bad] }), 'go');
    const calls = events.flatMap((event) =>
      event.type === 'node-settled' && event.node === 'tools' ? (event.calls ?? []) : [],
    );
    expect(calls.map(({ name, status, error }) => [name, status, error])).toEqual([
      ['echo', 'done', undefined],
      ['bad', 'failed', 'no network'],
      ['nope', 'failed', expect.stringContaining('There is no tool "nope"')],
    ]);
  });

  it('sends no part of a call back that was too many to be made', async () => {
    const thought: ChatDelta = { type: 'part', part: { type: 'reasoning', text: '', signature: 'sig' } };
    const many = Array.from(
      { length: 70 },
      (_, index): ChatDelta => ({
        type: 'tool-call',
        index,
        id: `c${index}`,
        name: 'echo',
        arguments: `{"text":"${index}"}`,
      }),
    );
    const model = replies(of<ChatDelta[]>(thought, ...many, { type: 'finish', reason: 'tool_calls' }), 'Done.');
    await invoke(agent({ name: 'guide', model, tools: [echo()] }), 'go');
    const [, answer, ...results] = model.requests[1]?.messages ?? [];
    expect(results).toHaveLength(64);
    expect(answer?.role === 'assistant' && answer.toolCalls).toHaveLength(64);
    expect(answer?.role === 'assistant' && answer.parts).toHaveLength(65);
  });

  it('says text before a call while it comes', async () => {
    const model = replies({ text: 'Let me see.', calls: [say('a')] }, 'Done.');
    const events = await eventsOf(agent({ name: 'guide', model, tools: [echo()] }), 'go');
    const texts = events.flatMap((event) =>
      event.type === 'node-chunk' && event.node === 'model' ? [(event.value as { content: string }).content] : [],
    );
    expect(texts.filter((text) => text !== '')).toEqual(['Let me see.', 'Done.']);
  });

  it('is drawn with its nodes', () => {
    expect(draw(agent({ name: 'guide', model: replies('x') }))).toContain('review');
  });
});

describe('stop rules', () => {
  it.each([
    ['rounds', rounds(2)],
    ['tokens', tokens(4)],
    ['called', called('echo')],
  ])('asks once more without tools: %s', async (_, rule) => {
    const model = replies({ calls: [say('a')] }, { calls: [say('b')] }, 'Enough.');
    const limited = agent({ name: 'guide', model, tools: [echo()], stopWhen: [rule] });
    expect(await invoke(limited, 'go')).toMatch(/Enough\.|^$/);
    const last = model.requests.at(-1);
    expect(last?.tools).toBeUndefined();
    expect(talk(last?.messages ?? []).at(-1)).toContain('No more tools can be called now.');
  });

  it('counts time that model and tools take', async () => {
    let time = 0;
    const slow = defineTool({
      name: 'echo',
      description: 'Slow.',
      run: () => {
        time += 50;
        return 'x';
      },
    });
    const model = replies({ calls: [{ name: 'echo' }] }, 'Late.');
    const limited = agent({ name: 'guide', model, tools: [slow], stopWhen: [milliseconds(40)] });
    expect(await invoke(limited, 'go', { now: () => time } as never)).toBe('Late.');
    expect(model.requests[1]?.tools).toBeUndefined();
  });

  it('fails, or ends with what was said, when it is told to', async () => {
    const make = (whenStopped: 'fail' | 'end') =>
      agent({
        name: 'guide',
        model: replies({ text: 'So far.', calls: [say('a')] }),
        tools: [echo()],
        stopWhen: [rounds(1)],
        whenStopped,
      });
    await expect(invoke(make('fail'), 'go')).rejects.toMatchObject({ code: 'LIMIT_REACHED' });
    expect(await invoke(make('end'), 'go')).toBe('So far.');
  });

  it('drops calls that a model makes when it may not', async () => {
    const model = replies({ calls: [say('a')] }, { text: 'Still.', calls: [say('b')] });
    const tool = echo();
    expect(await invoke(agent({ name: 'guide', model, tools: [tool], stopWhen: [rounds(1)] }), 'go')).toBe('Still.');
    expect(tool.calls).toEqual(['a']);
  });
});

describe('answers', () => {
  it('have the form that was asked for, and are mended', async () => {
    const model = replies('no JSON', '{"title": 1}', '{"title": "Oslo"}');
    const writer = agent({ name: 'writer', model, output: z.object({ title: z.string() }) });
    expect(await invoke(writer, 'go')).toEqual({ title: 'Oslo' });
    expect(model.requests[0]?.jsonSchema?.schema).toMatchObject({ type: 'object' });
    expect(talk(model.requests[2]?.messages ?? []).at(-1)).toContain('title');
  });

  it('fail when they cannot be mended', async () => {
    const writer = agent({ name: 'writer', model: replies('no'), output: z.object({ title: z.string() }), repairs: 1 });
    await expect(invoke(writer, 'go')).rejects.toMatchObject({
      code: 'OUTPUT_INVALID',
      message: expect.stringContaining('2 answers'),
    });
  });

  it('are results of tools that return directly, by name or by the tool itself', async () => {
    const own = defineTool({
      name: 'own',
      description: 'Ends.',
      run: () => finalAnswer('from inside'),
      output: (given) => given,
    });
    const byTool = replies({ calls: [{ name: 'own' }] }, 'never');
    expect(await invoke(agent({ name: 'guide', model: byTool, tools: [own] }), 'go')).toBe('from inside');
    const byName = replies({ calls: [say('a')] }, 'never');
    expect(await invoke(agent({ name: 'guide', model: byName, tools: [echo()], returnDirectly: ['echo'] }), 'go')).toBe(
      'echo a',
    );
    expect(byName.requests).toHaveLength(1);
  });
});

describe('models', () => {
  it('are tried again, and what came before does not count', async () => {
    const model = replies(unavailable(), 'Here.');
    expect(await invoke(agent({ name: 'guide', model, retry: { attempts: 2 } }), 'go')).toBe('Here.');
    const refused = replies('bad', 'good');
    const picky = agent({
      name: 'guide',
      model: refused,
      retry: {
        attempts: 2,
        when: (outcome) =>
          outcome.type === 'answered' && outcome.message.content === 'bad' && { request: { instructions: 'Better.' } },
      },
    });
    expect(await invoke(picky, 'go')).toBe('good');
    expect(talk(refused.requests[1]?.messages ?? [])[0]).toBe('system: Better.');
  });

  it('stand in for one that fails, and the next round begins with the one that worked', async () => {
    const broken = replies(unavailable());
    const other = replies({ calls: [say('a')] }, 'Done.');
    expect(await invoke(agent({ name: 'guide', model: broken, failover: [other], tools: [echo()] }), 'go')).toBe(
      'Done.',
    );
    expect([broken.requests.length, other.requests.length]).toEqual([1, 2]);
  });

  it('fail with the last error when no try is left', async () => {
    const guide = agent({
      name: 'guide',
      model: replies(unavailable('one')),
      failover: [replies(unavailable('two'))],
      retry: { attempts: 2 },
    });
    await expect(invoke(guide, 'go')).rejects.toMatchObject({
      code: 'MODEL_RETRIES_EXHAUSTED',
      message: expect.stringContaining('two'),
    });
    await expect(invoke(agent({ name: 'guide', model: replies(unavailable('plain')) }), 'go')).rejects.toMatchObject({
      code: 'MODEL_UNAVAILABLE',
    });
  });

  it('get what prepareRound changes, for one round', async () => {
    const model = replies({ calls: [say('a')] }, 'Done.');
    const guide = agent({
      name: 'guide',
      model,
      tools: [echo(), echo('other')],
      prepareRound: ({ tools }, { round }) => (round === 1 ? { tools: tools.slice(0, 1) } : undefined),
    });
    await invoke(guide, 'go');
    expect(model.requests.map(({ tools }) => tools?.map(({ name }) => name))).toEqual([['echo'], ['echo', 'other']]);
  });
});

describe('middlewares', () => {
  it('run in their order, and remember', async () => {
    const order: string[] = [];
    const note = (name: string) =>
      defineMiddleware<number>({
        name,
        initial: () => 0,
        beforeAgent: (_, view) => {
          order.push(`${name} begins ${view.own}`);
          view.setOwn(1);
          return undefined;
        },
        beforeModel: (request, view) => {
          order.push(`${name} before ${view.own}`);
          return { ...request, instructions: `${request.instructions}${name}` };
        },
        wrapModel: (request, next) => {
          order.push(`${name} around`);
          return next(request);
        },
        afterModel: () => {
          order.push(`${name} after`);
          return undefined;
        },
        wrapTool: (request, next) => {
          order.push(`${name} tool`);
          return next(request);
        },
        afterTools: () => {
          order.push(`${name} tools`);
          return undefined;
        },
        afterAgent: ({ text }) => {
          order.push(`${name} ends`);
          return { text: `${text}${name}` };
        },
      });
    const model = replies({ calls: [say('a')] }, 'Done');
    expect(await invoke(agent({ name: 'guide', model, tools: [echo()], use: [note('1'), note('2')] }), 'go')).toBe(
      'Done12',
    );
    expect(talk(model.requests[0]?.messages ?? [])[0]).toBe('system: 12');
    expect(order.slice(0, 12)).toEqual([
      '1 begins 0',
      '2 begins 0',
      '1 before 1',
      '2 before 1',
      '1 around',
      '2 around',
      '1 after',
      '2 after',
      '1 tool',
      '2 tool',
      '1 tools',
      '2 tools',
    ]);
    expect(order.slice(-2)).toEqual(['1 ends', '2 ends']);
  });

  it('ask about calls, and answer those that are refused; over a restart', async () => {
    const make = (model: ReturnType<typeof replies>, tool: ReturnType<typeof echo>) =>
      agent({
        name: 'guide',
        model,
        tools: [tool],
        use: [
          defineMiddleware({
            name: 'gate',
            afterModel: ({ message }, view) => {
              const { toolCalls = [] } = message;
              if (toolCalls.length === 0) return undefined;
              const open = toolCalls.filter(({ id }) => !view.answers.has(id));
              if (open.length > 0)
                return view.interruptAll(
                  open.map(({ id, arguments: text }) => ({ id, interrupt: view.interrupt(text) })),
                );
              const results = toolCalls.flatMap(({ id, name }) =>
                view.answers.get(id) === true
                  ? []
                  : [{ role: 'tool' as const, content: 'Refused.', toolCallId: id, name }],
              );
              return { message, results };
            },
          }),
        ],
      });
    const first = replies({
      calls: [
        { ...say('a'), id: 'x' },
        { ...say('b'), id: 'y' },
      ],
    });
    const { questions, checkpoint } = await questionsOf(make(first, echo()), 'go');
    expect(questions.map(({ address }) => address)).toEqual(['review#gate/x', 'review#gate/y']);
    const second = replies('Done.');
    const tool = echo();
    const stored = JSON.parse(JSON.stringify(checkpoint));
    const some = await questionsOf(make(second, tool), resumeFrom(stored, { 'review#gate/x': true }));
    expect(some.questions.map(({ address }) => address)).toEqual(['review#gate/y']);
    expect(await invoke(make(second, tool), resumeFrom(some.checkpoint, { 'review#gate/y': false }))).toBe('Done.');
    expect(talk(second.requests[0]?.messages ?? []).slice(-2)).toEqual(['tool: echo a', 'tool: Refused.']);
    expect(tool.calls).toEqual(['a']);
  });
});

describe('agents as tools', () => {
  it('are part of the graph: addresses lead into them, and only what waits runs again', async () => {
    const sure = () =>
      defineTool({
        name: 'sure',
        description: 'Asks.',
        run: (_, call) => (call.answer === undefined ? call.interrupt('Sure?') : `It is ${call.answer}.`),
      });
    const make = (
      inner: ReturnType<typeof replies>,
      outer: ReturnType<typeof replies>,
      tool: ReturnType<typeof echo>,
    ) =>
      agent({
        name: 'lead',
        model: outer,
        tools: [tool, agentTool(agent({ name: 'writer', description: 'Writes.', model: inner, tools: [sure()] }))],
      });
    const inner = replies({ calls: [{ name: 'sure', id: 's' }] });
    const outer = replies({ calls: [say('a'), { name: 'writer', arguments: { request: 'Write.' } }] });
    const tool = echo();
    const { questions, checkpoint } = await questionsOf(make(inner, outer, tool), 'go');
    expect(questions.map(({ address }) => address)).toEqual(['agents[0]/writer/tools#s']);
    expect(talk(inner.requests[0]?.messages ?? [])).toEqual(['user: Write.']);
    const later = { inner: replies('Written.'), outer: replies('All done.'), tool: echo() };
    const resumed = make(later.inner, later.outer, later.tool);
    expect(
      await invoke(resumed, resumeFrom(JSON.parse(JSON.stringify(checkpoint)), { 'agents[0]/writer/tools#s': 'sure' })),
    ).toBe('All done.');
    expect(talk(later.outer.requests[0]?.messages ?? []).slice(-2)).toEqual(['tool: echo a', 'tool: Written.']);
    expect(later.tool.calls).toEqual([]);
  });

  it('tell the caller when they fail, and may hear its conversation', async () => {
    const failing = agent({ name: 'writer', description: 'Writes.', model: replies(unavailable('gone')) });
    const listener = replies('Heard.');
    const hearing = agent({ name: 'reader', description: 'Reads.', model: listener });
    const outer = replies(
      {
        calls: [
          { name: 'writer', arguments: { request: 'x' } },
          { name: 'reader', arguments: { request: 'And?' } },
        ],
      },
      'Done.',
    );
    const lead = agent({
      name: 'lead',
      model: outer,
      tools: [agentTool(failing), agentTool(hearing, { hears: 'history' })],
    });
    expect(await invoke(lead, 'The start.')).toBe('Done.');
    expect(talk(outer.requests[1]?.messages ?? []).slice(-2)).toEqual(['tool: gone', 'tool: Heard.']);
    expect(talk(listener.requests[0]?.messages ?? [])).toEqual(['user: The start.', 'user: And?']);
  });

  it.each([
    ['text', 'Write!', 'received string'],
    ['no object', '["x"]', 'received a list'],
    ['what does not fit', '{"question":"x"}', 'request'],
  ])('tell the caller of %s in place of arguments, and do not begin', async (_, written, problem) => {
    const listener = replies('Written.');
    const pieces: ChatDelta[] = [{ type: 'tool-call', index: 0, id: 'c', name: 'writer', arguments: written }];
    const outer = replies(of(...pieces, { type: 'finish', reason: 'tool_calls' } as const), 'Done.');
    const writer = agent({ name: 'writer', description: 'Writes.', model: listener });
    expect(await invoke(agent({ name: 'lead', model: outer, tools: [agentTool(writer)] }), 'go')).toBe('Done.');
    expect(talk(outer.requests[1]?.messages ?? []).at(-1)).toContain(problem);
    expect(listener.requests).toEqual([]);
  });

  it('take arguments of their own, from which their question is made', async () => {
    const listener = replies('Written.');
    const writer = agent({ name: 'writer', description: 'Writes.', model: listener });
    const tool = agentTool(writer, {
      name: 'write',
      description: 'Writes about a subject.',
      input: z.object({ subject: z.string(), words: z.number() }),
      question: ({ subject, words }) => `Write ${String(words)} words about ${String(subject)}.`,
    });
    const outer = replies(
      { calls: [{ name: 'write', arguments: { subject: 'Oslo', words: 'many' } }] },
      { calls: [{ name: 'write', arguments: { subject: 'Oslo', words: 9 } }] },
      'Done.',
    );
    expect(await invoke(agent({ name: 'lead', model: outer, tools: [tool] }), 'go')).toBe('Done.');
    expect(outer.requests[0]?.tools?.[0]).toMatchObject({
      name: 'write',
      description: 'Writes about a subject.',
      parameters: { required: ['subject', 'words'] },
    });
    expect(talk(outer.requests[1]?.messages ?? []).at(-1)).toContain('words');
    expect(listener.requests.map(({ messages }) => talk(messages))).toEqual([['user: Write 9 words about Oslo.']]);
  });

  it('are tools of a node of tools as well', async () => {
    const writer = agent({ name: 'writer', description: 'Writes.', model: replies('Written.') });
    const asked = {
      role: 'assistant' as const,
      content: '',
      toolCalls: [{ id: 'c', name: 'writer', arguments: '{"request":"x"}' }],
    };
    expect((await invoke(toolsNode({ tools: [agentTool(writer)] }), asked))[0]?.content).toBe('Written.');
  });
});

describe('options', () => {
  it.each([
    [{}, 'PLAN_INVALID'],
    [{ name: 'a/b' }, 'PLAN_INVALID'],
    [{ name: 'a', tool: [] }, 'OPTION_INVALID'],
    [{ name: 'a', model: 1 }, 'OPTION_INVALID'],
    [{ name: 'a', tools: [echo(), echo()] }, 'OPTION_INVALID'],
    [{ name: 'a', returnDirectly: ['nope'] }, 'OPTION_INVALID'],
    [{ name: 'a', stopWhen: ['x'] }, 'OPTION_INVALID'],
    [{ name: 'a', whenStopped: 'later' }, 'OPTION_INVALID'],
    [{ name: 'a', retry: { attempts: 0 } }, 'OPTION_INVALID'],
    [{ name: 'a', limits: { totalMs: -1 } }, 'OPTION_INVALID'],
    [{ name: 'a', use: [{}] }, 'OPTION_INVALID'],
    [{ name: 'a', output: {} }, 'OPTION_INVALID'],
  ])('refuses %j', (options, code) => {
    expect(() => agent(options as never)).toThrowError(expect.objectContaining({ code }));
  });
});
