import type { RunHelpers } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import { EngineError } from '../../src/errors.js';
import type { ChatDelta, ChatModel } from '../../src/models/chat-model.js';
import { Budget } from '../../src/research/calls/budget.js';
import type { ResearchPlace } from '../../src/research/deep/deep-ports.js';
import { DEPTHS } from '../../src/research/deep/depths.js';
import { type PlannedRequest, runPlannedResearch } from '../../src/research/plan/plan-research.js';
import type { ResearchEvent, ResearchFinal } from '../../src/research/research-events.js';
import type { Steer } from '../../src/research/steer.js';
import { marbles } from '../support/scheduler.js';
import { ANSWERS, type CallInput, type Drawn, drawnWorld, PARTS } from './support/drawn-world.js';

interface DrawnPlan extends Drawn {
  readonly request?: Partial<PlannedRequest>;
}

const STEERS: Readonly<Record<string, Steer>> = {
  y: { action: 'approve' },
  e: { action: 'enough' },
  d: { action: 'drop', question: 'task_003' },
  g: { action: 'answer', question: 'task_001', answer: 'Ann' },
  n: { action: 'add', question: 'How many lamps has it?' },
  q: { action: 'clarify', answers: { c1: 'the tower' } },
};

/** What a model answers. */
function answerTo(name: string, input: CallInput): object | string {
  switch (name) {
    case 'research_clarify':
      return { needs_clarification: true, questions: ['Which one?'] };
    case 'research_decompose':
      return { question_type: 'relational', sub_questions: PARTS };
    case 'research_read':
      return { answer: ANSWERS[input.question] ?? '', supported_by: ['a', 'b', 'c'], confidence: 1 };
    case 'research_validate':
      return { sufficient: true, missing: [], contradictions: [] };
    case 'research_verify':
      return { verdict: 'supported', evidence: [] };
    case 'research_followups':
      return { questions: [] };
    case 'plan_review':
      return { status: 'ready', issues: [] };
    case 'report_outline':
      return {
        sections: [{ title: 'Where the builder was born', findings: ['task_001/q1', 'task_002/q1', 'task_003/q1'] }],
      };
    case 'report_check':
      return { problems: [] };
    default:
      return 'Ann built it [1].';
  }
}

/** A research in virtual time. */
function timeline(helpers: RunHelpers, now: () => number, drawn: DrawnPlan) {
  const { ports, places, asked } = drawnWorld(helpers, drawn, { steers: STEERS, answerTo, now });
  const request: PlannedRequest = {
    question: 'Where was the builder born?',
    depth: { ...DEPTHS.normal, looks: 1 },
    clarifies: false,
    waits: false,
    form: 'answer',
    ...drawn.request,
  };
  const lines: string[] = [];
  const events: ResearchEvent[] = [];
  let final: ResearchFinal | undefined;
  runPlannedResearch(request, { ...ports, tools: new Map([['kb_search', places]]) }).subscribe({
    next: (event) => {
      events.push(event);
      if (event.type === 'final') final = event;
      const label = labelOf(event);
      if (label !== '') lines.push(`${now()} ${label}`);
    },
    complete: () => lines.push(`${now()} |`),
  });
  helpers.flush();
  return { lines, events, asked, final };
}

function labelOf(event: ResearchEvent): string {
  switch (event.type) {
    case 'clarify':
      return event.form.questions.map(({ id, question }) => `${id} ${question}`).join();
    case 'plan':
      return `plan ${event.plan.tasks.length}${event.waits ? ' waits' : ''}`;
    case 'plan_changed':
      return `changed by ${event.by}: ${event.plan.tasks.map(({ task_id }) => task_id.slice(-1)).join()}`;
    case 'task_started':
      return `${event.task_id.slice(-1)}>`;
    case 'task_finished':
      return `${event.task_id.slice(-1)} ${event.status}`;
    case 'finding':
      return `${event.question.slice(5)}=${event.answer}`;
    case 'gap':
      return event.action;
    case 'final':
      return `final ${event.outcome}`;
    default:
      return '';
  }
}

const WORKED = [
  '20 plan 3',
  '20 1>',
  '20 3>',
  '50 001/q1=Ann',
  '50 1 done',
  '50 2>',
  '50 003/q1=nine lamps',
  '50 3 done',
  '80 002/q1=Oslo',
  '80 2 done',
  '90 answer',
];

