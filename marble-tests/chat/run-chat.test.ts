import { map, type Observable, of } from 'rxjs';
import type { RunHelpers } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import type { ChatEvent, Evidence } from '../../src/chat/pipeline/chat-events.js';
import type { AnswerPart, ChatStages, ChatTurn } from '../../src/chat/pipeline/chat-ports.js';
import { runChat } from '../../src/chat/pipeline/run-chat.js';
import type { StageResult } from '../../src/chat/stages/stage-result.js';
import { EngineError } from '../../src/errors.js';
import { marbles } from '../support/scheduler.js';

type Stages = ChatStages<string, string, string, string, { readonly mode: string }>;

const TURN: ChatTurn = {
  message: 'What is a checkpoint?',
  sessionId: 's',
  runId: 'r',
  traceId: 't',
};
const PASSAGE: Evidence = { n: 1, id: 'p', type: 'kb', source: 'a.md', text: 'A checkpoint is a snapshot.' };

/** The sources of one chat, each drawn as marbles; what is not drawn answers after 10 ms. */
interface Drawn {
  readonly memory?: string;
  readonly rewrite?: string;
  readonly intents?: string;
  readonly early?: string;
  /** `e` finds a passage, `n` nothing. */
  readonly search?: string;
  /** `t` a token, `r` a retract, `k` a thought, `d` the end. */
  readonly answer?: string;
}

const PARTS: Readonly<Record<string, AnswerPart>> = {
  t: { type: 'token', content: 'A snapshot [1].' },
  x: { type: 'token', content: ' See [7].' },
  r: { type: 'retract', reason: 'cut' },
  k: { type: 'thinking', content: 'hm' },
  d: { type: 'done', model: 'm', usage: { tokens: 3 }, detail: { attempts: 1 } },
};

/** A chat over drawn sources. `intents` of `guide` and `direct` short-circuit. */
function drawn({ cold }: RunHelpers, marble: Drawn, changes: Partial<Stages> = {}) {
  const results = (text = '----------(v|)', status?: 'cache_hit') =>
    cold(text, { v: { value: 'found', detail: {}, ...(status && { status }) } as StageResult<string> });
  const sources = {
    memory: results(marble.memory),
    rewrite: results(marble.rewrite),
    intents: cold(marble.intents ?? '----------(k|)', {
      k: { value: 'kb', detail: {} },
      g: { value: 'guide', detail: {} },
      s: { value: 'direct', detail: {} },
    } as Readonly<Record<string, StageResult<string>>>),
    early: cold(marble.early ?? '----------(v|)'),
    search: cold(marble.search ?? '----------(e|)', {
      e: { value: [PASSAGE], detail: {} },
      n: { value: [], detail: {} },
    } as Readonly<Record<string, StageResult<readonly Evidence[]>>>),
    answer: cold(marble.answer ?? '-t(d|)', PARTS),
  };
  const stages: Stages = {
    loadMemory: () => sources.memory,
    noMemory: '',
    rewrite: () => sources.rewrite,
    rewriteByRules: () => ({ value: 'as it is', detail: {} }),
    parseIntents: () => sources.intents,
    intentsByRules: () => ({ value: 'kb', detail: {} }),
    guide: (intents) => ({
      detail: {},
      ...(intents === 'guide' && { answer: { text: 'Which one?', reason: 'unclear' } }),
    }),
    answerDirectly: (intents) => ({
      detail: {},
      ...(intents === 'direct' && { answer: { text: 'Hello!', reason: 'greeting' } }),
    }),
    searchEarly: () => sources.early,
    retrieve: (_, early$) => early$.pipe(map(() => ({ value: [PASSAGE], detail: {} }))),
    emptyAnswer: () => ({ text: 'Nothing is known.', reason: 'nothing found' }),
    assemble: () => ({ value: { mode: 'KB' }, detail: {} }),
    answer: () => sources.answer,
    ...changes,
  };
  return { sources, stages };
}

/** An event in a few letters: `2>` begins, `2 ok` ends. */
function labelOf(event: ChatEvent): string {
  switch (event.type) {
    case 'stage_start':
      return `${event.stage}>`;
    case 'stage_end':
      return `${event.stage} ${event.status}${event.over_budget ? ' late' : ''}`;
    case 'shortcut':
      return `${event.kind} cancels ${event.cancelled.join() || 'none'}`;
    case 'token':
      return event.content;
    case 'error':
      return `error ${event.code}`;
    case 'final':
      return `final "${event.response}"`;
    default:
      return event.type;
  }
}

/** What a chat tells, as lines of `time label`. */
function timeline(told$: Observable<ChatEvent>, { flush }: RunHelpers, now: () => number): string[] {
  const lines: string[] = [];
  told$.subscribe({
    next: (event) => lines.push(`${now()} ${labelOf(event)}`),
    error: (error) => lines.push(`${now()} fails with ${error}`),
    complete: () => lines.push(`${now()} |`),
  });
  flush();
  return lines;
}

