import type { JsonObject } from '../../json.js';
import { renderHandlebars } from '../../templates/template.js';

const SCHEMA = `Answer with one JSON object and nothing else: no introduction, no explanation, no code fence.
It must fit this JSON schema:
{{schema}}`;

const REPAIR =
  'That is not a JSON object that fits the schema. Give the same answer again as one JSON object and nothing else.';

/** Asks for an answer that is an object of `schema`; goes behind the system prompt. */
export function structuredPrompt(schema: JsonObject): string {
  return renderHandlebars(SCHEMA, { schema: JSON.stringify(schema, null, 2) }, { noEscape: true });
}

/** Said after an answer that could not be read as an object. */
export function repairPrompt(): string {
  return REPAIR;
}
