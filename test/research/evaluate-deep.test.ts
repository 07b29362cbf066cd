import { defer, map, Observable, of, throwError } from 'rxjs';
import { beforeAll, describe, expect, it } from 'vitest';
import { EngineError } from '../../src/errors.js';
import { DEFAULT_SETTINGS } from '../../src/knowledge/search/search-settings.js';
import type { ChatDelta, ChatModel } from '../../src/models/chat-model.js';
import { DEPTHS } from '../../src/research/deep/depths.js';
import { type DeepResult, evaluateDeep } from '../../src/research/evaluation/evaluate-deep.js';
import { UNSUPPORTED_MARK } from '../../src/research/evidence/check-report.js';
import { createRandom } from '../support/random.js';
import { openWorld, SCRIPTS } from './support/world.js';

const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000_000);

let world: Awaited<ReturnType<typeof openWorld>>;
let clean: DeepResult;

beforeAll(async () => {
  world = await openWorld();
  clean = await researched(world.planner);
}, 120_000);

function researched(model: ChatModel | undefined, isPlanned = false): Promise<DeepResult> {
  const asked = model && { model, name: 'planner' };
  const how = { depth: DEPTHS.normal, settings: DEFAULT_SETTINGS, retryMs: 1, isPlanned };
  return evaluateDeep(world.indexed, { ...how, model: asked });
}

const mean = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0) / values.length;

describe('a research with the true steps', () => {
  it('finds the passage of each step, and answers', () => {
    expect(clean.means['perfect@8']).toBe(1);
    expect(clean.means['perfect@5']).toBe(1);
    expect(mean(clean.answers.flatMap(({ exact }) => exact ?? []))).toBeGreaterThanOrEqual(0.97);
  });

  it('refuses what the corpus does not say, and nothing else', () => {
    const refused = clean.answers.filter(({ isRefused }) => isRefused);
    expect(refused.map(({ id }) => id)).toEqual(clean.answers.slice(40).map(({ id }) => id));
  });

  it('stays within twelve calls and twelve thousand tokens of prompts', () => {
    const several = clean.answers.filter((_, at) => (SCRIPTS[at]?.steps.length ?? 0) > 1);
    expect(mean(several.map(({ spent }) => spent.calls))).toBeLessThanOrEqual(12);
    expect(mean(several.map(({ spent }) => spent.promptTokens))).toBeLessThanOrEqual(12_000);
  });

  it('shows both sides where sources contradict each other, and only there', () => {
    const both = clean.answers.filter(({ outcome }) => outcome === 'answer_with_both_sides');
    expect(both).toHaveLength(5);
    for (const { report } of both) expect(report).toMatch(/\[1\].*\/.*\[2\]/);
  });
});

describe('a research by a plan of the true steps', () => {
  it('finds the passages, answers and refuses as one by sub-questions does', { timeout: 120_000 }, async () => {
    const planned = await researched(world.planner, true);
    expect(planned.means['perfect@8']).toBe(1);
    expect(mean(planned.answers.flatMap(({ exact }) => exact ?? []))).toBeGreaterThanOrEqual(0.97);
    const refused = planned.answers.filter(({ isRefused }) => isRefused);
    expect(refused.map(({ id }) => id)).toEqual(planned.answers.slice(40).map(({ id }) => id));
    // A plan is reviewed, and its report outlined and checked.
    const callsOf = ({ answers }: DeepResult): number => mean(answers.map(({ spent }) => spent.calls));
    expect(callsOf(planned)).toBeGreaterThan(callsOf(clean));
    expect(callsOf(planned)).toBeLessThanOrEqual(14);
  });
});

/** Fails a fifth of the calls: overloaded, broken, cut within the answer, JSON that is none. */
function faulty(model: ChatModel, seed: number): ChatModel {
  const random = createRandom(seed);
  return {
    chat: (request) =>
      defer((): Observable<ChatDelta> => {
        const fault = random.int(20);
        const failed = new EngineError('MODEL_UNAVAILABLE', 'overloaded', { retryable: true });
        if (fault < 2) return throwError(() => failed);
        if (fault === 2) return cutWithin(model.chat(request), failed);
        if (fault === 3) return of<ChatDelta>({ type: 'text', text: 'Well, {"answ' });
        return model.chat(request);
      }),
  };
}

function cutWithin(answer$: Observable<ChatDelta>, error: EngineError): Observable<ChatDelta> {
  return new Observable((subscriber) =>
    answer$.subscribe((piece) => {
      if (piece.type !== 'text') return;
      subscriber.next({ type: 'text', text: piece.text.slice(0, piece.text.length / 2) });
      subscriber.error(error);
    }),
  );
}

/** Lies in a fifth of the answers to what it reads, half of them with a name that stands in what it read. */
function lying(model: ChatModel, seed: number): ChatModel {
  const random = createRandom(seed);
  return {
    chat: (request) => {
      if (request.jsonSchema?.name !== 'research_read' || random.int(5) > 0) return model.chat(request);
      return model.chat(request).pipe(
        map((piece) => {
          if (piece.type !== 'text') return piece;
          const { supported_by, ...answer } = JSON.parse(piece.text);
          const lie = random.int(2) === 0 ? 'Zebulon Quark in 1999' : 'Tobin Vael';
          return { type: 'text', text: JSON.stringify({ ...answer, answer: lie, supported_by, confidence: 1 }) };
        }),
      );
    },
  };
}

describe(`a model (SEED=${SEED})`, () => {
  it('that fails in a fifth of its calls costs little, and every research ends with a report', {
    timeout: 120_000,
  }, async () => {
    const result = await researched(faulty(world.planner, SEED));
    expect(result.answers.every(({ report }) => report.trim() !== '')).toBe(true);
    expect(result.means['perfect@8']).toBeGreaterThanOrEqual(0.9);
  });

  it('that lies in a fifth of its readings gets no lie into a report without a mark', {
    timeout: 120_000,
  }, async () => {
    const result = await researched(lying(world.planner, SEED));
    const right = new Map(clean.answers.map(({ id, report }) => [id, report]));
    const lines = result.answers.flatMap(({ id, report }) => report.split('\n').map((line) => ({ id, line })));
    const claims = lines.filter(({ line }) => /\[\d+\]/.test(line));
    const lies = claims.filter(
      ({ id, line }) =>
        /Quark|Tobin Vael\b.*\[/.test(line) &&
        !right.get(id)?.includes('Tobin Vael') &&
        !line.includes(UNSUPPORTED_MARK.en),
    );
    expect(claims.length).toBeGreaterThan(50);
    expect(lies.length / claims.length).toBeLessThanOrEqual(0.02);
  });

  it('that is never reached leaves a report by rules', { timeout: 120_000 }, async () => {
    const result = await researched({ chat: () => throwError(() => new EngineError('MODEL_REQUEST', 'no')) });
    expect(result.answers.every(({ report }) => report.trim() !== '')).toBe(true);
    expect(result.means['recall@10']).toBeGreaterThanOrEqual(0.7);
  });
});