describe('runPlannedResearch', () => {
  it('plans, works tasks off by their dependencies, weighs what was found, and writes', () =>
    marbles((helpers, now) => {
      const { lines, final } = timeline(helpers, now, {});
      expect(lines).toEqual([...WORKED, '110 final answer', '110 |']);
      expect(final?.sources.map(({ id }) => id)).toEqual(['a']);
    }));

  it('asks what the question means, and goes on with the answer', () =>
    marbles((helpers, now) => {
      const known: unknown[] = [];
      const answers = {
        research_decompose: (input: CallInput) => {
          known.push(input.known);
          return { question_type: 'factual', sub_questions: PARTS };
        },
      };
      const { lines } = timeline(helpers, now, { request: { clarifies: true }, steers: '------------q', answers });
      expect(lines.slice(0, 2)).toEqual(['10 c1 Which one?', '32 plan 3']);
      expect(known).toEqual([['Which one? the tower']]);
    }));

  it('takes the question as it is when nothing is said for ten minutes', () =>
    marbles((helpers, now) => {
      const { lines } = timeline(helpers, now, { request: { clarifies: true } });
      expect(lines.slice(0, 2)).toEqual(['10 c1 Which one?', '600030 plan 3']);
    }));

  const WITH_DEFAULTS = {
    research_clarify: () => ({
      needs_clarification: true,
      questions: [
        { question: 'Which one?', default: 'the old one', options: ['the old one', 'the new one', 'the new one'] },
        { question: 'Since when?', default: '1900' },
        'For whom?',
      ],
    }),
  };

  it('shows the defaults of its questions, and takes them for what is not answered', () =>
    marbles((helpers, now) => {
      const drawn = { request: { clarifies: true }, answers: WITH_DEFAULTS, steers: '------------q' };
      const { events, final } = timeline(helpers, now, drawn);
      expect(events.find(({ type }) => type === 'clarify')).toEqual({
        type: 'clarify',
        form: {
          questions: [
            { id: 'c1', question: 'Which one?', default: 'the old one', options: ['the old one', 'the new one'] },
            { id: 'c2', question: 'Since when?', default: '1900' },
            { id: 'c3', question: 'For whom?', default: '' },
          ],
        },
      });
      expect(events.find(({ type }) => type === 'plan')).toMatchObject({
        plan: { clarifications: ['Which one? the tower', 'Since when? 1900 (assumed)'] },
      });
      expect(final?.report).toContain('This was assumed, as it was not answered:\n\n- Since when? 1900');
      expect(final?.report).not.toContain('- Which one?');
    }));

  it('takes all defaults when nothing is said for ten minutes', () =>
    marbles((helpers, now) => {
      const { events, lines } = timeline(helpers, now, { request: { clarifies: true }, answers: WITH_DEFAULTS });
      expect(lines[1]).toBe('600030 plan 3');
      expect(events.find(({ type }) => type === 'plan')).toMatchObject({
        plan: { clarifications: ['Which one? the old one (assumed)', 'Since when? 1900 (assumed)'] },
      });
    }));

  it('begins nothing before its plan is approved', () =>
    marbles((helpers, now) => {
      const { lines } = timeline(helpers, now, { request: { waits: true }, steers: '------------------------------y' });
      expect(lines.slice(0, 3)).toEqual(['20 plan 3 waits', '30 1>', '30 3>']);
    }));

  it('carries nothing out, and reports, when no one approves for half an hour', () =>
    marbles((helpers, now) => {
      const { lines, asked } = timeline(helpers, now, { request: { waits: true } });
      expect(lines).toEqual([
        '20 plan 3 waits',
        '1800020 1 skipped',
        '1800020 2 skipped',
        '1800020 3 skipped',
        '1800020 unanswerable',
        '1800020 final unanswerable',
        '1800020 |',
      ]);
      expect(asked).toEqual(['research_decompose', 'plan_review']);
    }));

  it('takes changes that came before there was a plan, and answers in place of tasks', () =>
    marbles((helpers, now) => {
      const { lines, final } = timeline(helpers, now, { steers: 'd----g' });
      expect(lines).toEqual([
        '20 plan 3',
        '20 changed by user: 1,2',
        '20 001=Ann',
        '20 1 done',
        '20 2>',
        '50 002/q1=Oslo',
        '50 2 done',
        '60 answer',
        '70 final answer',
        '70 |',
      ]);
      expect(final?.outcome).toBe('answer');
    }));

  it('adds tasks for what is missing, twice at most', () =>
    marbles((helpers, now) => {
      let asked = 0;
      const answers = {
        research_validate: () => ({ sufficient: false, missing: ['more'], contradictions: [] }),
        research_followups: () => {
          asked += 1;
          return { questions: [`How many lamps has tower ${asked}?`] };
        },
      };
      const { lines } = timeline(helpers, now, { answers });
      const changes = lines.filter((line) => line.includes('changed')).map((line) => line.replace(/^\d+ /, ''));
      expect(changes).toEqual(['changed by planner: 1,2,3,4', 'changed by planner: 1,2,3,4,5']);
      expect(lines.at(-2)).toContain('final answer_with_caveat');
    }));

  it('ends what is at work when a person says enough, and reports what is known', () =>
    marbles((helpers, now) => {
      const { lines, final } = timeline(helpers, now, {
        steers: '-------------------------------------------------------e',
      });
      expect(lines.slice(8)).toEqual(['55 2 skipped', '55 answer_with_caveat', '65 final answer_with_caveat', '65 |']);
      expect(final?.unanswered.map(({ question }) => question)).toContain('Where was {task_001} born?');
    }));

  it('ends by itself when its time is over, and waiting for people takes none of it', () =>
    marbles((helpers, now) => {
      const { lines } = timeline(helpers, now, {
        request: { waits: true },
        steers: '100ms y',
        limits: { ms: 60 },
      });
      expect(lines).toEqual([
        '20 plan 3 waits',
        '100 1>',
        '100 3>',
        '130 001/q1=Ann',
        '130 1 done',
        '130 2>',
        '130 003/q1=nine lamps',
        '130 3 done',
        '134 2 skipped',
        '134 answer_with_caveat',
        '144 final answer_with_caveat',
        '144 |',
      ]);
    }));

  it.each<[string, Drawn]>([
    ['with a budget of nothing', { limits: { calls: 0 } }],
    ['with no time', { limits: { ms: 0 } }],
    [
      'whose places all fail',
      {
        places: [
          {
            where: 'kb',
            find: () => {
              throw new EngineError('TOOL_FAILED', 'broken');
            },
          },
        ],
      },
    ],
    ['without a place', { places: [] }],
  ])('%s ends with a report', (_, drawn) =>
    marbles((helpers, now) => {
      const { lines, final } = timeline(helpers, now, drawn);
      expect(lines.at(-1)).toMatch(/\|$/);
      expect(final?.report).not.toBe('');
    }),
  );

  it('whose model fails at everything quotes what it found', () =>
    marbles((helpers, now) => {
      const failing: ChatModel = {
        chat: () => helpers.cold('-#', undefined, new EngineError('MODEL_UNAVAILABLE', 'gone')),
      };
      const names = ['research_decompose', 'plan_review', 'research_read', 'research_validate', 'write'];
      const answers = Object.fromEntries(names.map((name) => [name, () => failing.chat({ model: '', messages: [] })]));
      const { final } = timeline(helpers, now, { answers, request: { question: 'Was Ann born in Oslo?' } });
      expect(final?.report).toContain('Ann was born in Oslo [');
    }));

  it('writes a section again whose sentences no source supports, and marks what stays', () =>
    marbles((helpers, now) => {
      let drafts = 0;
      const answers = {
        write: () => {
          drafts += 1;
          return drafts === 1 ? 'Ann built 77 of them [1]. Bob helped [1].' : 'Ann built it [1]. Bob helped [1].';
        },
      };
      const { final } = timeline(helpers, now, { answers });
      expect(drafts).toBe(2);
      expect(final).toMatchObject({
        report: 'Ann built it [1]. Bob helped [1] (not supported by the sources).',
        unsupported: 1,
      });
    }));

  it('ends everything at work when it is unsubscribed', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }, now) => {
      const silent$ = cold<ChatDelta>('-');
      const ports = {
        asking: {
          model: { model: { chat: () => silent$ }, name: 'm' },
          budget: new Budget({}),
          journal: { find: () => undefined, keep: () => {} },
        },
        tools: new Map<string, readonly ResearchPlace[]>([['kb_search', []]]),
        now,
      };
      const request = {
        question: 'Who?',
        depth: DEPTHS.quick,
        clarifies: false,
        waits: false,
        form: 'answer',
      } as const;
      expectObservable(runPlannedResearch(request, ports), '^---!').toBe('----');
      expectSubscriptions(silent$.subscriptions).toBe('^---!');
    }));
});
