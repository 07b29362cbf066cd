/** One question to a model that is answered by one JSON object. */
import { defer, map, type Observable } from 'rxjs';
import { EngineError } from '../../errors.js';
import type { JsonObject } from '../../json.js';
import { collectAnswer } from '../../models/collect-answer.js';
import { readArguments } from '../../tools/read-arguments.js';
import type { StageModel } from './stage-result.js';

/** What is asked. */
export interface JsonQuestion {
  /** Name of the schema, which tells servers what is asked for: `chat_rewrite`, `chat_intent`, `tool_arguments`. */
  readonly name: string;
  /** JSON schema of the answer. */
  readonly schema: JsonObject;
  /** What to do, for the model. */
  readonly task: string;
  /** The last message, as JSON. */
  readonly input: JsonObject;
  /** Tokens of the answer at most. @default 1,000 */
  readonly maxTokens?: number;
}

/** Tokens of an answer at most. */
const MAX_TOKENS = 1_000;

/**
 * Asks a model at temperature 0; emits its object once. JSON that nearly is some is repaired once. Cold: unsubscribing closes the connection.
 *
 * Errors: `MODEL_RESPONSE` for an answer that holds no object; those of the model.
 */
export function askForJson({ model, name: modelName }: StageModel, question: JsonQuestion): Observable<JsonObject> {
  const { name, schema, task, input, maxTokens = MAX_TOKENS } = question;
  return defer(() =>
    model.chat({
      model: modelName,
      messages: [
        { role: 'system', content: `${task}\nAnswer with one JSON object and nothing else.` },
        { role: 'user', content: JSON.stringify(input) },
      ],
      jsonSchema: { name, schema },
      sampling: { temperature: 0, maxTokens },
    }),
  ).pipe(
    collectAnswer(),
    map(({ text }) => objectIn(name, text)),
  );
}

/** The object in an answer, between its first and last brackets: models put words and fences around it. */
function objectIn(name: string, text: string): JsonObject {
  const start = text.indexOf('{');
  if (start !== -1) {
    const end = text.lastIndexOf('}');
    for (const part of [text.slice(start, end + 1), text.slice(start)]) {
      try {
        if (part !== '') return readArguments(name, part);
      } catch {
        // The rest may be an object that was cut.
      }
    }
  }
  const shown = JSON.stringify(text.slice(0, 100));
  throw new EngineError('MODEL_RESPONSE', `The model was asked for the JSON object "${name}" and answered ${shown}.`);
}
