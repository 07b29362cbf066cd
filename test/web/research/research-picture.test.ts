/** What the screen of a research folds, and what follows from it. */
import { describe, expect, it } from 'vitest';
import type { RunEvent } from '../../../src/graph/events.js';
import type { TaskPlan } from '../../../src/research/plan/task-plan.js';
import type { ResearchEvent } from '../../../src/research/research-events.js';
import {
  changedTask,
  problemsAt,
  readArgs,
  takesArgs,
  textOfArgs,
  withoutTask,
  withTask,
} from '../../../web/research/plan/plan-edits.js';
import { sourcesOf } from '../../../web/research/report/cited.js';
import { foldShown, NOTHING_SHOWN, type ResearchShown } from '../../../web/research/research-picture.js';
import {
  againAddress,
  FIRST_SETTINGS,
  readSettings,
  requestOf,
  settingsOfRequest,
} from '../../../web/research/start/start-settings.js';
import { treeOf } from '../../../web/research/tree/tree-model.js';

const header = { run: 'r1', node: 'research_0', token: 2 };

/** What a research tells: events, pieces of its report, and `lost` for the loss of its process. */
type Told = readonly (ResearchEvent | string)[];

/** Events of a run that tells it. */
function logOf(...told: Told): readonly RunEvent[] {
  const begun = {
    run: 'r1',
    seq: 1,
    at: 1_000,
    type: 'run-started',
    resumed: false,
    input: { query: 'Q?', variables: { 'sys.research': { depth: 'deep' } } },
  };
  const others = told.map((one, at) => {
    const about = { ...header, seq: at + 2, at: 1_001 + at };
    if (one === 'lost') return { ...about, type: 'node-started', attempt: 1, retractFrom: 2 };
    const data = typeof one === 'string' ? { type: 'token', content: one, section: 1 } : one;
    return { ...about, type: 'node-notice', name: 'research', data };
  });
  return [begun, ...others] as unknown as readonly RunEvent[];
}

const shownOf = (...told: Told): ResearchShown => logOf(...told).reduce(foldShown, NOTHING_SHOWN);

const question = (id: string, parent?: string, depends_on: string[] = []): ResearchEvent => ({
  type: 'question',
  ...{ id, text: `${id}?`, depends_on, round: 1 },
  ...(parent !== undefined && { parent }),
});
const evidence = (id: string, of: string): ResearchEvent => ({
  type: 'evidence',
  question: of,
  items: [{ id, where: 'kb', source: id, text: `text of ${id}`, score: 1, question: of, at: 1 }],
});
const finding = (id: string, supported_by: string[], answer = 'yes'): ResearchEvent => ({
  type: 'finding',
  question: id,
  ...{ text: `${id}?`, answer, supported_by, confidence: 1, verdict: answer === '' ? 'unsupported' : 'supported' },
});
const task = (task_id: string) => ({
  task_id,
  description: task_id,
  tool: 'kb_search',
  args: {},
  priority: 1,
  depends_on: [],
  expects: '',
});
const plan = (...ids: string[]): TaskPlan => ({
  plan_id: 'p',
  question: 'Q?',
  question_type: 'factual',
  status: 'ready',
  clarifications: [],
  issues: [],
  tasks: ids.map(task),
});

