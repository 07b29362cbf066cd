/** Conditions on the metadata of documents, as RAGFlow's clients write them. */
import { EngineError } from '../../errors.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import {
  METADATA_OPERATORS,
  type MetadataCondition,
  type MetadataFilter,
  type MetadataOperator,
} from '../search/metadata-filter.js';

/**
 * Reads conditions as RAGFlow's clients write them: `{logic, conditions: [{name | key, comparison_operator | op, value}]}`, and those of the
 * tool Retrieval: `{method: 'manual', logic, manual: […]}`. Undefined without any condition.
 *
 * @throws EngineError BAD_REQUEST for conditions of another form or with an unknown operator.
 */
export function readMetadataFilter(given: JsonObject): MetadataFilter | undefined {
  const { method, logic, conditions, manual } = given;
  if (method === 'disabled' || method === '') return undefined;
  const list = conditions ?? manual ?? [];
  if (!Array.isArray(list)) throw malformed('conditions', list);
  const read = (list as readonly Json[]).map(readCondition);
  return read.length === 0 ? undefined : { logic: logic === 'or' ? 'or' : 'and', conditions: read };
}

/** Other ways to write an operator. */
const ALIASES: ReadonlyMap<string, MetadataOperator> = new Map([
  ['is', '='],
  ['==', '='],
  ['not is', '≠'],
  ['!=', '≠'],
  ['>=', '≥'],
  ['<=', '≤'],
  ...METADATA_OPERATORS.map((operator) => [operator, operator] as const),
]);

function readCondition(given: Json): MetadataCondition {
  if (!isJsonObject(given)) throw malformed('a condition', given);
  const name = given.name ?? given.key;
  const written = given.comparison_operator ?? given.operator ?? given.op ?? 'is';
  if (typeof name !== 'string' || typeof written !== 'string') throw malformed('a condition', given);
  const operator = ALIASES.get(written);
  if (operator === undefined) {
    const known = [...ALIASES.keys()].join(', ');
    throw new EngineError(
      'BAD_REQUEST',
      `"${written}" is no operator of a condition on metadata. There are: ${known}.`,
    );
  }
  return { name, operator, value: given.value ?? '' };
}

function malformed(what: string, given: unknown): EngineError {
  return new EngineError(
    'BAD_REQUEST',
    `A filter by metadata is {"logic": "and", "conditions": [{"name": …, "comparison_operator": …, "value": …}]}; received as ${what}: ${JSON.stringify(given)?.slice(0, 200)}.`,
  );
}
