import { describe } from 'vitest';
import type { RunTrace, TraceEvent } from './case.js';
import type { Golden } from './compare.js';
import { check, finished, GOLDEN, message, RUN, started } from './support/golden.js';

describe('events of an exact case', () => {
  const events = (change: (all: TraceEvent[]) => void): Partial<RunTrace> => {
    const all = structuredClone(RUN.events);
    change(all);
    return { events: all };
  };
  const marks: Golden = {
    ...GOLDEN,
    expect: [
      {
        ...RUN,
        events: [
          message('', { start_to_think: true }),
          message('t'),
          message('', { end_to_think: true }),
          message('a'),
        ],
      },
    ],
  };
  check([
    {
      name: 'may cut texts elsewhere',
      change: events((all) => all.splice(4, 2, message('o'), message(''), message('ne two'))),
    },
    {
      name: 'may carry further data',
      change: events((all) => all.splice(3, 1, { ...started('m', 'Message'), data: { thoughts: 'x' } })),
    },
    {
      name: 'must not change places',
      change: events((all) => all.splice(1, 2, all[2]!, all[1]!)),
      differs: 'events[1]: expected node_started begin (Begin), received node_finished begin (Begin)',
    },
    {
      name: 'must all be there',
      change: events((all) => all.splice(8, 1)),
      differs: 'events[7]: expected workflow_finished, received nothing',
    },
    {
      name: 'must not be more',
      change: events((all) => all.push(message('!'))),
      differs: 'events[8]: expected nothing, received message',
    },
    {
      name: 'must name the type',
      change: events((all) => all.splice(3, 1, started('m', 'LLM'))),
      differs: 'node_started m (Message)',
    },
    {
      name: 'must tell the text',
      change: events((all) => all.splice(5, 1, message('three'))),
      differs: 'message.content',
    },
    {
      name: 'must give the outputs',
      change: events((all) => all.splice(2, 1, finished('begin', 'Begin', { n: 6 }))),
      differs: 'node_finished begin (Begin).outputs.n',
    },
    {
      name: 'must give the status',
      change: events((all) => all.splice(6, 1, { event: 'message_end', data: { status: 'ok' } })),
      differs: 'message_end.status',
    },
    {
      name: 'must give the inputs',
      change: events((all) => all.splice(0, 1, { event: 'workflow_started', data: { inputs: { a: 1 } } })),
      differs: 'workflow_started.inputs',
    },
    {
      name: 'may have texts without thinking marks joined only',
      golden: marks,
      change: {
        events: [
          message('', { start_to_think: true }),
          message('t'),
          message(''),
          message('', { end_to_think: true }),
          message('a'),
        ],
      },
    },
    { name: 'must keep thinking marks', golden: marks, change: { events: [message('ta')] }, differs: 'events[0]' },
    {
      name: 'must keep the kind of marks',
      golden: marks,
      change: {
        events: [
          message('', { end_to_think: true }),
          message('t'),
          message('', { start_to_think: true }),
          message('a'),
        ],
      },
      differs: 'start_to_think',
    },
    {
      name: 'must end with the same outputs',
      change: { workflow_outputs: { content: 'x' } },
      differs: 'workflow_outputs.content',
    },
    { name: 'must end with outputs at all', change: { workflow_outputs: null }, differs: 'workflow_outputs' },
  ]);
});
