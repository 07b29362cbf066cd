/** Stage 6 of a served chat: which channels a question needs. */
import { createHash } from 'node:crypto';
import { catchError, forkJoin, map, type Observable, of } from 'rxjs';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import type { KnowledgeHits } from '../../knowledge/base/retrieval.js';
import type { Intent } from '../intents/intent.js';
import type { Memory } from '../memory/load-memory.js';
import type { Evidence } from '../pipeline/chat-events.js';
import type { RetrievalInput } from '../pipeline/chat-ports.js';
import { type EvidenceChannel, gatherEvidence } from '../stages/gather-evidence.js';
import type { Rewritten } from '../stages/rewrite-query.js';
import type { StageResult } from '../stages/stage-result.js';
import { GRAPH_CHANNEL, graphBehindSecond, graphChannel } from './graph-channel.js';
import { type KnowledgeSource, knowledgeChannels, questionsOf, type WeightedQuestion } from './knowledge-channels.js';
import type { ChatStagesOptions } from './stages-options.js';

/** What stage 6 is given. */
export type EvidenceInput = RetrievalInput<Memory, Rewritten, readonly Intent[]>;

/** What channels are made from. */
export type EvidenceOptions = Pick<ChatStagesOptions, 'settings' | 'knowledge' | 'callTool'>;

/** Name of the tool that is a search of the chat's own datasets. */
const LOOK_UP = 'knowledge_lookup';
/** UTF-16 units of a tool's result. */
const MAX_RESULT = 20_000;

/** What is searched; undefined where nothing is. */
export function searchedBy({ settings, knowledge }: Omit<EvidenceOptions, 'callTool'>): KnowledgeSource | undefined {
  const { mode, datasetIds } = settings;
  const isSearched = mode !== 'MCP' && mode !== 'SYSTEM' && datasetIds?.length !== 0;
  return knowledge !== undefined && isSearched ? { knowledge, settings } : undefined;
}

/** Whether the answer needs documents. */
export function wantsDocuments(intents: readonly Intent[], options: Omit<EvidenceOptions, 'callTool'>): boolean {
  if (searchedBy(options) === undefined) return false;
  return options.settings.mode === 'HYBRID' || intents.some((intent) => intent.kind === 'KB' || isLookUp(intent));
}

/** Whether the answer needs tools. */
export function wantsTools(intents: readonly Intent[]): boolean {
  return intents.some((intent) => intent.kind === 'MCP' && !isLookUp(intent) && intent.missing === undefined);
}

/**
 * Asks the datasets and the tools that the intents name, within one time. `early$` is taken over when the datasets are asked; else it is not subscribed
 * to. Where datasets have a graph, what it leads to comes behind the second. `detail`: `channels`, and `processors` (what each step behind the search left).
 */
export function findEvidence(
  input: EvidenceInput,
  early$: Observable<KnowledgeHits | undefined>,
  options: EvidenceOptions,
): Observable<StageResult<readonly Evidence[]>> {
  const { turn, intents } = input;
  const source = searchedBy(options);
  const processors: JsonObject[] = [];
  const documents =
    source !== undefined && wantsDocuments(intents, options)
      ? knowledgeChannels({
          ...source,
          questions: questionsFor(input),
          asked: turn.message,
          early$,
          report: (step) => void processors.push(step),
        })
      : [];
  let isGraphAsked = false;
  const graph =
    source !== undefined && documents.length > 0
      ? graphChannel({
          ...source,
          question: turn.message,
          found$: forkJoin(documents.map(({ find$ }) => find$)).pipe(
            map((found) => found.flat()),
            // Its failure is that of its own channels.
            catchError(() => of([])),
          ),
          asked: () => {
            isGraphAsked = true;
          },
        })
      : undefined;
  const tools = intents.flatMap((intent) =>
    intent.kind === 'MCP' && !isLookUp(intent) && intent.missing === undefined ? [toolChannel(intent, options)] : [],
  );
  return gatherEvidence({ channels: [...documents, ...(graph === undefined ? [] : [graph]), ...tools] }).pipe(
    map((gathered) => ({
      ...gathered,
      value: graphBehindSecond(gathered.value),
      detail: { ...withoutUnasked(gathered.detail, isGraphAsked), processors },
    })),
  );
}

/** What is told of the channels; of the graph only where it was asked. */
function withoutUnasked(detail: JsonObject, isGraphAsked: boolean): JsonObject {
  const { channels } = detail;
  if (isGraphAsked || !Array.isArray(channels)) return detail;
  const isTold = (one: Json): boolean => !isJsonObject(one) || one.name !== GRAPH_CHANNEL;
  return { ...detail, channels: channels.filter(isTold) };
}

/** The parts of the message that are for documents, where it asks for several things; else its rewrites. */
function questionsFor({ turn, rewrites, intents }: EvidenceInput): readonly WeightedQuestion[] {
  const parts = intents.flatMap((intent): string[] => {
    if (isLookUp(intent) && typeof intent.args?.query === 'string') return [intent.args.query];
    return intent.kind === 'KB' && intent.text !== undefined ? [intent.text] : [];
  });
  if (parts.length > 0) return parts.map((text) => ({ text, weight: 1 }));
  return questionsOf(turn.message, rewrites.rewrites);
}

/** A tool as a channel: its result is one source. */
function toolChannel({ tool = '', args = {} }: Intent, { callTool }: EvidenceOptions): EvidenceChannel {
  return {
    name: tool,
    args,
    find$: callTool(tool, args).pipe(
      map(({ text, outputs }) => {
        const content = (text === '' ? JSON.stringify(outputs) : text).slice(0, MAX_RESULT);
        const id = createHash('sha256')
          .update(JSON.stringify([tool, args]))
          .digest('hex')
          .slice(0, 16);
        return [{ id: `${tool}:${id}`, type: 'mcp', source: tool, text: content, tool, args } as const];
      }),
    ),
  };
}

function isLookUp({ tool }: Intent): boolean {
  return tool === LOOK_UP;
}
