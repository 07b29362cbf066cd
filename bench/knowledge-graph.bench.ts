/**
 * Graphs of datasets: building, changing, searching, and what runs feel of it, with the embedded database and the thread of graphs: `npm run bench -- knowledge-graph`.
 *
 * The documents are an invented world, a passage each, in which films, people, companies and towns name one another.
 */
import { filter, firstValueFrom } from 'rxjs';
import { createGraphBuilds } from '../src/ingestion/graph/run-builds.js';
import { buildRequestSchema } from '../src/knowledge/graph/build/build-options.js';
import { findCommunities } from '../src/knowledge/graph/communities.js';
import { networkOf } from '../src/knowledge/graph/entity-network.js';
import type { GraphQuery, GraphSearchKind } from '../src/knowledge/graph/graph-search.js';
import { seededRandom } from '../src/knowledge/graph/seeded-random.js';
import { inventedWorld } from '../test/knowledge/graph/support/invented-world.js';
import { type EmbeddedBase, feltRows, openEmbeddedBase } from './embedded-base.js';
import { milliseconds, quantile, type Row } from './measure.js';

const PASSAGES = 6_000;
const QUESTIONS = 200;
const DELETED = 9;
/** Milliseconds of writes without a build. */
const ALONE_MS = 6_000;
/** Size of the graph whose communities are found. */
const NODES = 6_000;
const EDGES = 22_000;

/** Measures one process with its database; storing the documents takes about half a minute. */
export async function benchKnowledgeGraph(): Promise<readonly Row[]> {
  const world = inventedWorld(1, PASSAGES);
  const opened = await openEmbeddedBase();
  try {
    await opened.fill(
      world.documents.map(({ title, text }) => ({
        name: `${title.replaceAll('/', ' ')}.md`,
        content: new TextEncoder().encode(text),
      })),
    );
    await opened.during(1_000);
    const alone = await opened.during(ALONE_MS);
    const beside = await opened.during(() => built(opened));
    const questions = world.questions.map(({ text }) => text);
    const searches: Row[] = [];
    for (const kind of ['local', 'path', 'rank'] as const) searches.push(await searchRow(opened, kind, questions));
    return [
      { name: `links and rules of ${PASSAGES} passages, beside a run`, value: beside.seconds, unit: 's', bar: 15 },
      ...feltRows(beside, alone.written, 'a build'),
      ...searches,
      await deletionRow(opened),
      await communityRow(),
    ];
  } finally {
    await opened.close();
  }
}

async function built({ base, tenant, datasetId }: EmbeddedBase): Promise<void> {
  const builds = createGraphBuilds({ parts: base.parts });
  const over = firstValueFrom(builds.run().pipe(filter(({ progress }) => progress.finishedAt !== null)));
  await builds.start(tenant, datasetId, buildRequestSchema.parse({}));
  await over;
}

async function searchRow(
  { base, tenant, datasetId }: EmbeddedBase,
  kind: GraphSearchKind,
  questions: readonly string[],
): Promise<Row> {
  const { nodes } = await base.graphs.ask(tenant, datasetId, { kind: 'show', limit: 2 * QUESTIONS });
  const ask = async (at: number): Promise<number> => {
    const question = questions[at % questions.length] ?? '';
    const between = [nodes[at % nodes.length]?.name ?? '', nodes[(7 * at + 1) % nodes.length]?.name ?? ''] as const;
    const query: GraphQuery = { kind, question, datasetIds: [datasetId], ...(kind === 'path' && { between }) };
    const startedAt = performance.now();
    await base.graphs.search(tenant, query, new AbortController().signal);
    return performance.now() - startedAt;
  };
  // The first one loads the graph.
  for (let at = 0; at < 10; at += 1) await ask(at);
  const taken: number[] = [];
  for (let at = 0; at < QUESTIONS; at += 1) taken.push(await ask(at));
  return { name: `${kind} search, 99th of ${QUESTIONS}`, value: quantile(taken, 0.99), unit: 'ms', bar: 100 };
}

/** From the deletion until the graph is asked without the document. */
async function deletionRow({ base, tenant, datasetId }: EmbeddedBase): Promise<Row> {
  const page = { offset: 0, limit: DELETED, orderBy: 'createdAt', descending: false } as const;
  const { items } = await base.documents.list(tenant, { ...page, datasetIds: [datasetId] });
  const taken: number[] = [];
  for (const { id } of items) {
    const startedAt = performance.now();
    await base.documents.delete(tenant, datasetId, [id]);
    await base.graphs.ask(tenant, datasetId, { kind: 'find', name: 'Night River' });
    taken.push(performance.now() - startedAt);
  }
  return { name: 'a document deleted, and its graph without it', value: quantile(taken, 0.5), unit: 'ms', bar: 100 };
}

async function communityRow(): Promise<Row> {
  const random = seededRandom(1);
  const entities = new Map(Array.from({ length: NODES }, (_, at) => [`e${at}`, {}]));
  // Two in three edges stay among a hundred neighbours, as those of a text about one thing do.
  const relations = Array.from({ length: EDGES }, () => {
    const source = Math.floor(random() * NODES);
    const isNear = random() < 2 / 3;
    const near = 100 * Math.floor(source / 100) + Math.floor(random() * 100);
    const target = isNear ? near : Math.floor(random() * NODES);
    return { source: `e${source}`, target: `e${target}`, weight: 1, isExplicit: true };
  }).filter(({ source, target }) => source !== target);
  const summed = { entities, relations } as unknown as Parameters<typeof networkOf>[0];
  const value = await milliseconds(() => findCommunities(networkOf(summed)), { rounds: 3, warmUpMs: 1 });
  return { name: `communities of ${NODES} entities and ${EDGES} relations`, value, unit: 'ms', bar: 1_000 };
}
