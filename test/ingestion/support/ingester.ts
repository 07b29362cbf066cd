/**
 * A process that parses documents until it is killed: `ingester.ts <data folder> <image> [many]`. It adds one document, or many, when there is
 * none, and prints the step of every progress, one per line; DONE when nothing waits any more.
 */
import { runIngestions } from '../../../src/ingestion/run-ingestions.js';
import { createKnowledgeBase } from '../../../src/knowledge/base/knowledge-base.js';
import { openPostgresStores } from '../../../src/stores/postgres/stores.js';
import { createFakeIndexes } from '../../knowledge/base/support/fake-indexes.js';
import { createLog } from '../../stores/support/test-log.js';
import { MANY, textOf } from './texts.js';

const [dataDir, image, amount] = process.argv.slice(2) as [string, string, string?];

const stores = await openPostgresStores({ dataDir, image, log: createLog() });
const base = createKnowledgeBase({
  store: await stores.openKnowledge(),
  files: stores.files,
  indexes: createFakeIndexes(),
});
if ((await base.datasets.findByName('t', 'docs')) === undefined) {
  const settings = { chunk_token_num: 16 };
  const { dataset } = await base.datasets.create('t', { name: 'docs', parserConfig: settings });
  const files =
    amount === 'many'
      ? Array.from({ length: MANY }, (_, at) => [`${at}.txt`, 120] as const)
      : [['long.txt', 2_000] as const];
  const added: string[] = [];
  for (const [name, sentences] of files) {
    const content = [new TextEncoder().encode(textOf(name, sentences))];
    added.push((await base.documents.add('t', dataset.id, { name, content })).document.id);
  }
  await base.documents.parse('t', dataset.id, added);
}
const store = await stores.openKnowledge();
const isOver = async (): Promise<boolean> => {
  const query = { runs: ['RUNNING'], offset: 0, limit: 1, orderBy: 'name', descending: false } as const;
  return (await store.listDocuments('t', query)).total === 0;
};
const tell = (line: string): boolean => process.stdout.write(`${line}\n`);
if (await isOver()) tell('DONE');
runIngestions({ parts: base.parts }).subscribe(({ step, run }) => {
  if (run === 'RUNNING') tell(`${run} ${step}`);
  // Also behind a document that failed, for it may have been the last.
  else void isOver().then((over) => tell(over ? 'DONE' : 'RUNNING next'));
});
