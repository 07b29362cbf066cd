import { describe, expect, it } from 'vitest';
import { readAnswer } from '../../src/research/calls/ask-call.js';
import { Budget } from '../../src/research/calls/budget.js';
import { nextAction, type Standing } from '../../src/research/deep/ladder.js';
import { questionsByRules, usableQuestions, withAnswers } from '../../src/research/deep/sub-questions.js';
import { canonicalAddress } from '../../src/research/evidence/canonical-address.js';
import { ReportCheck, UNSUPPORTED_MARK } from '../../src/research/evidence/check-report.js';
import { holdsAnswer } from '../../src/research/evidence/check-statement.js';
import { contradictionsOf } from '../../src/research/evidence/contradictions.js';
import { EvidenceTable, type FoundEvidence } from '../../src/research/evidence/evidence-table.js';
import { createRandom } from '../support/random.js';

const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000_000);

describe('an answer of a model', () => {
  it.each([
    ['plain', '{"answer":"Oslo","supported_by":["a"],"confidence":1}', 'Oslo'],
    ['between words and fences', 'Sure:\n```json\n{"answer":"Oslo","supported_by":[1],"confidence":0.5}\n```', 'Oslo'],
    ['with a comma too many', '{"answer":"Oslo","supported_by":["a",],"confidence":1,}', 'Oslo'],
    ['with optional fields left out', '{"answer":""}', ''],
  ])('%s is read', (_, text, answer) => {
    expect(readAnswer('research_read', text).answer).toBe(answer);
  });

  it.each([
    ['prose', 'I do not know.'],
    ['half of it', '{"answer":"Os'],
    ['half of it behind the answer', '{"answer":"Oslo","supported_by":["a"'],
    ['a list', '["Oslo"]'],
    ['of another form', '{"reply":"Oslo"}'],
  ])('that is %s is refused', (_, text) => {
    expect(() => readAnswer('research_read', text)).toThrow(expect.objectContaining({ code: 'OUTPUT_INVALID' }));
  });
});

describe('the ladder', () => {
  const base: Standing = {
    isSufficient: false,
    missing: [],
    answered: 1,
    roundsLeft: 1,
    isCut: false,
    contradictions: 0,
  };
  it.each<[Partial<Standing>, string]>([
    [{ isSufficient: true }, 'answer'],
    [{ isSufficient: true, contradictions: 1 }, 'answer_with_both_sides'],
    [{ isSufficient: true, isCut: true }, 'answer'],
    [{ isSufficient: true, answered: 0 }, 'unanswerable'],
    [{ isCut: true, missing: ['x'] }, 'answer_with_caveat'],
    [{ isCut: true, answered: 0, missing: ['x'] }, 'unanswerable'],
    [{ missing: ['x'] }, 'follow_up'],
    [{ missing: ['x'], answered: 0 }, 'follow_up'],
    [{ missing: ['x'], roundsLeft: 0 }, 'answer_with_caveat'],
    [{ answered: 0 }, 'unanswerable'],
    [{}, 'answer_with_caveat'],
  ])('leads from %o to %s', (standing, action) => {
    expect(nextAction({ ...base, ...standing })).toBe(action);
  });
});

