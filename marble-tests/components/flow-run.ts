import { filter, map, mergeMap, type Observable, throwError, timer } from 'rxjs';
import { z } from 'zod';
import { checkCanvas } from '../../src/canvas/load-canvas.js';
import { begin } from '../../src/components/begin.js';
import { createRegistry, defineComponent } from '../../src/components/component.js';
import { exitLoop } from '../../src/components/exit-loop.js';
import { fillup } from '../../src/components/fillup.js';
import { iteration } from '../../src/components/iteration.js';
import { iterationItem } from '../../src/components/iteration-item.js';
import { loop } from '../../src/components/loop.js';
import { loopItem } from '../../src/components/loop-item.js';
import { parallel } from '../../src/components/parallel.js';
import { switchComponent } from '../../src/components/switch.js';
import { userFillUp } from '../../src/components/user-fill-up.js';
import { parseReference } from '../../src/dsl/reference.js';
import { resolveParam } from '../../src/dsl/resolve.js';
import type { RunEvent } from '../../src/graph/events.js';
import { settled } from '../../src/graph/node-events.js';
import type { Plan } from '../../src/graph/plan.js';
import type { JsonObject } from '../../src/json.js';

const workParams = z.looseObject({
  ms: z.json().default(0),
  value: z.json().default(null),
  write: z.string().optional(),
  fails: z.string().optional(),
});

/** Takes `ms` milliseconds, then fails with `fails`, or gives `value` and writes it to `write`. References in both are read. */
const work = defineComponent<z.infer<typeof workParams>>({
  type: 'Work',
  summary: 'A node of a test that takes time.',
  params: workParams,
  outputs: {},
  create: ({ ms, value, write, fails }) => {
    const to = write === undefined ? undefined : parseReference(write);
    return ({ source }) =>
      timer(Number(resolveParam(ms, source))).pipe(
        mergeMap(() => (fails === undefined ? [fails] : throwError(() => new Error(fails)))),
        map(() => {
          const result = resolveParam(value, source);
          return settled({ value: result }, to === undefined ? {} : { writes: [{ to, value: result }] });
        }),
      );
  },
});

const registry = createRegistry([
  begin,
  exitLoop,
  fillup,
  iteration,
  iterationItem,
  loop,
  loopItem,
  parallel,
  switchComponent,
  userFillUp,
  work,
]);

/** A node of a small canvas: its type, parameters, successors and the container it is in. */
export type FlowNode = readonly [type: string, params?: JsonObject, downstream?: readonly string[], parent?: string];

/** Compiles a small canvas of flow components and `Work` nodes, which take virtual time. */
export function flow(nodes: Readonly<Record<string, FlowNode>>): Plan {
  const components = Object.entries(nodes).map(([id, [type, params = {}, downstream = [], parent]]) => [
    id,
    {
      obj: { component_name: type, params },
      downstream,
      upstream: [],
      ...(parent === undefined ? {} : { parent_id: parent }),
    },
  ]);
  const { plan, issues } = checkCanvas(
    { components: Object.fromEntries(components), path: [], history: [], retrieval: [] },
    { registry },
  );
  if (plan === undefined) throw new Error(`The test's canvas is wrong: ${JSON.stringify(issues)}`);
  return plan;
}

/**
 * What happened to some nodes, as short words: `a` settled, `a!` failed, `a?` waits; `run` and `run!` are the end of the run,
 * `run?` its waiting for answers.
 */
export function words(events$: Observable<RunEvent>, ...nodes: readonly string[]): Observable<string> {
  return events$.pipe(
    map((event) => wordOf(event)),
    filter((word) => nodes.includes(word.replace(/[!?]$/, ''))),
  );
}

function wordOf(event: RunEvent): string {
  switch (event.type) {
    case 'node-settled':
      return event.node;
    case 'node-failed':
      return `${event.node}!`;
    case 'node-interrupted':
      return `${event.node}?`;
    case 'run-settled':
      return 'run';
    case 'run-failed':
      return 'run!';
    case 'run-interrupted':
      return 'run?';
    default:
      return '';
  }
}
