/** Terms that mean the same, beside those of the package: of the server, and of datasets. */
import { z } from 'zod';
import { EngineError } from '../../errors.js';
import type { DatasetRecord } from '../../records/knowledge.js';
import type { TermTable } from '../search/expand-terms.js';
import { TERMS } from '../search/terms.js';

/** Pairs of one table at most, and UTF-16 units of a term. */
const MAX_PAIRS = 2_000;
const MAX_LENGTH = 100;

const term = z.string().trim().min(1).max(MAX_LENGTH);
const tableSchema = z.array(z.tuple([term, term])).max(MAX_PAIRS);

/**
 * Reads a table: pairs of terms that mean the same, such as `[["泵", "pump"]]`; at most 2,000, each of 1 to 100 characters.
 *
 * @param owner what the table belongs to, for the message
 * @throws EngineError BAD_REQUEST
 */
export function readTerms(value: unknown, owner: string): TermTable {
  const parsed = tableSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const at = issue === undefined || issue.path.length === 0 ? '' : ` at [${issue.path.map(String).join('][')}]`;
  const message = `${owner} are pairs of terms, such as [["泵", "pump"]], at most ${MAX_PAIRS}, each term of 1 to ${MAX_LENGTH} characters${at}: ${issue?.message}.`;
  throw new EngineError('BAD_REQUEST', message);
}

/** The table that questions to datasets are expanded by: that of the package, that of the server, and those of the datasets. */
export function termsFor(server: TermTable, datasets: readonly Pick<DatasetRecord, 'terms'>[]): TermTable {
  return [...TERMS, ...server, ...datasets.flatMap(({ terms = [] }) => terms)];
}
