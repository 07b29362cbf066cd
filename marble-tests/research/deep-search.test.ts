import type { RunHelpers } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import { EngineError } from '../../src/errors.js';
import type { ChatDelta } from '../../src/models/chat-model.js';
import { Budget } from '../../src/research/calls/budget.js';
import { runDeepSearch } from '../../src/research/deep/deep-search.js';
import { DEPTHS } from '../../src/research/deep/depths.js';
import type { FoundEvidence } from '../../src/research/evidence/evidence-table.js';
import type { ResearchEvent } from '../../src/research/research-events.js';
import type { Steer } from '../../src/research/steer.js';
import { marbles } from '../support/scheduler.js';
import { ANSWERS, type CallInput, type Drawn, drawnWorld, PARTS } from './support/drawn-world.js';

interface DrawnSearch extends Drawn {
  readonly steps?: readonly object[];
}

const STEERS: Readonly<Record<string, Steer>> = {
  e: { action: 'enough' },
  d: { action: 'drop', question: 'c' },
  g: { action: 'answer', question: 'a', answer: 'Ann' },
  n: { action: 'add', question: 'How many lamps has it?' },
};

/** A research in virtual time. */
function timeline(helpers: RunHelpers, now: () => number, drawn: DrawnSearch): string[] {
  const answerTo = (name: string, input: CallInput): object | string => {
    switch (name) {
      case 'research_decompose':
        return { question_type: 'factual', sub_questions: drawn.steps ?? PARTS };
      case 'research_read':
        return { answer: ANSWERS[input.question] ?? '', supported_by: ['a', 'b', 'c'], confidence: 1 };
      case 'research_validate':
        return { sufficient: true, missing: [], contradictions: [] };
      case 'research_verify':
        return { verdict: 'supported', evidence: [] };
      case 'write':
        return 'Ann built it [1].';
      default:
        return { questions: [] };
    }
  };
  const { ports, places } = drawnWorld(helpers, drawn, { steers: STEERS, answerTo, now });
  const lines: string[] = [];
  const told$ = runDeepSearch(
    { question: 'Where was the builder born?', depth: { ...DEPTHS.normal, looks: 1 } },
    { ...ports, places },
  );
  told$.subscribe({
    next: (event) => {
      const label = labelOf(event);
      if (label !== '') lines.push(`${now()} ${label}`);
    },
    complete: () => lines.push(`${now()} |`),
  });
  helpers.flush();
  return lines;
}

function labelOf(event: ResearchEvent): string {
  switch (event.type) {
    case 'question':
      return `? ${event.id}`;
    case 'finding':
      return `${event.question}=${event.answer}`;
    case 'gap':
      return event.action;
    case 'steered':
      return event.action;
    case 'final':
      return `final ${event.outcome}`;
    default:
      return '';
  }
}

describe('runDeepSearch', () => {
  it('works off what is independent side by side, and what waits for an answer behind it', () =>
    marbles((helpers, now) => {
      // Decomposed at 10 ms; a search, a reading and a verification take 25.
      expect(timeline(helpers, now, {})).toEqual([
        '10 ? a',
        '10 ? b',
        '10 ? c',
        '35 a=Ann',
        '35 c=nine lamps',
        '60 b=Oslo',
        '70 answer',
        '80 final answer',
        '80 |',
      ]);
    }));

  it('drops a question at work, whose calls end', () =>
    marbles((helpers, now) => {
      expect(timeline(helpers, now, { steers: `${'-'.repeat(20)}d` })).toEqual([
        '10 ? a',
        '10 ? b',
        '10 ? c',
        '20 drop',
        '35 a=Ann',
        '60 b=Oslo',
        '70 answer',
        '80 final answer',
        '80 |',
      ]);
    }));

  it('takes an answer of a person at once, for what waits for it', () =>
    marbles((helpers, now) => {
      const lines = timeline(helpers, now, { steers: `${'-'.repeat(20)}g` });
      expect(lines.slice(3, 7)).toEqual(['20 answer', '20 a=Ann', '35 c=nine lamps', '45 b=Oslo']);
      expect(lines.at(-2)).toBe('65 final answer');
    }));

  it('works off a question that is added beside the others', () =>
    marbles((helpers, now) => {
      const lines = timeline(helpers, now, { steps: PARTS.slice(0, 2), steers: `${'-'.repeat(20)}n` });
      expect(lines).toContain('45 u1=nine lamps');
      expect(lines.at(-2)).toBe('80 final answer');
    }));

  it('searches no more when it is enough, and writes', () =>
    marbles((helpers, now) => {
      const lines = timeline(helpers, now, { steers: `${'-'.repeat(40)}e` });
      expect(lines.slice(5)).toEqual(['40 enough', '40 answer_with_caveat', '50 final answer_with_caveat', '50 |']);
    }));

  it('ends within its time: nine tenths of it are for the search', () =>
    marbles((helpers, now) => {
      const lines = timeline(helpers, now, { limits: { ms: 50 } });
      expect(lines.slice(5)).toEqual(['45 answer_with_caveat', '55 final answer_with_caveat', '55 |']);
    }));

  it('needs no model: a budget of nothing gives a report by rules', () =>
    marbles((helpers, now) => {
      const lines = timeline(helpers, now, { limits: { calls: 0 } });
      // The question itself, then as its own only part.
      expect(lines.at(-2)).toBe('10 final unanswerable');
    }));

  it('tries calls that fail again, later each time', () =>
    marbles((helpers, now) => {
      let failures = 2;
      const failed = new EngineError('MODEL_UNAVAILABLE', 'busy', { retryable: true });
      const decompose = () => {
        failures -= 1;
        return failures >= 0
          ? helpers.cold<never>('#', undefined, failed)
          : { question_type: 'factual', sub_questions: PARTS.slice(0, 1) };
      };
      // 250 and 500 ms between the attempts.
      const lines = timeline(helpers, now, { answers: { research_decompose: decompose } });
      expect(lines[0]).toBe('760 ? a');
    }));

  it('ends everything when it is unsubscribed', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }, now) => {
      const answer$ = cold<ChatDelta>('-');
      const search$ = cold<readonly FoundEvidence[]>('-');
      const ports = {
        asking: {
          model: { model: { chat: () => answer$ }, name: 'm' },
          budget: new Budget({}),
          journal: { find: () => undefined, keep: () => {} },
        },
        places: [{ where: 'kb' as const, find: () => search$ }],
        now,
      };
      expectObservable(runDeepSearch({ question: 'Who?', depth: DEPTHS.quick }, ports), '^---!').toBe('----');
      expectSubscriptions(answer$.subscriptions).toBe('^---!');
      expectSubscriptions(search$.subscriptions).toBe('^---!');
    }));
});