describe('sub-questions of a model', () => {
  const one = (id: string, question: string, ...depends_on: string[]) => ({ id, question, depends_on });
  it.each([
    ['in order', [one('a', 'A?'), one('b', '{a} B?')], 8, ['a:', 'b:a']],
    ['with a cycle', [one('a', 'A?', 'b'), one('b', 'B?', 'a')], 8, ['a:b', 'b:']],
    ['that depend on themselves', [one('a', '{a}?', 'a')], 8, ['a:']],
    ['that depend on what is not there', [one('a', 'A?', 'z')], 8, ['a:']],
    ['twice', [one('a', 'A?'), one('a', 'B?'), one('c', 'a?')], 8, ['a:']],
    ['that are empty', [one('a', ' '), one('b', 'B?')], 8, ['b:']],
    ['that are too many', Array.from({ length: 200 }, (_, at) => one(`q${at}`, `Q${at}?`)), 3, ['q0:', 'q1:', 'q2:']],
  ])('%s are made usable', (_, given, most, expected) => {
    expect(usableQuestions(given, most).map(({ id, dependsOn }) => `${id}:${dependsOn.join()}`)).toEqual(expected);
  });

  it(`never hold a cycle (SEED=${SEED})`, () => {
    const random = createRandom(SEED);
    for (let round = 0; round < 200; round += 1) {
      const count = 1 + random.int(8);
      const given = Array.from({ length: count }, (_, at) => {
        const depends_on = Array.from({ length: random.int(4) }, () => `q${random.int(count)}`);
        return { id: `q${at}`, question: `Q${at}?`, depends_on };
      });
      const usable = usableQuestions(given, 8);
      const done = new Set<string>();
      for (let step = 0; step < usable.length; step += 1) {
        for (const { id, dependsOn } of usable) if (dependsOn.every((other) => done.has(other))) done.add(id);
      }
      expect(done.size, `SEED=${SEED}`).toBe(usable.length);
    }
  });

  it.each([
    ['Who wrote {q1}?', 'Who wrote The Salt Atlas?'],
    ['Who is {q2} of {q1}?', 'Who is of The Salt Atlas?'],
    ['What is {x}?', 'What is {x}?'],
  ])('get the answers of earlier ones: %s', (question, expected) => {
    const answers = new Map([
      ['q1', 'The Salt Atlas'],
      ['q2', undefined],
    ]);
    expect(withAnswers({ question }, answers)).toBe(expected);
  });

  it.each([
    ['What is a frame? How does it end?', ['What is a frame?', 'How does it end?']],
    ['Compare Kelport and Vennick.', ['Compare Kelport and Vennick.', 'Kelport', 'Vennick']],
    ['比较青岚镇和白鹭港的历史', ['比较青岚镇和白鹭港的历史', '青岚镇', '白鹭港']],
    ['What is a frame?', ['What is a frame?']],
  ])('by rules: %s', (question, expected) => {
    expect(questionsByRules(question, 8).map((one) => one.question)).toEqual(expected);
  });
});

describe('evidence', () => {
  const found = (id: string, text: string, url?: string): FoundEvidence => ({
    ...{ id, where: url === undefined ? 'kb' : 'web', source: id, text, score: 1 },
    ...(url !== undefined && { url }),
  });

  it('counts once by its text and by its address, over all questions', () => {
    const table = new EvidenceTable();
    table.add([found('a', 'Salt keeps.'), found('b', 'salt keeps')], 'q1', 0);
    const again = table.add(
      [found('c', 'SALT, keeps!'), found('w', 'Page', 'https://www.x.org/p/?utm_source=a#top')],
      'q2',
      0,
    );
    const other = table.add([found('v', 'Page, newer', 'http://x.org/p')], 'q3', 0);
    expect(table.items.map(({ id }) => id)).toEqual(['a', 'w']);
    expect(again.all.map(({ id }) => id)).toEqual(['a', 'w']);
    expect(other.fresh).toEqual([]);
  });

  it('of an excluded source is left out', () => {
    const table = new EvidenceTable();
    table.exclude('https://x.org/p/');
    expect(table.add([found('w', 'Page', 'http://www.x.org/p'), found('a', 'Other')], 'q1', 0).all).toHaveLength(1);
  });

  it.each([
    ['https://www.example.org/a/?b=2&a=1&utm_medium=x#y', 'example.org/a?a=1&b=2'],
    ['http://example.org/a/index.html', 'example.org/a'],
    ['ftp://example.org/a', 'ftp://example.org/a'],
    ['no address', 'no address'],
  ])('%s is %s', (given, expected) => {
    expect(canonicalAddress(given)).toBe(expected);
  });

  it.each([
    ['Kelport', 'Kelport is a town.', true],
    ['Tobin Vael', 'Its warden is Tobin Vael, who was elected.', true],
    ['Tobin Quark', 'Its warden is Tobin Vael.', false],
    ['1412', 'It was founded in 1412.', true],
    ['1413', 'It was founded in 1412.', false],
    ['1,412 ships', 'There are 1412 ships.', true],
    ['沈若兰', '《潮汐录》的作者是沈若兰。', true],
    ['林秋白', '《潮汐录》的作者是沈若兰。', false],
    ['yes', 'Nothing of it.', true],
    ['', 'Nothing.', false],
  ])('holds the answer %o in %o: %s', (answer, text, expected) => {
    expect(holdsAnswer(answer, [text])).toBe(expected);
  });

  it('contradicts itself where it says the same of the same with other numbers', () => {
    const of = (id: string, source: string, text: string) => ({ id, source, text });
    const pairs = (...items: ReturnType<typeof of>[]) => contradictionsOf(items).map(({ a, b }) => `${a}${b}`);
    const kelport = of('a', 'Kelport', 'Kelport was founded around a ferry in 1412.');
    expect(pairs(kelport, of('b', 'Chronicle', 'Kelport was founded around a ferry in 1418.'))).toEqual(['ab']);
    expect(pairs(kelport, of('b', 'Vennick', 'Vennick was founded around a ferry in 1418.'))).toEqual([]);
    expect(pairs(kelport, of('b', 'Chronicle', 'Kelport was founded around a ferry in 1412.'))).toEqual([]);
  });
});