describe('a research as its screen shows it', () => {
  it('begins with its question and what it was asked with', () => {
    expect(shownOf()).toMatchObject({ question: 'Q?', settings: { depth: 'deep' }, startedAt: 1_000, lastSeq: 1 });
  });

  it.each([
    [['One. ', 'Two.'], 'One. Two.'],
    [['One. ', { type: 'retract', reason: 'x' }, 'Two.'], 'Two.'],
    [['One. ', 'lost'], ''],
    [['One. ', 'lost', 'One. '], 'One. '],
  ] as [Told, string][])('has the report that counts: %j', (told, report) => {
    expect(shownOf(...told).report).toBe(report);
  });

  it('forgets what a lost process told, but for its question', () => {
    const shown = shownOf(question('q1'), evidence('e1', 'q1'), 'lost');
    expect(shown).toMatchObject({
      question: 'Q?',
      settings: { depth: 'deep' },
      picture: { questions: [], evidence: [] },
    });
    expect(shown.lastSeq).toBe(4);
  });

  it('is the same in one go and in pieces', () => {
    const log = logOf(question('q1'), evidence('e1', 'q1'), finding('q1', ['e1']), 'It is [1].');
    for (let cut = 0; cut <= log.length; cut += 1) {
      const before = log.slice(0, cut).reduce(foldShown, NOTHING_SHOWN);
      expect(log.slice(cut).reduce(foldShown, before)).toEqual(log.reduce(foldShown, NOTHING_SHOWN));
    }
  });

  it.each([
    [[], true],
    [[{ type: 'steered', action: 'approve' }], false],
    [[{ type: 'steered', action: 'enough' }], false],
    [[{ type: 'steered', action: 'add', question: 'x' }], true],
    [[{ type: 'task_started', task_id: 'a', tool: 'kb_search', status: 'running' }], false],
  ] as [ResearchEvent[], boolean][])('waits for an approval behind %j: %s', (told, isWaiting) => {
    expect(shownOf({ type: 'plan', plan: plan('a'), tools: [], waits: true }, ...told).isWaiting).toBe(isWaiting);
  });

  it('keeps tasks that were taken out of the plan, and not those that came back', () => {
    const first = { type: 'plan', plan: plan('a', 'b'), tools: [], waits: false } as const;
    const changed = (...ids: string[]) => ({ type: 'plan_changed', plan: plan(...ids), by: 'user' }) as const;
    expect(shownOf(first, changed('a')).dropped.map(({ task_id }) => task_id)).toEqual(['b']);
    expect(shownOf(first, changed('a'), changed('a', 'b')).dropped).toEqual([]);
  });
});

describe('the tree of a research', () => {
  const marks = (shown: ResearchShown): unknown => {
    const { tasks, questions } = treeOf(shown);
    const below = (all: typeof questions): unknown[] =>
      all.map(({ question: { id }, mark, children }) => [id, mark, ...below(children)]);
    return [...tasks.map((one) => [one.task.task_id, one.mark, ...below(one.children)]), ...below(questions)];
  };

  it.each([
    [
      'queued behind another',
      [question('q1'), question('q2', undefined, ['q1'])],
      [
        ['q1', 'searching'],
        ['q2', 'queued'],
      ],
    ],
    ['reading', [question('q1'), evidence('e', 'q1')], [['q1', 'reading']]],
    ['verified', [question('q1'), finding('q1', ['e'])], [['q1', 'verified']]],
    ['without an answer', [question('q1'), finding('q1', [], '')], [['q1', 'failed']]],
    ['dropped', [question('q1'), { type: 'steered', action: 'drop', question: 'q1' }], [['q1', 'dropped']]],
    [
      'below the one that they follow',
      [question('q1'), question('q2', 'q1')],
      [['q1', 'searching', ['q2', 'searching']]],
    ],
    ['with a parent that is not there', [question('q1', 'gone')], [['q1', 'searching']]],
  ] as [string, ResearchEvent[], unknown][])('has questions %s', (_, told, expected) => {
    expect(marks(shownOf(...told))).toEqual(expected);
  });

  it('has tasks with their questions, and those that were dropped behind them', () => {
    const first: ResearchEvent = { type: 'plan', plan: plan('a', 'b', 'c'), tools: [], waits: false };
    const started: ResearchEvent = { type: 'task_started', task_id: 'a', tool: 'kb_search', status: 'running' };
    const ended: ResearchEvent = { type: 'task_finished', task_id: 'a', status: 'failed', ms: 3, problem: 'why' };
    const changed: ResearchEvent = { type: 'plan_changed', plan: plan('a', 'b'), by: 'user' };
    const shown = shownOf(first, started, question('a/q1', 'a'), ended, changed);
    expect(marks(shown)).toEqual([
      ['a', 'failed', ['a/q1', 'searching']],
      ['b', 'queued'],
      ['c', 'dropped'],
    ]);
    expect(treeOf(shown).tasks[0]).toMatchObject({ ms: 3, problem: 'why' });
  });
});

