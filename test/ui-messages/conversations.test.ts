/** Conversations of agents as messages of the AI SDK's pages, and as events of AG-UI. */
import { from, lastValueFrom, of, Subject, tap, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { agent, createRunner, toAgUi, type UserInput } from '../../src/entries/agents.js';
import { type ChatDelta, type ChatModel, defineTool, run, toUiMessages } from '../../src/index.js';
import { PROGRAMS } from '../agents/durable/support/programs.js';
import { readChunks, textsOf } from './support/read-chunks.js';

function runnerOf(name: keyof typeof PROGRAMS) {
  const input$ = new Subject<UserInput>();
  const program = PROGRAMS[name]({ did: () => {}, asked: () => {}, say: (input) => input$.next(input) });
  return { ...program, input$, runner: createRunner({ agent: program.agent }) };
}

describe('toUiMessages behind an agent whose text is its answer', () => {
  const pieces: ChatDelta[] = [
    { type: 'text', text: 'Take ' },
    { type: 'text', text: 'a coat.' },
  ];
  const look = defineTool({ name: 'look', description: 'Looks.', run: () => 'rain' });
  const call: ChatDelta = { type: 'tool-call', index: 0, id: 'c1', name: 'look', arguments: '{}' };
  const guide = (...rounds: readonly (readonly ChatDelta[])[]) => {
    let round = 0;
    const model: ChatModel = { chat: () => from(rounds[Math.min(round++, rounds.length - 1)] ?? []) };
    return agent({ name: 'guide', model, tools: [look], answerFrom: 'text' });
  };

  it('shows the answer once, in the pieces in which it comes, behind the tool', async () => {
    const events$ = run(guide([call], pieces), { input: 'Go.' });
    const chunks = await lastValueFrom(events$.pipe(toUiMessages(), toArray()));
    const deltas = chunks.flatMap((chunk) => (chunk.type === 'text-delta' ? [chunk.delta] : []));
    expect(deltas).toEqual(['Take ', 'a coat.']);
    const message = await readChunks(chunks);
    expect(textsOf(message)).toEqual(['Take a coat.']);
    expect(message.parts.findIndex(({ type }) => type === 'tool-look')).toBeLessThan(
      message.parts.findIndex(({ type }) => type === 'text'),
    );
  });

  it('shows an error where a call follows text that was given on', async () => {
    const events$ = run(guide([...pieces, call]), { input: 'Go.' });
    const chunks = await lastValueFrom(events$.pipe(toUiMessages(), toArray()));
    expect(chunks.filter(({ type }) => type === 'error')).toHaveLength(1);
    expect(textsOf(await readChunks(chunks))).toEqual(['Take a coat.']);
  });
});

describe('toUiMessages behind a runner', () => {
  it('shows a question, and goes on with its answer', async () => {
    const { runner, question, answerTo } = runnerOf('interrupt');
    const asked = await lastValueFrom(runner.run(question, { session: 's' }).pipe(toUiMessages(), toArray()));
    expect((await readChunks(asked)).parts.some(({ type }) => type === 'tool-ask')).toBe(true);
    const answers = { 'guide/tools#h': answerTo({ what: 'hotel' }), 'guide/tools#f': answerTo({ what: 'flight' }) };
    const rest = await lastValueFrom(runner.resume('s', answers).pipe(toUiMessages(), toArray()));
    expect(textsOf(await readChunks(rest)).at(-1)).toBe('Booked.');
  });

  it('shows each member of a team', async () => {
    const { runner, question } = runnerOf('team');
    const chunks = await lastValueFrom(runner.run(question).pipe(toUiMessages(), toArray()));
    expect(textsOf(await readChunks(chunks))).toEqual(
      expect.arrayContaining(['Seven.', 'It has seven bridges.', 'Published.', 'Here it is.']),
    );
  });

  it('makes one message of several turns, with what was said meanwhile', async () => {
    const { runner, question, input$ } = runnerOf('steer');
    const chunks = await lastValueFrom(runner.run(question, { input$ }).pipe(toUiMessages(), toArray()));
    expect(chunks.filter(({ type }) => type === 'start' || type === 'finish').map(({ type }) => type)).toEqual([
      'start',
      'finish',
    ]);
    const { parts } = await readChunks(chunks);
    const heard = parts.filter(({ type }) => type === 'data-input-delivered');
    // An input joins at the first safe point behind its being stored, which may be that of the round after the next.
    expect(heard).toMatchObject([{ data: { id: 'i1' } }, { data: { id: 'i2', round: 3 } }]);
  });

  it('says the text alone of what a turn gives, and why an input is dropped', async () => {
    const { runner, question } = runnerOf('team');
    const input$ = of<UserInput>({ id: 'x', content: 'Hello?', to: 'no-one' });
    const chunks = await lastValueFrom(runner.run(question, { input$ }).pipe(toUiMessages(), toArray()));
    expect(chunks.some(({ type }) => type === 'data-result')).toBe(false);
    expect(chunks.find(({ type }) => type === 'data-input-dropped')).toMatchObject({ id: 'x' });
  });
});

describe('toAgUi behind a runner', () => {
  it('gives the events of its runs', async () => {
    const { runner, question } = runnerOf('team');
    const types: string[] = [];
    const events = await lastValueFrom(
      runner.run(question).pipe(
        toAgUi(),
        tap(({ type }) => types.push(type)),
        toArray(),
      ),
    );
    expect([types[0], types.at(-1)]).toEqual(['RUN_STARTED', 'RUN_FINISHED']);
    expect(JSON.stringify(events)).toContain('Here it is.');
    expect(types.some((type) => type.startsWith('turn-') || type.startsWith('input-'))).toBe(false);
  });
});
