import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { agent } from '../../../src/agents/loop/agent.js';
import { agentTool } from '../../../src/agents/loop/agent-as-tool.js';
import { approve } from '../../../src/agents/middleware/approve.js';
import { defineTool, type EngineError, invoke, type Question, resumeFrom } from '../../../src/index.js';
import { attempt, goOn, type Reply, recordingModel, told } from './support.js';

const REVIEW = 'review#approve';

/** An agent that may send mails and look things up, with what was really done. */
function clerk(replies: readonly Reply[], guard = approve(['send'])) {
  const done: string[] = [];
  const note = (what: string, result: string): string => {
    done.push(what);
    return result;
  };
  const send = defineTool({
    name: 'send',
    description: 'Sends.',
    input: z.object({ to: z.string() }),
    run: ({ to }) => note(`send ${to}`, `sent to ${to}`),
  });
  const look = defineTool({ name: 'look', description: 'Looks.', run: () => note('look', 'seen') });
  const model = recordingModel(...replies);
  const made = () => agent({ name: 'clerk', model, tools: [send, look], use: [guard] });
  return { made, model, done };
}

const TWO: Reply = [{ tool: 'send', args: { to: 'a' } }, { tool: 'look' }, { tool: 'send', args: { to: 'b' } }];

describe('approve', () => {
  it('asks about all calls of an answer at once, before any call is made', async () => {
    const { made, done } = clerk([TWO, 'ready']);
    const asked = await attempt(made(), 'go');
    expect(asked).toMatchObject({
      type: 'asks',
      questions: [
        { address: `${REVIEW}/c1`, question: { type: 'approval', id: 'c1', tool: 'send', arguments: { to: 'a' } } },
        { address: `${REVIEW}/c3`, question: { type: 'approval', id: 'c3', tool: 'send', arguments: { to: 'b' } } },
      ],
    });
    expect(done).toEqual([]);
  });

  it('makes what was approved, tells the model what was declined and why, answered one by one over JSON', async () => {
    const { made, model, done } = clerk([TWO, 'ready']);
    const asked = await attempt(made(), 'go');
    const second = await goOn(made(), asked, { [`${REVIEW}/c3`]: { approved: false, reason: 'b is away' } });
    expect(second).toMatchObject({ type: 'asks', questions: [{ address: `${REVIEW}/c1` }] });
    expect(done).toEqual([]);
    expect(await goOn(made(), second, { [`${REVIEW}/c1`]: { approved: true } })).toEqual({
      type: 'done',
      value: 'ready',
    });
    expect(done.sort()).toEqual(['look', 'send a']);
    expect(told(model.requests[1] as never).slice(2)).toEqual([
      'tool: sent to a',
      'tool: seen',
      'tool: The call was declined by a person and not made. Do not make it again unless you are told to. The reason: b is away',
    ]);
  });

  it.each([
    [
      'en',
      'The call was declined by a person and not made. Do not make it again unless you are told to. The reason: No answer came in time.',
    ],
    ['zh', '该调用被人工拒绝，没有执行。除非得到指示，否则不要再次调用。原因：没有及时得到答复。'],
  ] as const)('declines a call that was not answered in time (%s)', async (language, said) => {
    const { made, model, done } = clerk(
      [[{ tool: 'send', args: { to: 'a' } }], 'ready'],
      approve(['send'], { expiresInMs: 500, language }),
    );
    const clock = { now: 1_000 };
    const options = { now: () => clock.now };
    const asked = await invoke(made(), 'go', options).catch((error: EngineError) => error.details);
    const { questions, checkpoint } = asked as { readonly questions: readonly Question[]; readonly checkpoint: never };
    expect(questions[0]?.expiresAt).toBe(1_500);
    clock.now = 1_500;
    expect(await invoke(made(), resumeFrom(checkpoint), options)).toBe('ready');
    expect(done).toEqual([]);
    expect(told(model.requests[1] as never).at(-1)).toBe(`tool: ${said}`);
  });

  it('makes a call with the arguments that a person has put in place', async () => {
    const { made, model, done } = clerk([[{ tool: 'send', args: { to: 'a' } }], 'ready']);
    const asked = await attempt(made(), 'go');
    await goOn(made(), asked, { [`${REVIEW}/c1`]: { approved: true, arguments: { to: 'c' } } });
    expect(done).toEqual(['send c']);
    const answer = model.requests[1]?.messages.find(({ role }) => role === 'assistant');
    expect(answer).toMatchObject({ toolCalls: [{ id: 'c1', arguments: '{"to":"c"}' }] });
  });

  it('asks again in the next round, also about a call of the same id', async () => {
    const { made, done } = clerk([
      [{ tool: 'send', args: { to: 'a' } }],
      [{ tool: 'send', args: { to: 'b' } }],
      'ready',
    ]);
    const first = await attempt(made(), 'go');
    const second = await goOn(made(), first, { [`${REVIEW}/c1`]: { approved: true } });
    expect(second).toMatchObject({ type: 'asks', questions: [{ question: { arguments: { to: 'b' } } }] });
    expect(done).toEqual(['send a']);
  });

  it('asks about each of two calls with one id', async () => {
    const { made, done } = clerk([
      [
        { tool: 'send', args: { to: 'a' }, id: 'x' },
        { tool: 'send', args: { to: 'b' }, id: 'x' },
      ],
      'ready',
    ]);
    const asked = await attempt(made(), 'go');
    expect(asked).toMatchObject({ questions: [{ address: `${REVIEW}/x` }, { address: `${REVIEW}/x_2` }] });
    await goOn(made(), asked, { [`${REVIEW}/x`]: { approved: false }, [`${REVIEW}/x_2`]: { approved: true } });
    expect(done).toEqual(['send b']);
  });

  it.each([
    ['picks', ({ arguments: args }: { arguments: unknown }) => (args as { to: string }).to !== 'a', ['send a']],
    [
      'fails',
      () => {
        throw new Error('no');
      },
      [],
    ],
    ['gives nothing', () => undefined as never, []],
  ])('asks about what a function picks; one that %s', async (_, rule, made) => {
    const kit = clerk([[{ tool: 'send', args: { to: 'a' } }], 'ready'], approve(rule));
    await attempt(kit.made(), 'go');
    expect(kit.done).toEqual(made);
  });

  it('asks about agents as tools, and does not start one that was declined', async () => {
    const inner = recordingModel('Oslo');
    const model = recordingModel([{ tool: 'guide', args: { request: 'where?' } }], 'ready');
    const guide = agent({ name: 'guide', description: 'Knows places.', model: inner });
    const made = () => agent({ name: 'clerk', model, tools: [agentTool(guide)], use: [approve(['guide'])] });
    const asked = await attempt(made(), 'go');
    expect(asked).toMatchObject({ questions: [{ question: { tool: 'guide', arguments: { request: 'where?' } } }] });
    await goOn(made(), asked, { [`${REVIEW}/c1`]: { approved: false } });
    expect(inner.requests).toEqual([]);
    const again = await attempt(made(), 'go');
    expect(again).toEqual({ type: 'done', value: 'ready' });
  });

  it('asks for an agent inside of another one, at its own address', async () => {
    const done: string[] = [];
    const send = defineTool({ name: 'send', description: 'Sends.', run: () => `sent ${done.push('sent')}` });
    const made = () => {
      const guide = agent({
        name: 'guide',
        description: 'Sends.',
        model: recordingModel([{ tool: 'send' }], 'sent it'),
        tools: [send],
        use: [approve(['send'])],
      });
      return agent({
        name: 'clerk',
        model: recordingModel([{ tool: 'guide', args: { request: 'send' } }], 'ready'),
        tools: [agentTool(guide)],
      });
    };
    const asked = await attempt(made(), 'go');
    if (asked.type !== 'asks') throw new Error('It does not ask.');
    expect(asked.questions).toMatchObject([{ address: expect.stringMatching(/guide\/review#approve\/c1$/) }]);
    await goOn(made(), asked, { [asked.questions[0]?.address as string]: { approved: true } });
    expect(done).toEqual(['sent']);
  });

  it('refuses an answer of another form, and keeps the question', async () => {
    const { made } = clerk([[{ tool: 'send', args: { to: 'a' } }], 'ready']);
    const asked = await attempt(made(), 'go');
    await expect(goOn(made(), asked, { [`${REVIEW}/c1`]: 'yes' })).rejects.toMatchObject({ code: 'ANSWER_INVALID' });
  });

  it('speaks Chinese', async () => {
    const { made, model } = clerk(
      [[{ tool: 'send', args: { to: 'a' } }], 'ready'],
      approve(['send'], { language: 'zh' }),
    );
    const asked = await attempt(made(), 'go');
    await goOn(made(), asked, { [`${REVIEW}/c1`]: { approved: false, reason: '不行' } });
    expect(told(model.requests[1] as never).at(-1)).toBe(
      'tool: 该调用被人工拒绝，没有执行。除非得到指示，否则不要再次调用。原因：不行',
    );
  });

  it.each([
    [() => approve('send' as never), 'the first argument'],
    [() => approve([], { language: 'fr' as never }), '"language" must be "en" or "zh"'],
    [() => approve([], { wait: 1 } as never), 'there is no option "wait"'],
    [() => approve([], { expiresInMs: -1 }), '"expiresInMs" must be a whole number'],
  ])('refuses what cannot be used (%#)', (make, message) => {
    expect(make).toThrow(
      expect.objectContaining({ code: 'OPTION_INVALID', message: expect.stringContaining(message) }),
    );
  });
});