describe('runChat', () => {
  it('runs stage 1, then 2 and 3 beside the early search, which stage 6 takes over', () =>
    marbles((helpers, now) => {
      const { stages, sources } = drawn(helpers, { early: '------------------------------(v|)' });
      expect(timeline(runChat(TURN, stages, { now }), helpers, now)).toEqual([
        '0 session',
        '0 1>',
        '10 1 ok',
        '10 3>',
        '10 2>',
        '20 3 ok',
        '20 4>',
        '20 4 ok',
        '20 5>',
        '20 5 ok',
        '20 2 ok',
        '20 6>',
        '40 6 ok',
        '40 evidence',
        '40 7>',
        '40 7 ok',
        '40 8>',
        '41 first_token',
        '41 A snapshot [1].',
        '42 8 ok',
        '42 final "A snapshot [1]."',
        '42 |',
      ]);
      helpers.expectSubscriptions(sources.early.subscriptions).toBe('10ms ^ 29ms !');
    }));

  it('asks back and ends the rewrite and the early search when the decision falls (A)', () =>
    marbles((helpers, now) => {
      const { stages, sources } = drawn(helpers, { rewrite: '2s (v|)', intents: '5ms (g|)', early: '2s (v|)' });
      expect(timeline(runChat(TURN, stages, { now }), helpers, now)).toEqual([
        '0 session',
        '0 1>',
        '10 1 ok',
        '10 3>',
        '10 2>',
        '15 3 ok',
        '15 4>',
        '15 4 ok',
        '15 A cancels 2',
        '15 2 cancelled',
        '15 5 skipped',
        '15 6 skipped',
        '15 7 skipped',
        '15 8>',
        '15 first_token',
        '15 Which one?',
        '15 8 ok',
        '15 final "Which one?"',
        '15 |',
      ]);
      helpers.expectSubscriptions(sources.rewrite.subscriptions).toBe('10ms ^ 4ms !');
      helpers.expectSubscriptions(sources.early.subscriptions).toBe('10ms ^ 4ms !');
      helpers.expectSubscriptions(sources.answer.subscriptions).toBe([]);
    }));

  it('begins neither rewrite nor search when a rule answers at once (B)', () =>
    marbles((helpers, now) => {
      const rule = { parseIntents: () => of<StageResult<string>>({ value: 'direct', detail: {} }) };
      const { stages, sources } = drawn(helpers, {}, rule);
      const lines = timeline(runChat(TURN, stages, { now }), helpers, now);
      expect(lines).toContain('10 B cancels none');
      expect(lines).toContain('10 2 skipped');
      expect(lines.at(-2)).toBe('10 final "Hello!"');
      helpers.expectSubscriptions(sources.rewrite.subscriptions).toBe([]);
      helpers.expectSubscriptions(sources.early.subscriptions).toBe([]);
    }));

  it('says that nothing was found, without a model (C)', () =>
    marbles((helpers, now) => {
      const { stages, sources } = drawn(helpers, { search: '5ms (n|)' });
      const chat$ = runChat(TURN, { ...stages, retrieve: () => sources.search }, { now });
      expect(timeline(chat$, helpers, now).slice(-9)).toEqual([
        '25 6 ok',
        '25 C cancels none',
        '25 7 skipped',
        '25 8>',
        '25 first_token',
        '25 Nothing is known.',
        '25 8 ok',
        '25 final "Nothing is known."',
        '25 |',
      ]);
      helpers.expectSubscriptions(sources.answer.subscriptions).toBe([]);
    }));

  it('ends the early search when stage 6 does not take it', () =>
    marbles((helpers, now) => {
      const { stages, sources } = drawn(helpers, { early: '1s (v|)' });
      timeline(runChat(TURN, { ...stages, retrieve: () => sources.search }, { now }), helpers, now);
      helpers.expectSubscriptions(sources.early.subscriptions).toBe('10ms ^ 9ms !');
    }));

  it('goes on with fallbacks when memory, rewrite and intents are late, each ended at its limit', () =>
    marbles((helpers, now) => {
      const late = '10s (v|)';
      const { stages, sources } = drawn(helpers, { memory: late, rewrite: late, intents: '10s (k|)' });
      const lines = timeline(runChat(TURN, stages, { now }), helpers, now);
      expect(lines).toEqual(
        expect.arrayContaining(['500 1 degraded late', '2500 3 degraded late', '3500 2 degraded late', '3500 6>']),
      );
      helpers.expectSubscriptions(sources.memory.subscriptions).toBe('^ 499ms !');
      helpers.expectSubscriptions(sources.intents.subscriptions).toBe('500ms ^ 1999ms !');
      helpers.expectSubscriptions(sources.rewrite.subscriptions).toBe('500ms ^ 2999ms !');
    }));

  it('goes on with fallbacks when stages and the early search fail', () =>
    marbles((helpers, now) => {
      const { stages } = drawn(helpers, { memory: '5ms #', rewrite: '#', intents: '--#', early: '#' });
      const lines = timeline(runChat(TURN, stages, { now }), helpers, now);
      expect(lines).toEqual(expect.arrayContaining(['5 1 degraded', '5 2 degraded', '7 3 degraded', '7 6 degraded']));
      expect(lines.at(-2)).toBe('7 final "Nothing is known."');
    }));

  it('tells what was retracted, counts the tokens behind it alone, and removes marks without evidence', () =>
    marbles((helpers, now) => {
      const { stages } = drawn(helpers, { answer: 'ktrtx(d|)' });
      const seen: ChatEvent[] = [];
      runChat(TURN, stages, { now }).subscribe((event) => seen.push(event));
      helpers.flush();
      expect(seen.slice(-8).map(labelOf)).toEqual([
        'thinking',
        'first_token',
        'A snapshot [1].',
        'retract',
        'A snapshot [1].',
        ' See .',
        '8 ok',
        'final "A snapshot [1]. See ."',
      ]);
      expect(seen.at(-1)).toMatchObject({
        citations: [{ n: 1, at: 11, supported: true }],
        removed_citations: 1,
        model: 'm',
        usage: { tokens: 3 },
        mode: 'KB',
        shortcut: null,
      });
    }));

  it('ends with one error when the answer fails, every stage ended once', () =>
    marbles((helpers, now) => {
      const broken = helpers.cold('t--#', PARTS, new EngineError('MODEL_UNAVAILABLE', 'No model answers.'));
      const { stages } = drawn(helpers, {}, { answer: () => broken });
      const lines = timeline(runChat(TURN, stages, { now }), helpers, now);
      expect(lines.slice(-3)).toEqual(['23 8 failed', '23 error MODEL_UNAVAILABLE', '23 |']);
      const ends = lines.flatMap((line) => /^\d+ (\d) /.exec(line)?.[1] ?? []);
      expect(ends.toSorted()).toEqual(['1', '2', '3', '4', '5', '6', '7', '8']);
    }));

  it('ends everything at its deadline with one error', () =>
    marbles((helpers, now) => {
      const { stages, sources } = drawn(helpers, { rewrite: '2s (v|)', early: '2s (v|)' });
      const lines = timeline(runChat({ ...TURN, deadlineMs: 100 }, stages, { now }), helpers, now);
      expect(lines.slice(-6)).toEqual([
        '100 2 failed',
        '100 6 skipped',
        '100 7 skipped',
        '100 8 skipped',
        '100 error RUN_TIMEOUT',
        '100 |',
      ]);
      helpers.expectSubscriptions(sources.rewrite.subscriptions).toBe('10ms ^ 89ms !');
      helpers.expectSubscriptions(sources.early.subscriptions).toBe('10ms ^ 89ms !');
    }));

  it.each([
    [60, '40 error RUN_TIMEOUT'],
    [5_000, '0 error RUN_TIMEOUT'],
  ])('has what is left of its deadline when a process before has used %i ms of 100', (spentMs, last) =>
    marbles((helpers, now) => {
      const { stages } = drawn(helpers, { rewrite: '2s (v|)', early: '2s (v|)' });
      const lines = timeline(runChat({ ...TURN, deadlineMs: 100, spentMs }, stages, { now }), helpers, now);
      expect(lines.at(-2)).toBe(last);
    }),
  );

  it('ends everything when it is unsubscribed', () =>
    marbles((helpers, now) => {
      const { stages, sources } = drawn(helpers, { rewrite: '2s (v|)', early: '2s (v|)' });
      helpers.expectObservable(runChat(TURN, stages, { now }).pipe(map(labelOf)), '30ms !');
      helpers.expectSubscriptions(sources.rewrite.subscriptions).toBe('10ms ^ 19ms !');
      helpers.expectSubscriptions(sources.early.subscriptions).toBe('10ms ^ 19ms !');
    }));

  it('tells what came from a cache without time', () =>
    marbles((helpers, now) => {
      const cached = helpers.cold('----------(v|)', {
        v: { value: 'found', detail: {}, status: 'cache_hit' } as StageResult<string>,
      });
      const { stages } = drawn(helpers, {}, { rewrite: () => cached });
      const seen: ChatEvent[] = [];
      runChat(TURN, stages, { now }).subscribe((event) => seen.push(event));
      helpers.flush();
      expect(seen).toContainEqual({
        type: 'stage_end',
        stage: 2,
        name: 'Query Rewrite',
        ms: 0,
        status: 'cache_hit',
        detail: {},
      });
    }));
});
