/** What users call the terms of a dataset otherwise. */
import type { DatasetRecord } from '../../../records/knowledge.js';

/** Names of the terms of a dataset, each with one of its aliases. */
export function aliasesOfTerms({
  graphRules,
}: Pick<DatasetRecord, 'graphRules'>): readonly (readonly [name: string, alias: string])[] {
  const terms = graphRules?.terms ?? [];
  return terms.flatMap(({ name, aliases }) => aliases.map((alias) => [name, alias] as const));
}
