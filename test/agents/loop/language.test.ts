/** What agents and teams say to models by themselves, in Chinese; every other test reads it in English. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  agent,
  agentFrom,
  agentTool,
  called,
  exitLoopIn,
  handoff,
  hostAgents,
  loopAgents,
  milliseconds,
  parallelAgents,
  planExecute,
  rounds,
  sequentialAgents,
  type TeamRound,
  tokens,
} from '../../../src/entries/agents.js';
import { type ChatMessage, invoke } from '../../../src/index.js';
import { echo, replies, say, talk } from './support.js';

const language = 'zh';

/** Letters that no text of ours may have beside names, numbers and what tools and models said. */
const ENGLISH = /[A-Za-z]{4,}/g;

describe('an agent that speaks Chinese', () => {
  it.each([
    ['rounds', rounds(1), '已经进行了 1 轮。'],
    ['tokens', tokens(1), '1 个 token 的预算已用完。'],
    ['called', called('echo'), '工具 echo 已被调用。'],
  ])('says why no tool can be called: %s', async (_, rule, why) => {
    const model = replies({ calls: [say('a')] }, '好');
    await invoke(agent({ name: 'a', model, tools: [echo()], stopWhen: [rule], language }), '开始');
    expect(talk(model.requests[1]?.messages ?? []).at(-1)).toBe(
      `user: ${why}现在不能再调用工具。请根据目前所知作答，并说明缺少什么。`,
    );
  });

  it('counts time in its language', () => {
    const facts = { round: 1, messages: [], usage: { totalTokens: 0 }, elapsedMs: 2_000, language } as const;
    expect(milliseconds(2_000)(facts as never)).toBe('2 秒的时间预算已用完。');
  });

  it('sends an answer back that has not its form', async () => {
    const model = replies('{}', '{"n": 1}');
    await invoke(agent({ name: 'a', model, output: z.object({ n: z.number() }), language }), '开始');
    expect(talk(model.requests[1]?.messages ?? []).at(-1)).toMatch(/^user: 你的回答不符合要求的格式：.*请重新回答/s);
  });

  it('hands over, hears others, and asks specialists', async () => {
    const first = replies({ text: '我来', calls: [{ name: 'transfer_to_b' }, say('x')] });
    const second = replies('好');
    const b = agent({ name: 'b', description: '乙', model: second, language });
    const a = agent({ name: 'a', model: first, tools: [echo()], language });
    await invoke(handoff({ name: 't', agents: [a, b] }), '开始');
    expect(first.requests[0]?.tools?.at(-1)?.description).toBe('将对话移交给 b，之后由它回答。乙');
    expect(talk(second.requests[0]?.messages ?? [])).toEqual([
      'user: 开始',
      'user: 供参考，以下来自智能体“a”：\n我来\n（调用了 echo，参数为 {"text":"x"}）\n（已移交给 b。）\n（echo 返回：未调用：智能体已移交对话。）',
    ]);
    const host = replies('好');
    await invoke(hostAgents({ name: 'h', model: host, agents: [b], language }), '开始');
    expect(JSON.stringify(host.requests[0]?.tools)).toContain('它要完成的工作');
    expect(JSON.stringify(agentTool(b, { language }).parameters)).toContain('它要完成的工作');
  });

  it('is told so by agents written by hand, in teams side by side and in loops', async () => {
    const heard: string[] = [];
    const run = (messages: readonly ChatMessage[]) => {
      heard.push(...talk(messages));
      return '完';
    };
    const listener = agentFrom({ name: 'l', language, run });
    await invoke(
      sequentialAgents({ name: 's', agents: [agent({ name: 'a', model: replies('早') }), listener] }),
      '开始',
    );
    expect(heard).toEqual(['user: 开始', 'user: 供参考，以下来自智能体“a”：\n早']);
    const broken = agent({ name: 'x', model: replies(new Error('坏')) });
    const side = parallelAgents({ name: 'p', agents: [broken, listener], failures: 'tell', language });
    const texts: string[] = [];
    const until = ({ text }: TeamRound) => texts.push(text) > 0;
    await invoke(loopAgents<unknown>({ name: 'o', agents: [side], until }), '开始');
    expect(texts).toEqual([expect.stringMatching(/^x: 没有回答：.*\n\nl: 完$/s)]);
    const { description, parameters } = exitLoopIn(language);
    expect(`${description}${JSON.stringify(parameters)}`.match(ENGLISH)).toEqual([
      'type',
      'object',
      'properties',
      'answer',
      'type',
      'string',
      'description',
      'required',
      'answer',
    ]);
  });

  it('mends plans in the language of its team', async () => {
    const model = replies('无', '{"steps": ["一"]}', '{"answer": "完"}');
    await invoke(
      planExecute({ name: 'g', model, executor: agentFrom({ name: 'e', run: () => '完' }), language }),
      '开始',
    );
    expect(talk(model.requests[1]?.messages ?? []).at(-1)).toContain('请重新回答');
  });

  it.each([
    ['agent', () => agent({ name: 'a', language: 'fr' as never })],
    ['agentFrom "a"', () => agentFrom({ name: 'a', run: () => '', language: 'fr' as never })],
    [
      'parallelAgents "a"',
      () => parallelAgents({ name: 'a', agents: [agentFrom({ name: 'b', run: () => '' })], language: 'fr' as never }),
    ],
    ['exitLoopIn', () => exitLoopIn('fr' as never)],
  ])('is one that there are texts for: %s', (owner, make) => {
    expect(make).toThrowError(
      expect.objectContaining({ code: 'OPTION_INVALID', message: expect.stringContaining(owner) }),
    );
  });
});
