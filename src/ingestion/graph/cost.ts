/** What a build will take, before anything starts. */
import type { BaseParts } from '../../knowledge/base/parts.js';
import type { BuildRequest } from '../../knowledge/graph/build/build-options.js';
import type { BuildCost } from '../../knowledge/graph/build/graph-builds.js';
import type { ExtractByRules } from '../../knowledge/graph/rules/extract-by-rules.js';
import type { VersionedRules } from '../../knowledge/graph/rules/own-rules.js';
import type { ChatChoice } from '../../models/router.js';
import type { ChunkRecord } from '../../records/knowledge.js';
import type { TokenPrice } from './build-work.js';
import { EXPECTED_ANSWER, promptTokens } from './extract-by-model.js';

/** What is estimated. */
export interface CostQuestion {
  readonly tenant: string;
  readonly datasetId: string;
  readonly layers: BuildRequest['layers'];
  readonly model: ChatChoice | undefined;
  readonly price: TokenPrice | undefined;
}

/** Chunks of one look, whose prompts are counted one by one. */
const LOOK = 200;
/** Milliseconds that rules take for a chunk, and a model for one; calls that run at once. */
const RULES_MS = 1;
const CALL_MS = 3_000;
const CONCURRENT_CALLS = 4;

/** Counts the prompts of the chunks that a model has not read; rules take time alone. */
export async function estimateCost(
  parts: BaseParts,
  { read: rules, version }: VersionedRules,
  question: CostQuestion,
): Promise<BuildCost> {
  const { tenant, datasetId, layers, model, price } = question;
  const asks = layers.includes('model') && model !== undefined;
  const wanted = asks ? { layer: 'model', version: `1 ${model.name}` } : { layer: layers[0] ?? 'rules', version };
  let [chunks, prompt] = [0, 0];
  let after: string | undefined;
  for (;;) {
    const some = await parts.store.chunksWithoutContribution(tenant, datasetId, wanted, after, LOOK);
    chunks += some.length;
    if (asks) prompt += some.reduce((sum, chunk) => sum + promptOf(chunk, rules), 0);
    after = some.at(-1)?.id;
    if (some.length < LOOK) break;
  }
  const completion = asks ? chunks * EXPECTED_ANSWER : 0;
  const known = price && (prompt * price.prompt + completion * price.completion) / 1e6;
  return {
    ...{ chunks, calls: asks ? chunks : 0, prompt_tokens: prompt, completion_tokens: completion },
    money: asks ? (known ?? null) : 0,
    ms: chunks * RULES_MS * layers.length + (asks ? (chunks * CALL_MS) / CONCURRENT_CALLS : 0),
    model: model?.name ?? null,
  };
}

function promptOf({ text }: ChunkRecord, rules: ExtractByRules): number {
  const known = [...new Set(rules(text).mentions.map(({ name }) => name))].slice(0, 20);
  return promptTokens({ text, entityTypes: [], known });
}
