/**
 * A process that builds the graph of a dataset until it is killed: `graph-builder.ts <data folder> <image> <file>`. It makes the dataset when there is none,
 * writes what its model is asked as a line of JSON into the file, and prints a line for each report; DONE at the end.
 */
import { appendFileSync } from 'node:fs';
import { filter, firstValueFrom } from 'rxjs';
import { createGraphBuilds } from '../../../src/ingestion/graph/run-builds.js';
import { runIngestions } from '../../../src/ingestion/run-ingestions.js';
import { createKnowledgeBase } from '../../../src/knowledge/base/knowledge-base.js';
import { buildRequestSchema } from '../../../src/knowledge/graph/build/build-options.js';
import { openPostgresStores } from '../../../src/stores/postgres/stores.js';
import { createFakeIndexes } from '../../knowledge/base/support/fake-indexes.js';
import { createLog } from '../../stores/support/test-log.js';
import { GRAPH_TEXTS, writingModel } from './graph-texts.js';

const [dataDir, image, asked] = process.argv.slice(2) as [string, string, string];

const stores = await openPostgresStores({ dataDir, image, log: createLog() });
const store = await stores.openKnowledge();
const base = createKnowledgeBase({ store, files: stores.files, indexes: createFakeIndexes(), graphs: 'here' });
const model = writingModel((one) => appendFileSync(asked, `${JSON.stringify(one)}\n`));
const builds = createGraphBuilds({
  parts: base.parts,
  graphs: base.graphs,
  chat: () => model,
  claimMs: 500,
  pollMs: 100,
});
if ((await base.datasets.findByName('t', 'stars')) === undefined) {
  const { dataset } = await base.datasets.create('t', { name: 'stars' });
  const ids: string[] = [];
  for (const [name, text] of GRAPH_TEXTS) {
    const content = [new TextEncoder().encode(text)];
    ids.push((await base.documents.add('t', dataset.id, { name, content })).document.id);
  }
  const left = new Set(ids);
  const parsed = firstValueFrom(
    runIngestions({ parts: base.parts }).pipe(
      filter(({ documentId, run }) => run === 'DONE' && left.delete(documentId) && left.size === 0),
    ),
  );
  await base.documents.parse('t', dataset.id, ids);
  await parsed;
  await builds.start('t', dataset.id, buildRequestSchema.parse({ layers: ['links', 'rules', 'model'] }));
}
const { dataset } = (await base.datasets.findByName('t', 'stars')) ?? {};
const build = await builds.find('t', dataset?.id ?? '');
if (build?.state !== 'RUNNING') process.stdout.write('DONE\n');
builds.run().subscribe(({ progress: { finishedAt, message } }) => {
  process.stdout.write(finishedAt === null ? `${message}\n` : 'DONE\n');
});
