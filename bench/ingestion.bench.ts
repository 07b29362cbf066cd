/**
 * What runs feel of documents that are parsed beside them, with the embedded database: `npm run bench -- ingestion`.
 *
 * A run writes its log as the server does, in the process that parses, with the flag of V8 that the program sets. How long the database is held is seen from
 * a thread of its own, whose smallest question waits for all that comes before it, an upper bound. Processor time of the threads that are waited for says
 * the same without what other programs of the machine take.
 */
import { type BenchDocument, feltRows, openEmbeddedBase } from './embedded-base.js';
import type { Row } from './measure.js';
import { documentText } from './texts.js';

const DOCUMENTS = 24;
const PASSAGES = 100;
/** Milliseconds of writes without ingestion, before it and behind it. */
const ALONE_MS = 6_000;

/** Measures one process with its database; takes about half a minute. */
export async function benchIngestion(): Promise<readonly Row[]> {
  const opened = await openEmbeddedBase();
  try {
    // What is loaded once, and the first statements of each kind.
    await opened.ingest(documents(0, 2));
    await opened.during(1_000);
    const before = await opened.during(ALONE_MS);
    const files = documents(2, DOCUMENTS);
    const beside = await opened.during(() => opened.ingest(files));
    const behind = await opened.during(ALONE_MS);
    const rows = feltRows(beside, [...before.written, ...behind.written], 'ingestion');
    const quiet = Math.max(...behind.asked.map(({ waitedMs }) => waitedMs));
    return [
      { name: 'longest wait for the database, alone', value: quiet, unit: 'ms' },
      ...rows,
      {
        name: 'ingestion meanwhile',
        value: ((DOCUMENTS - 2) * PASSAGES) / beside.seconds,
        unit: 'passages/s',
        isRate: true,
      },
    ];
  } finally {
    await opened.close();
  }
}

/** Documents of these numbers; making them takes longer than anything that a server does with them in one piece. */
function documents(from: number, to: number): readonly BenchDocument[] {
  return Array.from({ length: to - from }, (_, at) => ({
    name: `${from + at}.txt`,
    content: new TextEncoder().encode(documentText(from + at, PASSAGES)),
  }));
}
