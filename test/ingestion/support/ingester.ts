/**
 * A process that parses documents until it is killed: `ingester.ts <data folder> <image>`. It adds one document when there is none, and prints
 * the step of every progress, one per line.
 */
import { runIngestions } from '../../../src/ingestion/run-ingestions.js';
import { createKnowledgeBase } from '../../../src/knowledge/base/knowledge-base.js';
import { openPostgresStores } from '../../../src/stores/postgres/stores.js';
import { createFakeIndexes } from '../../knowledge/base/support/fake-indexes.js';
import { createLog } from '../../stores/support/test-log.js';

const [dataDir, image] = process.argv.slice(2) as [string, string];

const stores = await openPostgresStores({ dataDir, image, log: createLog() });
const base = createKnowledgeBase({
  store: await stores.openKnowledge(),
  files: stores.files,
  indexes: createFakeIndexes(),
});
if ((await base.datasets.findByName('t', 'docs')) === undefined) {
  const settings = { chunk_token_num: 16 };
  const { dataset } = await base.datasets.create('t', { name: 'docs', parserConfig: settings });
  const text = Array.from({ length: 2_000 }, (_, at) => `Sentence ${at} of them.`).join('\n');
  const { document } = await base.documents.add('t', dataset.id, {
    name: 'long.txt',
    content: [new TextEncoder().encode(text)],
  });
  await base.documents.parse('t', dataset.id, [document.id]);
}
runIngestions({ parts: base.parts }).subscribe(({ step, run }) => process.stdout.write(`${run} ${step}\n`));