describe('sources before the end', () => {
  const read = [question('q1'), evidence('e1', 'q1'), evidence('e2', 'q1'), finding('q1', ['e2'])] as const;

  it('are those that the report would have', () => {
    expect([...sourcesOf(shownOf(...read))].map(([n, { id }]) => [n, id])).toEqual([['1', 'e2']]);
  });

  it('are none where their numbers are not known yet', () => {
    const planned: ResearchEvent = { type: 'plan', plan: plan('a'), tools: [], waits: false };
    expect(sourcesOf(shownOf(planned, ...read)).size).toBe(0);
    expect(sourcesOf(shownOf(...read, { type: 'steered', action: 'exclude', source: 'x' })).size).toBe(0);
  });
});

describe('what a research is asked with', () => {
  it.each([
    [FIRST_SETTINGS],
    [
      {
        ...FIRST_SETTINGS,
        datasets: ['a', 'b'],
        depth: 'deep',
        web: true,
        model: 'm/x',
        budget: { tokens: 5, money: 0.5 },
      },
    ],
    [{ ...FIRST_SETTINGS, plan: true, approve: false, clarify: true, output: 'table', budget: { calls: 0 } }],
  ] as const)('is the same from its address: %j', (settings) => {
    const query = new URLSearchParams(againAddress('Why & how?', settings).split('?').slice(1).join('?'));
    expect(query.get('question')).toBe('Why & how?');
    expect(readSettings(query)).toEqual(settings);
  });

  it.each([
    [{ ...FIRST_SETTINGS, plan: true, approve: false, output: 'briefing' }],
    [{ ...FIRST_SETTINGS, plan: true, approve: true, clarify: false, datasets: ['a'] }],
  ] as const)('is the same from the request: %j', (settings) => {
    expect(settingsOfRequest(requestOf(settings))).toEqual(settings);
  });

  it('is read from requests of others, and what is none is passed over', () => {
    expect(settingsOfRequest({ approve: true })).toMatchObject({ plan: true, approve: true, clarify: true });
    expect(
      settingsOfRequest({ depth: 'endless', dataset_ids: [1, 'a'] as never, budget: { calls: 'x' } }),
    ).toMatchObject({
      ...{ depth: 'normal', datasets: ['a'], budget: {} },
    });
    expect(readSettings(new URLSearchParams('tokens=x&calls=-1&depth=no')).budget).toEqual({});
  });
});

describe('edits of a plan', () => {
  const tasks = [task('task_001'), { ...task('task_002'), depends_on: ['task_001'], args: { a: 1 } }];

  it('add a task with an id of its own, and remove one with what waits for it', () => {
    expect(withTask(tasks, 'web_search', new Set(['task_003'])).at(-1)).toMatchObject({
      task_id: 'task_004',
      tool: 'web_search',
    });
    expect(withoutTask(tasks, 'task_001')).toMatchObject([{ task_id: 'task_002', depends_on: [] }]);
  });

  it('drop the arguments with the tool that they were for', () => {
    expect(changedTask(tasks, 'task_002', { tool: 'calculator' })[1]?.args).toEqual({});
    expect(changedTask(tasks, 'task_002', { description: 'x' })[1]?.args).toEqual({ a: 1 });
  });

  it('tell which tasks have arguments, and read them with the place of what is no JSON', () => {
    expect([task('a'), { ...task('a'), args: { a: 1 } }, { ...task('a'), tool: 'calculator' }].map(takesArgs)).toEqual([
      ...[false, true, true],
    ]);
    expect([' \n', '{"a": [1]}', '[1]', '7', '{"__proto__": {}}', '{"a": 1,\n"b" 2}'].map(readArgs)).toEqual([
      ...[{ args: {} }, { args: { a: [1] } }, { problem: 'object' }, { problem: 'object' }, { problem: 'object' }],
      { problem: 'json', line: 2, column: 5 },
    ]);
    expect([{}, { a: 1 }].map(textOfArgs)).toEqual(['', '{\n  "a": 1\n}']);
  });

  it('have each problem beside its task', () => {
    const problems = [
      { path: 'tasks[1].tool', problem: 'a' },
      { path: 'tasks[0]', problem: 'b' },
      { path: 'tasks', problem: 'c' },
    ];
    expect(problemsAt(problems, 1)).toEqual([{ path: 'tool', problem: 'a' }]);
    expect(problemsAt(problems, 0)).toEqual([{ path: '', problem: 'b' }]);
    expect(problemsAt(problems, -1)).toEqual([{ path: 'tasks', problem: 'c' }]);
  });
});
