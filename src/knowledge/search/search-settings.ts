import { EngineError } from '../../errors.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import { requireObject } from '../../operators/invalid-option.js';
import type { Bm25Options } from './bm25.js';
import type { Rm3Options } from './features.js';
import { DEFAULT_WEIGHTS, type FeatureWeights, type FusionKind } from './fusion.js';

/** How far links are followed. */
export interface LinkSettings {
  /** What is added to the score of a passage that the best link to, whole. @default 0.5 */
  readonly weight: number;
  /** What is added to the score of a passage whose name is in the question. @default 0 */
  readonly named: number;
  /** Times that links are followed, each from the best passages of the time before; 1 to 4. @default 1 */
  readonly hops: number;
}

/** How an index is searched. */
export interface SearchSettings {
  readonly bm25: Bm25Options;
  readonly rm3: Rm3Options;
  readonly weights: FeatureWeights;
  /** `none` gives the list of BM25. @default 'weighted' */
  readonly fusion: FusionKind | 'none';
  /** Passages by words, and by the widened question, that all features are computed for. @default 200 */
  readonly candidates: number;
  /** Passages by words whose vectors of a model are compared. @default 1,000 */
  readonly denseCandidates: number;
  /** Whether passages one mention away fill places behind the first two. @default true */
  readonly linkGraph: boolean;
  readonly links: LinkSettings;
  /** Whether passages that hold the question in an example alone are lowered. @default true */
  readonly examplePenalty: boolean;
  /** Whether terms are looked up in the table of translations. @default true */
  readonly expandTerms: boolean;
}

/** What is used unless something else is said; measured, see docs/search.md. */
export const DEFAULT_SETTINGS: SearchSettings = {
  bm25: { k1: 1.2, b: 0.6 },
  rm3: { passages: 10, terms: 30, share: 0.5 },
  weights: DEFAULT_WEIGHTS,
  fusion: 'weighted',
  candidates: 200,
  denseCandidates: 1_000,
  linkGraph: true,
  links: { weight: 0.5, named: 0, hops: 1 },
  examplePenalty: true,
  expandTerms: true,
};

const FUSIONS: readonly string[] = ['weighted', 'reciprocalRank', 'features', 'none'];

/** Largest whole number of a setting, and of hops. */
const MAX_COUNT = 10_000;
const MAX_HOPS = 4;

/**
 * Settings as JSON gives them, laid over the defaults.
 *
 * @throws EngineError OPTION_INVALID naming the setting that is unknown or has a value that is not allowed.
 */
export function readSearchSettings(given: JsonObject): SearchSettings {
  requireObject('readSearchSettings', 'settings', given);
  return overlay('', DEFAULT_SETTINGS as unknown as JsonObject, given) as unknown as SearchSettings;
}

function overlay(path: string, defaults: JsonObject, given: JsonObject): JsonObject {
  const result: Record<string, Json> = { ...defaults };
  for (const [name, value] of Object.entries(given)) {
    const own = Object.hasOwn(defaults, name) ? defaults[name] : undefined;
    const at = `${path}${name}`;
    if (own === undefined) throw refuse(at, `one of ${Object.keys(defaults).join(', ')}`, name);
    if (isJsonObject(own)) {
      if (!isJsonObject(value)) throw refuse(at, 'an object', value);
      result[name] = overlay(`${at}.`, own, value);
    } else result[name] = checked(at, own, value);
  }
  return result;
}

function checked(at: string, own: Json, value: Json | undefined): Json {
  if (typeof own === 'boolean') {
    if (typeof value === 'boolean') return value;
    throw refuse(at, 'true or false', value);
  }
  if (typeof own === 'string') {
    if (typeof value === 'string' && FUSIONS.includes(value)) return value;
    throw refuse(at, `one of ${FUSIONS.join(', ')}`, value);
  }
  const isCount = /(?:andidates|passages|terms|hops)$/.test(at);
  const isShare = at === 'bm25.b' || at === 'rm3.share';
  const most = at === 'links.hops' ? MAX_HOPS : isCount ? MAX_COUNT : isShare ? 1 : 100;
  const isFine = typeof value === 'number' && value >= (isCount ? 1 : 0) && value <= most;
  if (isFine && (!isCount || Number.isInteger(value))) return value;
  throw refuse(at, `a ${isCount ? 'whole ' : ''}number from ${isCount ? 1 : 0} to ${most}`, value);
}

function refuse(setting: string, allowed: string, received: Json | undefined): EngineError {
  const shown = JSON.stringify(received)?.slice(0, 200);
  return new EngineError('OPTION_INVALID', `search: "${setting}" must be ${allowed}; received ${shown}.`);
}