describe('a report', () => {
  const evidence = ['Ann wrote The Salt Atlas in 1760.', 'Kelport has 9 bridges.'].map((text, at) => ({
    ...{ n: at + 1, id: `e${at}`, where: 'kb', source: '', text, score: 1, question: 'q1', at: 0 },
    where: 'kb' as const,
  }));
  const checked = (text: string, pieces = 7) => {
    const check = new ReportCheck({ question: 'Who wrote The Salt Atlas?', evidence, language: 'en' });
    let shown = '';
    for (let at = 0; at < text.length; at += pieces) shown += check.push(text.slice(at, at + pieces));
    return { shown: shown + check.end(), ...check.result };
  };

  it.each([
    ['Ann wrote it in 1760 [1].', 'Ann wrote it in 1760 [1].', [1]],
    ['Ann wrote it in 1760 [1][7].', 'Ann wrote it in 1760 [1].', [1]],
    ['Ann wrote it in 1760.', 'Ann wrote it in 1760 [1].', [1]],
    ['Ann wrote it in 1999 [1].', `Ann wrote it in 1999 [1]${UNSUPPORTED_MARK.en}.`, [1]],
    ['Bob wrote it.', `Bob wrote it${UNSUPPORTED_MARK.en}.`, []],
    ['Kelport has 9 bridges [1].', 'Kelport has 9 bridges [1] [2].', [1, 2]],
    ['The author of The Salt Atlas is asked for.', 'The author of The Salt Atlas is asked for.', []],
  ])('%s is shown as %s', (given, expected, cited) => {
    for (const pieces of [1, 7, 1_000]) {
      const report = checked(given, pieces);
      expect(report.shown).toBe(expected);
      expect(report.text).toBe(expected);
      expect(report.cited).toEqual(cited);
    }
  });
});

describe('a budget', () => {
  it(`is never exceeded by calls side by side (SEED=${SEED})`, () => {
    const random = createRandom(SEED);
    for (let round = 0; round < 200; round += 1) {
      const tokens = random.int(5_000);
      const budget = new Budget({ tokens, calls: random.int(20) });
      const open: ReturnType<Budget['admit']>[] = [];
      for (let step = 0; step < 60; step += 1) {
        const [prompt, answer] = [random.int(400), random.int(200)];
        try {
          open.push(budget.admit({ prompt, answer }, random.int(5) === 0 ? 'report' : 'work'));
        } catch (error) {
          expect(error).toMatchObject({ code: 'BUDGET_EXHAUSTED' });
        }
        if (random.int(2) === 0) open.shift()?.settle();
      }
      for (const call of open) call.settle();
      expect(budget.spent.tokens, `SEED=${SEED}`).toBeLessThanOrEqual(tokens);
    }
  });

  it('leaves a tenth to the report, and counts money as unknown without prices', () => {
    const budget = new Budget({ calls: 10, tokens: 1_000 });
    for (let call = 0; call < 9; call += 1) budget.admit({ prompt: 1, answer: 1 }, 'work').settle();
    expect(() => budget.admit({ prompt: 1, answer: 1 }, 'work')).toThrow();
    budget.admit({ prompt: 1, answer: 1 }, 'report').settle({ prompt: 1, answer: 1 });
    expect(budget.spent).toMatchObject({ calls: 10, money: 'unknown' });
    const priced = new Budget({ money: 1 }, { price: { input: 1_000_000, output: 0 } });
    expect(() => priced.admit({ prompt: 2, answer: 0 }, 'report')).toThrow();
  });
});
