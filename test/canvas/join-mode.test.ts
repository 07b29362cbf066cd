/** How several ways to a node come together, as a document says it. */
import { lastValueFrom, toArray } from 'rxjs';
import { expect, it } from 'vitest';
import { checkCanvas, loadCanvas } from '../../src/canvas/load-canvas.js';
import { runTurn } from '../../src/canvas/turn.js';
import type { Services } from '../../src/components/services.js';
import type { JsonObject } from '../../src/json.js';

const node = (type: string, downstream: string[], params: JsonObject = {}) => ({
  obj: { component_name: type, params },
  downstream,
  upstream: [],
});

/** Two ways from Begin that lead to one Message. */
const joining = (params: JsonObject) => ({
  components: {
    begin: node('Begin', ['Message:A', 'Message:B']),
    'Message:A': node('Message', ['Message:End'], { content: ['a'] }),
    'Message:B': node('Message', ['Message:End'], { content: ['b'] }),
    'Message:End': node('Message', [], { content: ['end'], ...params }),
  },
  path: [],
  history: [],
  retrieval: [],
});

it.each([
  [{}, 1],
  [{ join_mode: null }, 1],
  [{ join_mode: 'all' }, 1],
  [{ join_mode: 'any' }, 2],
])('a node with %j runs %i times where two ways lead to it', async (params, times) => {
  const canvas = loadCanvas(joining(params));
  const events$ = runTurn(canvas, { query: 'x' }, { services: {} as Services });
  const events = await lastValueFrom(events$.pipe(toArray()));
  expect(events.at(-1)).toMatchObject({ type: 'run-settled' });
  const settled = events.filter((event) => event.type === 'node-settled' && event.node === 'Message:End');
  expect(settled).toHaveLength(times);
});

it('a mode that there is not is refused with those that there are', () => {
  const { plan, issues } = checkCanvas(joining({ join_mode: 'most' }));
  expect(plan).toBeUndefined();
  expect(issues).toMatchObject([
    {
      path: '$.components["Message:End"].obj.params.join_mode',
      message: 'Message: expected "all" or "any"; received "most"',
    },
  ]);
});
