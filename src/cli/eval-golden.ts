/** `runnel eval golden.jsonl`: how well chats answer questions about documents. */
import path from 'node:path';
import { map, type Observable, scan, takeWhile, toArray } from 'rxjs';
import { type Canvas, loadCanvas } from '../canvas/load-canvas.js';
import type { GoldenQuestion } from '../chat/evaluation/golden-file.js';
import { type GoldenEnd, type GoldenResult, goldenResult } from '../chat/evaluation/golden-result.js';
import { type Judge, judgeAnswer, judgeOf } from '../chat/evaluation/judge-answer.js';
import { chatDocument } from '../chat/service/chat-document.js';
import type { Services } from '../components/services.js';
import { EngineError } from '../errors.js';
import type { JsonObject } from '../json.js';
import type { IngestionProgress } from '../knowledge/base/ingestion-hub.js';
import { createKnowledgeSearch } from '../knowledge/base/search-datasets.js';
import { syncFolder } from '../knowledge/base/sync-folder.js';
import { createMemoryIndexStorage } from '../knowledge/search/memory-index-storage.js';
import { firstValue } from '../operators/from-abortable.js';
import { LOCAL_TENANT } from '../settings/access.js';
import { createMemoryFiles } from '../stores/memory-files.js';
import { createMemoryKnowledge } from '../stores/memory-knowledge.js';
import { askGolden } from '../transport/chat/ask-golden.js';
import { openKnowledge } from './open-knowledge.js';
import { openServices, type ServiceSettings } from './open-services.js';
import { docsSeed } from './seed-datasets.js';

/** What a golden file is asked of. */
export interface GoldenOptions {
  readonly settings: ServiceSettings;
  readonly env: NodeJS.ProcessEnv;
  /** Files and folders with the documents. @default the pages of this package */
  readonly documents: readonly string[];
  /** Model that judges the answers; empty: the default. @default none judges */
  readonly judge?: string | undefined;
  readonly signal: AbortSignal;
  readonly onProgress: (step: 'documents' | 'questions' | 'judgements', done: number, all: number) => void;
  /** Takes lines about what is amiss. */
  readonly remark: (line: string) => void;
}

/** Documents that can be asked about. */
export interface GoldenBase {
  /** Asks every question in a chat of its own, one after the other; then the judge, where there is one. @param params of the node Chat */
  ask(questions: readonly GoldenQuestion[], params: JsonObject): Promise<GoldenResult>;
  close(): Promise<void>;
}

/** Puts documents into a knowledge base in memory. @throws EngineError USAGE for a path that cannot be read, INGEST_FAILED for a document that cannot */
export async function openGolden(options: GoldenOptions): Promise<GoldenBase> {
  const { settings, env, signal, onProgress, remark } = options;
  const services = await openServices(settings, { env });
  try {
    const judge = options.judge === undefined ? undefined : judgeOf(services.models, options.judge);
    const stores = {
      files: createMemoryFiles(),
      openKnowledge: async () => createMemoryKnowledge(),
      openIndexStorage: async () => createMemoryIndexStorage(),
    };
    const warn = (_: object, message: string): void => remark(`warning: ${message}`);
    const log = { info: () => {}, warn, error: warn };
    const knowledge = await openKnowledge(stores, services, { log, termsFile: settings.nodes.termsFile });
    const { base } = knowledge;
    const { dataset } = await base.datasets.create(LOCAL_TENANT, { name: 'documents' });
    const queued = new Set<string>();
    const paths = options.documents.length === 0 ? docsSeed().paths : options.documents.map((one) => path.resolve(one));
    for (const one of paths) {
      const synced = await syncFolder(base, { tenant: LOCAL_TENANT, datasetId: dataset.id, path: one, signal });
      for (const id of synced.queued) queued.add(id);
    }
    if (queued.size === 0)
      throw new EngineError('USAGE', `Cannot evaluate: there are no documents in ${paths.join(', ')}.`);
    await firstValue(parsed(knowledge.ingestions(), queued, onProgress), signal);
    const chatting: Services = {
      ...services,
      knowledge: createKnowledgeSearch(async () => base, LOCAL_TENANT),
    };
    return {
      async ask(questions, params) {
        const ended = await askAll(questions, chatting, loadCanvas(chatDocument(params)), options);
        return judge === undefined
          ? goldenResult(ended)
          : goldenResult(await judgeAll(ended, judge, options), judge.by);
      },
      async close() {
        await base.parts.indexes.settled();
        await services.close();
      },
    };
  } catch (error) {
    await services.close();
    throw error;
  }
}

/** Emits once when all documents are parsed. */
function parsed(
  ingestions$: Observable<IngestionProgress>,
  queued: ReadonlySet<string>,
  onProgress: GoldenOptions['onProgress'],
): Observable<number> {
  return ingestions$.pipe(
    scan((done, { documentId, run, message }) => {
      if (run === 'FAIL') throw new EngineError('INGEST_FAILED', `Document "${documentId}" cannot be read: ${message}`);
      if (run !== 'DONE' || !queued.has(documentId)) return done;
      onProgress('documents', done + 1, queued.size);
      return done + 1;
    }, 0),
    takeWhile((done) => done < queued.size, true),
    toArray(),
    map((counts) => counts.length),
  );
}

async function askAll(
  questions: readonly GoldenQuestion[],
  services: Services,
  canvas: Canvas,
  { signal, onProgress }: GoldenOptions,
): Promise<readonly GoldenEnd[]> {
  const ended: GoldenEnd[] = [];
  for (const question of questions) {
    signal.throwIfAborted();
    const end = await firstValue(askGolden(canvas, question, { services, signal }), signal);
    ended.push({ question, end });
    onProgress('questions', ended.length, questions.length);
  }
  return ended;
}

async function judgeAll(
  ended: readonly GoldenEnd[],
  judge: Judge,
  { signal, onProgress }: GoldenOptions,
): Promise<readonly GoldenEnd[]> {
  const judged: GoldenEnd[] = [];
  for (const one of ended) {
    const judgement = await firstValue(judgeAnswer(judge, one.question, one.end), signal);
    judged.push({ ...one, judgement });
    onProgress('judgements', judged.length, ended.length);
  }
  return judged;
}
