import { describe, expect, it } from 'vitest';
import { agent, summarise } from '../../../src/entries/agents.js';
import { inVirtualTime } from '../../../src/entries/testing.js';
import type { ChatMessage } from '../../../src/models/messages.js';

const ENDS = { e: 'run-settled', x: 'run-failed', c: 'run-cancelled' } as const;
const equal = (actual: unknown, expected: unknown) => expect(actual).toEqual(expected);
const talk: ChatMessage[] = ['a', 'b', 'c'].map((content) => ({ role: 'user', content }));

describe('summarise in virtual time', () => {
  it('asks the model once the summary is there', () =>
    inVirtualTime(
      ({ model, run, expectEvents, expectSubscriptions }) => {
        const [writer, main] = [model(['--s--|']), model(['-a|'])];
        const use = [summarise({ atMessages: 3, keep: 1, model: writer })];
        expectEvents(run(agent({ name: 'clerk', model: main, use }), talk), ENDS).toBe('-------(e|)');
        expectSubscriptions(writer.subscriptions[0] ?? []).toBe('^----!');
        expectSubscriptions(main.subscriptions[0] ?? []).toBe('-----^-!');
      },
      { equal },
    ));

  it('goes on at once when its writer fails', () =>
    inVirtualTime(
      ({ model, run, expectEvents, expectSubscriptions }) => {
        const [writer, main] = [model(['--#']), model(['-a|'])];
        const use = [summarise({ atMessages: 3, keep: 1, model: writer })];
        expectEvents(run(agent({ name: 'clerk', model: main, use }), talk), ENDS).toBe('----(e|)');
        expectSubscriptions(writer.subscriptions[0] ?? []).toBe('^-!');
      },
      { equal },
    ));

  it('leaves its writer in the frame in which the run is left', () =>
    inVirtualTime(
      ({ model, run, expectEvents, expectSubscriptions }) => {
        const [writer, main] = [model(['-----s|']), model(['-a|'])];
        const use = [summarise({ atMessages: 3, keep: 1, model: writer })];
        expectEvents(run(agent({ name: 'clerk', model: main, use }), talk), ENDS, '--!').toBe('---');
        expectSubscriptions(writer.subscriptions[0] ?? []).toBe('^-!');
        expectSubscriptions(main.subscriptions[0] ?? []).toBe([]);
      },
      { equal },
    ));
});
