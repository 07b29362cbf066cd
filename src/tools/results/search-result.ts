import type { Json } from '../../json.js';
import { type ToolResult, toolResult } from '../tool.js';
import { type Passage, referencesOf } from './references.js';

/** Outputs of every tool that searches. */
export const searchOutputs = {
  formalized_content: { type: 'string', description: 'What was found, as text for a model, each passage with its id.' },
  json: { type: 'array', description: 'What was found, as the source gave it.' },
} as const;

/** The result of a search: text and references from its passages, `json` as it came. */
export function searchResult(passages: readonly Passage[], json: Json): ToolResult {
  const { text, references } = referencesOf(passages);
  return toolResult(text, { formalized_content: text, json }, { references });
}

/** What a search gives that was asked nothing. */
export const NOTHING_FOUND: ToolResult = toolResult('', { formalized_content: '', json: [] });
