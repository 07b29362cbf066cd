import { describe, expect, it } from 'vitest';
import { PictureFold } from '../../src/canvas/picture/picture-fold.js';
import { PictureLog } from '../../src/canvas/picture/picture-log.js';
import type { RunEvent } from '../../src/graph/events.js';
import { randomOf } from '../canvas/picture/generated-events.js';
import { nodesOf, readCases } from './case.js';
import { playCase } from './play.js';

const SEED = 20_261_123;

describe('pictures of the golden cases', () => {
  for (const golden of readCases()) {
    it(golden.name, async () => {
      const runs = new Map<number, RunEvent[]>();
      await playCase(golden, { listener: (event, run) => runs.set(run, [...(runs.get(run) ?? []), event]) });
      const nodes = nodesOf(golden);
      const random = randomOf(SEED);
      for (const events of runs.values()) checkPictures(events, { nodes: describedBy(nodes) }, random);
    });
  }
});

type Options = ConstructorParameters<typeof PictureFold>[0];

/** Folded at once, read in between, cut and sent twice, and at each of its events: the same. */
function checkPictures(events: readonly RunEvent[], options: Options, random: () => number): void {
  const whole = new PictureFold(options);
  for (const event of events) whole.add(event);
  const { picture } = whole;
  expect(picture.status, `seed ${SEED}`).not.toBe('running');
  expect([...picture.nodes.values()].filter(({ status }) => status === 'running' || status === 'retrying')).toEqual([]);

  const log = new PictureLog({ ...options, every: 1 + Math.floor(random() * 9) });
  let other = new PictureFold(options);
  for (let at = 0; at < events.length; at += 1) {
    const event = events[at] as RunEvent;
    other.add(event);
    log.add(event);
    if (random() < 0.2) other = new PictureFold(options, other.picture);
    // The client was cut off, and some events are sent again.
    if (random() < 0.05) at = Math.max(-1, at - Math.floor(random() * 20));
  }
  expect(other.picture, `seed ${SEED}`).toEqual(picture);
  expect(log.picture, `seed ${SEED}`).toEqual(picture);
  const seq = Math.ceil(random() * events.length);
  const part = new PictureFold(options);
  for (const event of events.slice(0, seq)) part.add(event);
  expect(log.at(seq), `seed ${SEED}`).toEqual(part.picture);
}

function describedBy(nodes: ReturnType<typeof nodesOf>) {
  return nodes.map(({ parent, ...node }) => ({ ...node, ...(parent !== undefined && { parent }) }));
}
