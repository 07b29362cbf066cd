/** How a research is asked for: as the form has it, as the address has it, and as the server takes it. */
import { isJsonObject, type Json, type JsonObject } from '../../../src/json.js';
import type { QueryChange } from '../../parts/location.js';

export const DEPTHS = ['quick', 'normal', 'deep'] as const;
export type DepthName = (typeof DEPTHS)[number];

export const OUTPUTS = ['answer', 'table', 'briefing', 'overview'] as const;
export type Output = (typeof OUTPUTS)[number];

/** Limits of a research, by the names of the API. */
export const LIMITS = ['tokens', 'calls', 'web_requests', 'money', 'ms'] as const;
export type Limit = (typeof LIMITS)[number];

export interface StartSettings {
  /** Ids; empty: all. */
  readonly datasets: readonly string[];
  readonly depth: DepthName;
  readonly web: boolean;
  readonly plan: boolean;
  /** The plan waits to be approved. */
  readonly approve: boolean;
  /** It may ask what the question means. */
  readonly clarify: boolean;
  readonly output: Output;
  /** Empty: the default model. */
  readonly model: string;
  /** What is left out is as the depth says. */
  readonly budget: Readonly<Partial<Record<Limit, number>>>;
}

export const FIRST_SETTINGS: StartSettings = {
  ...{ datasets: [], depth: 'normal', web: false, plan: false, approve: true, clarify: false },
  ...{ output: 'answer', model: '', budget: {} },
};

/** The body of the request, without the question. */
export function requestOf({ datasets, depth, web, plan, approve, clarify, output, model, budget }: StartSettings) {
  const body: JsonObject = {
    ...(datasets.length > 0 && { dataset_ids: datasets }),
    depth,
    web,
    ...(plan ? { plan, approve, clarify, output } : { plan: false }),
    ...(model !== '' && { llm_id: model }),
    ...(Object.keys(budget).length > 0 && { budget: { ...budget } as JsonObject }),
  };
  return body;
}

/** What a research was asked with, as its log has it. */
export function settingsOfRequest(given: JsonObject): StartSettings {
  const { dataset_ids: datasets, depth, web, plan, approve, clarify, output, llm_id: model, budget } = given;
  const wantsPlan = isJsonObject(plan) || approve === true || clarify === true || typeof output === 'string';
  return {
    datasets: Array.isArray(datasets) ? datasets.filter((id: Json): id is string => typeof id === 'string') : [],
    depth: DEPTHS.find((one) => one === depth) ?? FIRST_SETTINGS.depth,
    web: web === true,
    plan: typeof plan === 'boolean' ? plan : wantsPlan,
    approve: approve === true,
    clarify: typeof clarify === 'boolean' ? clarify : approve === true,
    output: OUTPUTS.find((one) => one === output) ?? FIRST_SETTINGS.output,
    model: typeof model === 'string' ? model : '',
    budget: limitsOf((name) => (isJsonObject(budget) ? budget[name] : undefined)),
  };
}

const FLAGS = ['web', 'plan', 'approve', 'clarify'] as const;

/** The settings as values of an address; what is as in the beginning is left out. */
export function queryOf(question: string, settings: StartSettings): QueryChange {
  const { datasets, depth, output, model, budget } = settings;
  const flags = FLAGS.filter((name) => settings[name] !== FIRST_SETTINGS[name]);
  return {
    question,
    datasets: datasets.join(',') || undefined,
    depth: depth === FIRST_SETTINGS.depth ? undefined : depth,
    output: output === FIRST_SETTINGS.output ? undefined : output,
    model: model || undefined,
    ...Object.fromEntries(flags.map((name) => [name, settings[name] ? 'yes' : 'no'])),
    ...budget,
  };
}

/** The address of a form that is filled with them. */
export function againAddress(question: string, settings: StartSettings): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(queryOf(question, settings))) {
    if (value !== undefined) query.set(name, String(value));
  }
  return `/research?${query}`;
}

export function readSettings(query: URLSearchParams): StartSettings {
  const flags = FLAGS.map((name) => {
    const value = query.get(name);
    return [name, value === null ? FIRST_SETTINGS[name] : value === 'yes'] as const;
  });
  return {
    ...FIRST_SETTINGS,
    ...Object.fromEntries(flags),
    datasets: (query.get('datasets') ?? '').split(',').filter(Boolean),
    depth: DEPTHS.find((one) => one === query.get('depth')) ?? FIRST_SETTINGS.depth,
    output: OUTPUTS.find((one) => one === query.get('output')) ?? FIRST_SETTINGS.output,
    model: query.get('model') ?? '',
    budget: limitsOf((name) => (query.has(name) ? Number(query.get(name)) : undefined)),
  };
}

function limitsOf(limitOf: (name: Limit) => unknown): StartSettings['budget'] {
  const given = LIMITS.flatMap((name): [Limit, number][] => {
    const value = limitOf(name);
    return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? [[name, value]] : [];
  });
  return Object.fromEntries(given);
}
