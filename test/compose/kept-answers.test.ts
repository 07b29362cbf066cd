/** What a step was answered stays with it until it has ended, however often it has to wait in between. */
import { expect, it } from 'vitest';
import { z } from 'zod';
import { ask, defineTool, invoke, resumeFrom, type StepActivation, step, toolsNode } from '../../src/index.js';
import { answeredOneByOne, waiting } from './support/waiting-runs.js';

const IDS = ['a', 'b', 'c'];
const upper = ({ address }: { readonly address: string }) => address.slice(-1).toUpperCase();

/** Asks for what it has not, and keeps nothing itself. */
const forms = () =>
  step('forms', (_: string, at: StepActivation) => {
    const open = IDS.filter((id) => !at.answers.has(id));
    return open.length > 0
      ? at.interruptAll(open.map((id) => ({ id, interrupt: at.interrupt(`${id}?`) })))
      : IDS.map((id) => at.answers.get(id)).join('');
  });

it.each([
  ['the first', () => 0],
  ['the last', (count: number) => count - 1],
])('answers of several questions add up when %s of them is answered each time', async (_, choose) => {
  expect(await answeredOneByOne(forms, '', upper, choose)).toBe('ABC');
});

it('answers of several questions add up over a resume without answers', async () => {
  const first = await waiting(forms(), '');
  const second = await waiting(forms(), resumeFrom(first.checkpoint, { 'forms#b': 'B' }));
  const woken = await waiting(forms(), resumeFrom(second.checkpoint));
  expect(woken.questions.map(({ address }) => address)).toEqual(['forms#a', 'forms#c']);
  const answers = { 'forms#a': 'A', 'forms#c': 'C' };
  expect(await invoke(forms(), resumeFrom(woken.checkpoint, answers))).toBe('ABC');
});

it('a question that is asked again has no answer any more', async () => {
  const seen: unknown[] = [];
  const strict = () =>
    step('strict', (_: string, at: StepActivation) => {
      seen.push([...at.answers]);
      const a = at.answers.get('a');
      return a === 'yes' ? 'done' : at.interruptAll([{ id: 'a', interrupt: at.interrupt('yes?') }]);
    });
  const first = await waiting(strict(), '');
  const second = await waiting(strict(), resumeFrom(first.checkpoint, { 'strict#a': 'no' }));
  await waiting(strict(), resumeFrom(second.checkpoint));
  expect(await invoke(strict(), resumeFrom(second.checkpoint, { 'strict#a': 'yes' }))).toBe('done');
  expect(seen).toEqual([[], [['a', 'no']], [], [['a', 'yes']]]);
});

it('the answer to a step stays when a step inside it asks after that', async () => {
  let asked = 0;
  const outer = () =>
    step('outer', async (amount: number, at: StepActivation) => {
      if (at.answer === undefined) {
        asked += 1;
        return at.interrupt('Who pays?');
      }
      const isSure = await invoke(ask(z.boolean(), `Is ${amount} right?`), amount, { within: at });
      return `${at.answer} pays ${amount}: ${isSure}`;
    });
  const answerOf = ({ address }: { readonly address: string }) => (address === 'outer' ? 'Ada' : true);
  expect(await answeredOneByOne(outer, 3, answerOf)).toBe('Ada pays 3: true');
  expect(asked).toBe(1);
});

it('the answer to a tool stays when a step inside it asks after that', async () => {
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    input: z.object({ amount: z.number() }),
    run: async ({ amount }, call) => {
      if (call.answer === undefined) return call.interrupt('Who pays?');
      const isSure = await invoke(ask(z.boolean(), `Is ${amount} right?`), amount, { within: call });
      return `${call.answer} pays ${amount}: ${isSure}`;
    },
  });
  const message = {
    role: 'assistant' as const,
    content: '',
    toolCalls: [1, 2].map((amount) => ({ id: `call_${amount}`, name: 'pay', arguments: JSON.stringify({ amount }) })),
  };
  const answerOf = ({ question }: { readonly question: unknown }) => (question === 'Who pays?' ? 'Ada' : true);
  for (const choose of [() => 0, (count: number) => count - 1]) {
    const results = (await answeredOneByOne(() => toolsNode({ tools: [pay] }), message, answerOf, choose)) as {
      readonly content: string;
    }[];
    expect(results.map(({ content }) => content)).toEqual(['Ada pays 1: true', 'Ada pays 2: true']);
  }
});
