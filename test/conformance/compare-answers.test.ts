import { describe } from 'vitest';
import type { RunTrace, TraceEvent } from './case.js';
import type { Golden } from './compare.js';
import { call, check, document, finished, RUN, VALUES } from './support/golden.js';

describe('values', () => {
  check([
    { name: 'may come in any order of events', golden: VALUES, change: { events: [...RUN.events].reverse() } },
    {
      name: 'may have model calls in any order',
      golden: VALUES,
      change: { model_calls: [call('second'), call('first')] },
    },
    {
      name: 'must have all model calls',
      golden: VALUES,
      change: { model_calls: [call('first'), call('first')] },
      differs: 'model_calls: missing',
    },
    { name: 'must have the same nodes', golden: VALUES, change: { nodes: {} }, differs: 'nodes.begin: did not run' },
    { name: 'must have the same answer', golden: VALUES, change: { answer: 'two one ' }, differs: 'run 1.answer' },
  ]);

  const SAYS = [said('a', '1'), said('b', '2'), said('c', '3')];
  const besides = speeches(
    document({ begin: ['Begin', ['a', 'b']], a: ['Message', ['c']], b: ['Message', []], c: ['Message', []] }),
    SAYS,
  );
  check([
    {
      name: 'lets Messages side by side change places',
      golden: besides,
      change: speech([said('b', '2'), said('a', '1'), said('c', '3')]),
    },
    {
      name: 'lets a Message come after what does not follow it',
      golden: besides,
      change: speech([said('a', '1'), said('c', '3'), said('b', '2')]),
    },
    {
      name: 'keeps a Message behind the one that leads to it',
      golden: besides,
      change: speech([said('c', '3'), said('b', '2'), said('a', '1')]),
      differs: 'answer',
    },
    {
      name: 'tells what another Message says',
      golden: besides,
      change: speech([said('a', '2'), said('b', '1'), said('c', '3')]),
      differs: 'answer',
    },
    {
      name: 'tells a part that is missing',
      golden: besides,
      change: speech([said('b', '2'), said('a', '1')]),
      differs: 'answer',
    },
    { name: 'lets the pieces of two Messages be mixed', golden: besides, change: { answer: '213', events: mixed() } },
  ]);

  const body = document({
    loop: ['Loop', ['after']],
    i: ['LoopItem', ['in'], 'loop'],
    in: ['Message', [], 'loop'],
    after: ['Message', []],
  });
  const passes = speeches(body, [said('in', 'x'), said('in', 'y'), said('after', 'z')]);
  check([
    {
      name: 'keeps the passes of a loop in order',
      golden: passes,
      change: speech([said('in', 'y'), said('in', 'x'), said('after', 'z')]),
      differs: 'answer',
    },
    {
      name: 'keeps what follows a loop behind its body',
      golden: passes,
      change: speech([said('after', 'z'), said('in', 'x'), said('in', 'y')]),
      differs: 'answer',
    },
  ]);
});

/** All that a Message says, from its first piece to its end. */
function said(id: string, text: string): readonly TraceEvent[] {
  return [
    { event: 'message', component_id: id, data: { content: text } },
    { event: 'message_end', component_id: id, data: {} },
    finished(id, 'Message', { content: text }),
  ];
}

function speech(parts: readonly (readonly TraceEvent[])[]): Pick<RunTrace, 'events' | 'answer'> {
  const events = parts.flat();
  return { events, answer: events.map(({ event, data }) => (event === 'message' ? data?.content : '')).join('') };
}

/** Golden messages carry no ids. */
function speeches(dsl: Golden['dsl'], parts: readonly (readonly TraceEvent[])[]): Golden {
  const { events, answer } = speech(parts);
  const anonymous = events.map(({ component_id: id, ...event }) =>
    event.event === 'node_finished' && id !== undefined ? { ...event, component_id: id } : event,
  );
  return { ...VALUES, dsl, expect: [{ ...RUN, events: anonymous, answer }] };
}

/** Message b says its piece while a is still silent, and both end later. */
function mixed(): TraceEvent[] {
  const [aText, ...aEnd] = said('a', '1') as [TraceEvent, ...TraceEvent[]];
  const [bText, ...bEnd] = said('b', '2') as [TraceEvent, ...TraceEvent[]];
  return [bText, aText, ...aEnd, ...bEnd, ...said('c', '3')];
}
