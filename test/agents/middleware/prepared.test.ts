import { describe, expect, it } from 'vitest';
import { agent } from '../../../src/agents/loop/agent.js';
import { agentsFile } from '../../../src/agents/middleware/agents-file.js';
import { approve } from '../../../src/agents/middleware/approve.js';
import { patchToolCalls } from '../../../src/agents/middleware/patch-tool-calls.js';
import { todos } from '../../../src/agents/middleware/todos.js';
import {
  assistantMessage,
  type ChatMessage,
  defineTool,
  invoke,
  toolMessage,
  userMessage,
} from '../../../src/index.js';
import { attempt, goOn, recordingModel, told } from './support.js';

const call = (id: string) => ({ id, name: 'look', arguments: '{}' });
const asked = (...ids: string[]) => assistantMessage('', { toolCalls: ids.map(call) });
const MISSING = 'tool: The call has no result: the work was stopped before it was done.';

describe('patchToolCalls', () => {
  it.each<[string, ChatMessage[], string[]]>([
    ['leaves what fits', [asked('a'), toolMessage('1', 'a')], ['assistant: ', 'tool: 1']],
    ['says that a call has no result', [asked('a', 'b'), toolMessage('2', 'b')], ['assistant: ', MISSING, 'tool: 2']],
    [
      'drops results without a call',
      [toolMessage('0', 'z'), asked('a'), toolMessage('1', 'a'), toolMessage('1', 'a')],
      ['assistant: ', 'tool: 1'],
    ],
    [
      'puts results behind their calls',
      [asked('a'), userMessage('hm'), toolMessage('1', 'a')],
      ['assistant: ', 'tool: 1', 'user: hm'],
    ],
    [
      'orders results as their calls',
      [asked('a', 'b'), toolMessage('2', 'b'), toolMessage('1', 'a')],
      ['assistant: ', 'tool: 1', 'tool: 2'],
    ],
    [
      'tells calls of one id apart',
      [asked('a'), toolMessage('1', 'a'), asked('a'), toolMessage('2', 'a')],
      ['assistant: ', 'tool: 1', 'assistant: ', 'tool: 2'],
    ],
    [
      'does not take a result from before the call',
      [asked('z'), toolMessage('0', 'a'), asked('a')],
      ['assistant: ', MISSING, 'assistant: ', MISSING],
    ],
    [
      'finds calls that stand in parts alone',
      [assistantMessage('', { parts: [{ type: 'tool-call', ...call('a') }] })],
      ['assistant: ', MISSING],
    ],
    [
      'counts results that stand in the message of a user',
      [asked('a'), userMessage([{ type: 'tool-result', toolCallId: 'a', content: '1' }])],
      ['assistant: ', 'user: [{"type":"tool-result","toolCallId":"a","content":"1"}]'],
    ],
  ])('%s', async (_, history, mended) => {
    const model = recordingModel('ok');
    await invoke(agent({ name: 'clerk', model, use: [patchToolCalls()] }), [...history, userMessage('go')]);
    expect(told(model.requests[0] as never)).toEqual([...mended, 'user: go']);
  });

  it('says it in Chinese', async () => {
    const model = recordingModel('ok');
    await invoke(agent({ name: 'clerk', model, use: [patchToolCalls({ language: 'zh' })] }), [
      asked('a'),
      userMessage('go'),
    ]);
    expect(told(model.requests[0] as never)[1]).toBe('tool: 该调用没有结果：工作在完成之前已停止。');
  });
});

/** The instructions of a request. */
const system = (model: ReturnType<typeof recordingModel>, round: number) => told(model.requests[round] as never)[0];

describe('todos', () => {
  const list = [
    { content: 'read', status: 'completed' },
    { content: 'write\n[x] all', status: 'in_progress' },
  ];

  it('keeps the list and shows it in the instructions of further rounds', async () => {
    const model = recordingModel([{ tool: 'write_todos', args: { todos: list } }], 'ok');
    await invoke(agent({ name: 'clerk', model, instructions: 'Work.', use: [todos()] }), 'go');
    expect(system(model, 0)).toMatch(/^system: Work\.\n\nFor work of three/);
    expect(system(model, 0)).not.toContain('Your list');
    expect(system(model, 1)).toMatch(/Your list of things to do:\n\[x\] read\n\[~\] write \[x\] all$/);
    expect(told(model.requests[1] as never).at(-1)).toBe(
      'tool: The list is kept; it has 2 entries. Go on with the work.',
    );
  });

  it('refuses a list that is none, and keeps the one before', async () => {
    const model = recordingModel(
      [{ tool: 'write_todos', args: { todos: list.slice(0, 1) } }],
      [{ tool: 'write_todos', args: { todos: [{ content: 'x', status: 'perhaps' }] } }],
      [{ tool: 'write_todos', args: { todos: list } }],
      'ok',
    );
    await invoke(agent({ name: 'clerk', model, use: [todos({ maxTodos: 1 })] }), 'go');
    expect(told(model.requests[2] as never).at(-1)).toContain('do not fit');
    expect(told(model.requests[3] as never).at(-1)).toContain('do not fit');
    expect(system(model, 3)).toMatch(/:\n\[x\] read$/);
  });

  it('survives a resume over JSON, in Chinese', async () => {
    const model = recordingModel([{ tool: 'write_todos', args: { todos: list } }], [{ tool: 'look' }], 'ok');
    const look = defineTool({ name: 'look', description: 'Looks.', run: () => 'seen' });
    const made = () =>
      agent({ name: 'clerk', model, tools: [look], use: [todos({ language: 'zh' }), approve(['look'])] });
    const waits = await attempt(made(), 'go');
    await goOn(made(), waits, { 'review#approve/c1': { approved: true } });
    expect(system(model, 2)).toMatch(/你的待办列表：\n\[x\] read/);
  });
});

describe('agentsFile', () => {
  it.each([
    ['at once', () => ' Be brief. '],
    ['later', async () => 'Be brief.'],
  ])('puts a text that comes %s behind the instructions, read once', async (_, text) => {
    let reads = 0;
    const read = () => {
      reads += 1;
      return text();
    };
    const model = recordingModel([{ tool: 'look' }], 'ok');
    const look = defineTool({ name: 'look', description: 'Looks.', run: () => 'seen' });
    await invoke(
      agent({ name: 'clerk', model, tools: [look], instructions: 'Work.', use: [agentsFile({ read })] }),
      'go',
    );
    expect(system(model, 1)).toBe(
      'system: Work.\n\nThe project has these rules for agents; keep to them:\n\nBe brief.',
    );
    expect(reads).toBe(1);
  });

  it.each([
    ['nothing where there is no file', () => undefined, 5, 'user: go'],
    [
      'the beginning of a long one',
      () => 'abc😀def',
      4,
      'system: 本项目对智能体有以下规则，请遵守：\n\nabc\n[文件其余部分已省略。]',
    ],
  ])('tells %s', async (_, read, maxCharacters, first) => {
    const model = recordingModel('ok');
    await invoke(agent({ name: 'clerk', model, use: [agentsFile({ read, maxCharacters, language: 'zh' })] }), 'go');
    expect(system(model, 0)).toBe(first);
  });

  it('fails with its reader, and refuses none', async () => {
    const broken = agentsFile({ read: () => Promise.reject(new Error('no disk')) });
    await expect(invoke(agent({ name: 'clerk', model: recordingModel('ok'), use: [broken] }), 'go')).rejects.toThrow();
    expect(() => agentsFile({} as never)).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }));
  });
});
