/**
 * RAGFlow's own agent templates, from end to end. They are RAGFlow's and not in this repository: set RAGFLOW_TEMPLATES to a folder
 * with them (`agent/templates` in RAGFlow's sources); otherwise these tests are skipped.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { lastValueFrom, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { checkCanvas, loadCanvas } from '../../src/canvas/load-canvas.js';
import { runTurn, type Session } from '../../src/canvas/turn.js';
import type { Services } from '../../src/components/services.js';
import type { RunEvent } from '../../src/graph/events.js';
import { isJsonObject, type Json, type JsonObject } from '../../src/json.js';
import { skippedUnless } from '../support/skipped.js';
import { obligingModel } from './support/obliging-model.js';
import { upstreamServices } from './support/upstream-services.js';

const FOLDER = process.env.RAGFLOW_TEMPLATES ?? '';
const files = FOLDER === '' ? [] : readdirSync(FOLDER).filter((name) => name.endsWith('.json'));

/** Templates that prepare documents for a dataset instead of answering anybody. */
const PIPELINES = /ingestion|chunk|compiler/;

/** Arguments that a model could not guess. */
const ARGUMENTS: JsonObject = {
  lang: 'python',
  script: 'def main(**args):\n    return {"answer": 42}\n',
  urls: ['https://a.example/'],
  query: 'NVDA',
};

describe.skipIf(files.length === 0)(
  skippedUnless(files.length > 0, 'no folder at RAGFLOW_TEMPLATES', 'templates of RAGFlow'),
  () => {
    it.each(files.filter((name) => PIPELINES.test(name)))('%s is refused for what it is', (name) => {
      const { plan, issues } = checkCanvas(read(name));
      expect(plan).toBeUndefined();
      expect(issues[0]?.message).toContain('ingestion pipeline');
    });

    it.each(files.filter((name) => !PIPELINES.test(name)))('%s runs to its end', async (name) => {
      const canvas = loadCanvas(withPlaces(read(name)));
      const { services, requests } = await world();
      const first = await play(canvas, services, {
        query: 'How does retrieval work?',
        inputs: { customer_review: 'It broke.' },
      });
      let last = first;
      for (let turn = 0; last.session?.waiting !== undefined && turn < 5; turn += 1) {
        last = await play(canvas, services, { inputs: { instructions: 'Yes, go on.' } }, last.session);
      }
      const events = [...first.events, ...(last === first ? [] : last.events)];
      const errors = events.flatMap((event) => (event.type === 'node-failed' ? [event.error.message] : []));
      expect(errors).toEqual([]);
      expect(events.at(-1)).toMatchObject({ type: 'run-settled' });
      expect(requests.length).toBeGreaterThan(0);
      const said = events.flatMap((event) =>
        event.type === 'node-delta' && event.port === 'content' ? [event.text] : [],
      );
      expect(said.join('')).not.toBe('');
    });
  },
);

function read(name: string): Json {
  const file = JSON.parse(readFileSync(path.join(FOLDER, name), 'utf8')) as Json;
  return isJsonObject(file) && file.dsl !== undefined ? file.dsl : file;
}

const PLACES: JsonObject = {
  api_key: 'key',
  host: 'db.example',
  database: 'shop',
  username: 'reader',
  password: 'secret',
};

/** What RAGFlow's users fill in by hand: keys of services, datasets and databases. */
function withPlaces(value: Json): Json {
  if (Array.isArray(value)) return value.map(withPlaces);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      if (inner === '' && Object.hasOwn(PLACES, key)) return [key, PLACES[key] ?? null];
      return [key, key === 'kb_ids' && isEmptyList(inner) ? ['k'] : withPlaces(inner)];
    }),
  );
}

function isEmptyList(value: Json): boolean {
  return Array.isArray(value) && value.length === 0;
}

async function world() {
  const { model, requests } = obligingModel(ARGUMENTS);
  const choice = { model, name: 'm', provider: undefined, supportsImages: true, contextLength: undefined };
  const services = { models: { chat: () => choice }, ...(await upstreamServices()) } as unknown as Services;
  return { services, requests };
}

async function play(
  canvas: ReturnType<typeof loadCanvas>,
  services: Services,
  turn: Parameters<typeof runTurn>[1],
  before?: Session,
): Promise<{ readonly events: readonly RunEvent[]; readonly session: Session | undefined }> {
  let session: Session | undefined;
  const events$ = runTurn(canvas, turn, {
    services,
    ...(before && { session: before }),
    onSession: (next) => {
      session = next;
    },
  });
  return { events: await lastValueFrom(events$.pipe(toArray())), session };
}
