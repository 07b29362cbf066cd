/** What happens to the documents of a dataset while they are parsed, as a stream of events. */
import { endWith, map, type Observable } from 'rxjs';
import type { z } from 'zod';
import { EngineError } from '../../errors.js';
import type { IngestionProgress } from '../../knowledge/base/ingestion-hub.js';
import { coalesce } from '../../operators/coalesce.js';
import { whenLeft } from '../http/client-left.js';
import { DONE, sendEventStream } from '../http/event-stream.js';
import { takePlace } from '../http/guards.js';
import type { RouteGroup, RouteRequest } from '../http/route.js';
import { looseRoute } from '../ragflow/dialect.js';
import type { ServerParts } from '../server-parts.js';
import { type FoundDataset, notYourDataset, ownDataset } from './find.js';

/** Events that wait for a client that does not read. */
const MAX_WAITING = 1_000;

export const ingestionEventRoutes: RouteGroup = {
  name: 'parsing',
  description: 'How documents become searchable.',
  routes: [
    looseRoute('GET /datasets/:dataset/events', {
      summary: 'Tells of documents while they are parsed, by whatever process; begins with those that are',
      finds: ownDataset(notYourDataset),
      answers: 'events',
      handle: stream,
    }),
  ],
};

function stream(
  { tenant, params, exchange, found: { base } }: RouteRequest<'dataset', z.ZodObject, z.ZodUnknown, FoundDataset>,
  parts: ServerParts,
): void {
  const { config, logger, streams, shares } = parts;
  const giveBack = takePlace(shares.streams, tenant, 'event streams');
  const open = (ready$: Observable<boolean>): Observable<string> =>
    base
      .watch(tenant, params.dataset)
      .pipe(coalesce({ ready$, merge: newest, maxSize: MAX_WAITING }), map(frameOf), endWith(DONE));
  streams.count += 1;
  whenLeft(exchange, () => {
    giveBack();
    streams.count -= 1;
  });
  sendEventStream(exchange, open, {
    pingMs: config.ssePingMs,
    slowMs: config.slowClientMs,
    whenCut: (reason) => {
      const why = EngineError.is(reason) ? { reason: reason.message } : { err: reason };
      logger.warn({ dataset: params.dataset, ...why }, 'a client was cut off; it can ask again');
    },
  });
}

/** Of two that follow each other and are of one document, the newer. */
function newest(older: IngestionProgress, newer: IngestionProgress): IngestionProgress | undefined {
  if (older.documentId !== newer.documentId) return undefined;
  const message = [older.message, newer.message].filter((text) => text !== '').join('\n');
  return { ...newer, message: message.slice(-MAX_MESSAGE) };
}

/** Longest message of events that became one, in UTF-16 units. */
const MAX_MESSAGE = 2_000;

function frameOf({ datasetId, documentId, tenant: _, ...rest }: IngestionProgress): string {
  return `data:${JSON.stringify({ type: 'progress', dataset_id: datasetId, document_id: documentId, ...rest })}\n\n`;
}
