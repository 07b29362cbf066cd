/** Terms and patterns that users add to the rules of a dataset: what they may be, and what is wrong with those that may not. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { DatasetRecord } from '../../../records/knowledge.js';
import type { KnowledgeStore } from '../../../records/knowledge-store.js';
import { MAX_NAME } from '../facts.js';
import { Problems, UNWRITABLE } from '../given/problems.js';
import { RULES_VERSION } from '../graph-session.js';
import { nameKey } from '../names/name-forms.js';
import { createRules, type ExtractByRules } from './extract-by-rules.js';
import { compilePattern, findByPatterns, type OwnPattern } from './own-patterns.js';
import type { TechnicalTerm } from './technical-terms.js';

/** What users add to the rules of a dataset. */
export interface OwnRules {
  readonly terms: readonly TechnicalTerm[];
  readonly patterns: readonly OwnPattern[];
}

/** Rules with what tells them apart: what other rules read is read again. */
export interface VersionedRules {
  readonly read: ExtractByRules;
  readonly version: string;
}

const MAX_TERMS = 2_000;
const MAX_ALIASES = 50;
const MAX_PATTERNS = 100;
const MAX_TYPE = 100;

const givenSchema = z.strictObject({
  terms: z
    .array(z.strictObject({ name: z.string(), type: z.string(), aliases: z.array(z.string()).default([]) }))
    .default([]),
  patterns: z.array(z.strictObject({ pattern: z.string(), relation: z.string() })).default([]),
});

/**
 * Reads rules; names lose the blanks around them, relations have `_` in place of blanks.
 *
 * @throws EngineError BAD_REQUEST with the place of each problem, 20 at most
 */
export async function readOwnRules(given: unknown): Promise<OwnRules> {
  const problems = new Problems('The rules cannot be taken:');
  const { data, error } = givenSchema.safeParse(given);
  for (const { path, message } of error?.issues ?? []) problems.add(z.core.toDotPath(path) || 'rules', message);
  problems.throwIfAny();
  const { terms, patterns } = data ?? { terms: [], patterns: [] };
  if (terms.length > MAX_TERMS) problems.add('terms', `${terms.length} of them; at most ${MAX_TERMS} are taken`);
  if (patterns.length > MAX_PATTERNS)
    problems.add('patterns', `${patterns.length} of them; at most ${MAX_PATTERNS} are taken`);
  problems.throwIfAny();
  const read = terms.map((term, at) => termOf(term, `terms[${at}]`, problems));
  refuseTwice(read, problems);
  const own: OwnPattern[] = [];
  for (const [at, { pattern, relation: written }] of patterns.entries()) {
    const relation = checkedName(written, MAX_TYPE, `patterns[${at}].relation`, problems).replace(/\s+/g, '_');
    const { problem } = await compilePattern(pattern);
    if (problem !== undefined) problems.add(`patterns[${at}].pattern`, problem);
    own.push({ pattern, relation });
  }
  problems.throwIfAny();
  return { terms: read, patterns: own };
}

/** The rules of a dataset: those of the package and its own. */
export async function rulesOfDataset({ graphRules }: Pick<DatasetRecord, 'graphRules'>): Promise<VersionedRules> {
  const { terms, patterns } = (graphRules ?? NONE) as OwnRules;
  if (terms.length === 0 && patterns.length === 0) return { read: createRules(), version: RULES_VERSION };
  const found = await findByPatterns(patterns);
  return { read: createRules({ terms, patterns: found }), version: versionOf({ terms, patterns }) };
}

/** Chunks that are looked at in one statement. */
const LOOKS = 500;

const NONE: OwnRules = { terms: [], patterns: [] };

/** Whether chunks are there that the rules of their dataset, as they are now, have not read. */
export async function isToBuild(store: KnowledgeStore, tenant: string, dataset: DatasetRecord): Promise<boolean> {
  const { version } = await rulesOfDataset(dataset);
  let after: string | undefined;
  do {
    const looked = await store.chunksWithoutContribution(tenant, dataset.id, { layer: 'rules', version }, after, LOOKS);
    if (looked.chunks.length > 0) return true;
    after = looked.next;
  } while (after !== undefined);
  return false;
}

function versionOf(rules: OwnRules): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([rules.terms, rules.patterns]))
    .digest('hex');
  return `${RULES_VERSION} ${digest.slice(0, 24)}`;
}

function termOf({ name, type, aliases }: Required<TechnicalTerm>, at: string, problems: Problems): TechnicalTerm {
  if (aliases.length > MAX_ALIASES)
    problems.add(`${at}.aliases`, `${aliases.length} of them; at most ${MAX_ALIASES} are taken`);
  return {
    name: checkedName(name, MAX_NAME, `${at}.name`, problems),
    type: checkedName(type, MAX_TYPE, `${at}.type`, problems),
    aliases: aliases
      .slice(0, MAX_ALIASES)
      .map((alias, place) => checkedName(alias, MAX_NAME, `${at}.aliases[${place}]`, problems)),
  };
}

function checkedName(given: string, most: number, at: string, problems: Problems): string {
  const name = given.trim();
  if (name === '') problems.add(at, 'it is empty');
  else if (name.length > most) problems.add(at, `it has ${name.length} characters; at most ${most} are taken`);
  else if (UNWRITABLE.test(name)) problems.add(at, 'it holds a control character, or half of a character');
  return name;
}

/** A name, or another one of a term, belongs to one term. */
function refuseTwice(terms: readonly TechnicalTerm[], problems: Problems): void {
  const owners = new Map<string, number>();
  for (const [at, { name, aliases = [] }] of terms.entries()) {
    for (const [place, written] of [name, ...aliases].entries()) {
      const key = nameKey(written);
      const owner = owners.get(key) ?? at;
      owners.set(key, owner);
      const field = place === 0 ? 'name' : `aliases[${place - 1}]`;
      if (owner !== at) problems.add(`terms[${at}].${field}`, `"${written}" is a name of terms[${owner}], too`);
    }
  }
}
