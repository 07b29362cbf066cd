/** A knowledge base with some documents, and the builds of its graph. */
import { firstValueFrom, of, Subject, type Subscription } from 'rxjs';
import { filter, take } from 'rxjs/operators';
import { onTestFinished } from 'vitest';
import { createGraphBuilds, type GraphBuildsOptions } from '../../../src/ingestion/graph/run-builds.js';
import type { KnowledgeBaseOptions } from '../../../src/knowledge/base/knowledge-base.js';
import { type BuildRequest, buildRequestSchema } from '../../../src/knowledge/graph/build/build-options.js';
import { toldBuild } from '../../../src/knowledge/graph/build/graph-builds.js';
import type { ChatDelta, ChatModel, ChatRequest } from '../../../src/models/chat-model.js';
import { newBase, TENANT } from '../../knowledge/base/support/new-base.js';

/** Documents about an invented company, one chunk each. */
export const TEXTS: Readonly<Record<string, string>> = {
  'Orion.md': 'Orion uses Kafka. Orion was written by Ada Lenz.',
  'Ada Lenz.md': 'Ada Lenz lives in Port Soller. She also wrote the Lyra Scheduler.',
  'Port Soller.md': 'Port Soller is a town by the sea. The Lyra Scheduler depends on Redis.',
  'Kafka.md': 'Kafka does not use Redis.',
};

export async function openBuilds(options: Partial<GraphBuildsOptions> = {}, made: Partial<KnowledgeBaseOptions> = {}) {
  const kit = newBase({ graphs: 'here', ...made });
  kit.start();
  const dataset = await kit.dataset();
  for (const [name, text] of Object.entries(TEXTS)) await kit.ingest(dataset, name, text);
  const errors: unknown[] = [];
  const builds = createGraphBuilds({
    parts: kit.base.parts,
    graphs: kit.base.graphs,
    onError: (error) => errors.push(error),
    ...options,
  });
  const running: Subscription[] = [];
  onTestFinished(() => {
    for (const one of running) one.unsubscribe();
    if (errors.length > 0) throw errors[0];
  });
  const request = (given: Partial<BuildRequest> = {}): BuildRequest => buildRequestSchema.parse(given);
  /** How the build in line ends. @param begin what puts one in line once builds are run */
  const ended = async (begin: () => Promise<unknown> = async () => {}) => {
    const ended$ = new Subject<void>();
    const over = firstValueFrom(ended$);
    running.push(
      builds
        .run()
        .pipe(
          filter(({ progress }) => progress.finishedAt !== null),
          take(1),
        )
        .subscribe(() => ended$.next()),
    );
    await begin();
    await over;
    const found = await builds.find(TENANT, dataset);
    if (found === undefined) throw new Error('The build is gone.');
    return toldBuild(found);
  };
  const build = (given: Partial<BuildRequest> = {}) => ended(() => builds.start(TENANT, dataset, request(given)));
  return { ...kit, dataset, builds, build, ended, request };
}

/** What a model is asked, and what it answers: a value becomes JSON. */
export function scriptedModel(answer: (name: string, input: never) => unknown) {
  const asked: { readonly name: string; readonly input: Record<string, unknown> }[] = [];
  const model: ChatModel = {
    chat(request: ChatRequest) {
      const content = request.messages.at(-1)?.content;
      const input = JSON.parse(typeof content === 'string' ? content : '{}') as Record<string, unknown>;
      const name = request.jsonSchema?.name ?? '';
      asked.push({ name, input });
      const given = answer(name, input as never);
      const text = typeof given === 'string' ? given : JSON.stringify(given);
      return of({ type: 'text', text } as unknown as ChatDelta);
    },
  };
  return { asked, chat: () => ({ model, name: 'reader', supportsImages: false, contextLength: undefined }) };
}
