/** What a canvas costs a node, from the question to the last event as text: `npm run bench -- canvas`. */
import { lastValueFrom, map, reduce } from 'rxjs';
import { loadCanvas } from '../src/canvas/load-canvas.js';
import { toWireEvents } from '../src/canvas/ragflow-events.js';
import { runTurn } from '../src/canvas/turn.js';
import { microsecondsPerStep, type Row } from './measure.js';

/** Turns before anything is measured: about a second, by which the compiler has settled even on a machine that is busy. */
const WARM_UP_TURNS = 10_000;

/** Measures canvases of 10, 100 and 1,000 nodes; takes a few seconds. */
export async function benchCanvas(): Promise<readonly Row[]> {
  const turn = turnOf(10);
  for (let done = 0; done < WARM_UP_TURNS; done += 1) await turn();
  const rows: Row[] = [];
  for (const count of [10, 100, 1_000]) {
    const repeats = Math.max(1, Math.floor(10_000 / count));
    const measured = turnOf(count);
    const value = await microsecondsPerStep(count * repeats, async () => {
      for (let done = 0; done < repeats; done += 1) await measured();
    });
    rows.push({
      name: `canvas of ${count} trivial components, events serialised once`,
      value,
      unit: 'us/node',
      bar: 30,
      aim: 15,
    });
  }
  return rows;
}

/** One turn of a canvas of so many nodes. */
function turnOf(count: number): () => Promise<number> {
  const canvas = loadCanvas(documentOf(count));
  const context = { plan: canvas.plan, messageId: 'm', sessionId: 's' };
  return () =>
    lastValueFrom(
      runTurn(canvas, { query: 'hello' }).pipe(
        toWireEvents(context),
        map((event) => JSON.stringify(event).length),
        reduce((sum, length) => sum + length, 0),
      ),
    );
}

/** Begin, a chain of components that merge a text, and a Message. */
export function documentOf(count: number): unknown {
  const ids = ['begin', ...Array.from({ length: count - 2 }, (_, at) => `StringTransform:N${at}`), 'Message:End'];
  const components = ids.map((id, at) => {
    const [name = ''] = id.split(':');
    const params =
      name === 'StringTransform'
        ? { method: 'merge', script: 'text', delimiters: [','] }
        : name === 'Message'
          ? { content: ['done'] }
          : {};
    return [
      id,
      {
        obj: { component_name: name === 'begin' ? 'Begin' : name, params },
        downstream: ids.slice(at + 1, at + 2),
        upstream: ids.slice(Math.max(0, at - 1), at),
      },
    ];
  });
  return { components: Object.fromEntries(components), globals: {}, history: [], path: [], retrieval: [] };
}
