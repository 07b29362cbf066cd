import { from, type Observable } from 'rxjs';
import { isJsonObject, type Json, type JsonObject } from '../../../src/json.js';
import { type ChatDelta, type ChatModel, type ChatRequest, contentText } from '../../../src/models/chat-model.js';

/** What the model was asked, for a look afterwards. */
export interface Obliging {
  readonly model: ChatModel;
  readonly requests: ChatRequest[];
}

/**
 * A model for documents that nobody wrote for a test: it calls each tool that it is offered once, with arguments that fit the
 * schema, and then answers; where the system prompt speaks of SQL, with a query.
 */
export function obligingModel(values: JsonObject = {}): Obliging {
  const requests: ChatRequest[] = [];
  const model: ChatModel = {
    chat(request): Observable<ChatDelta> {
      requests.push(request);
      const { tools = [], messages } = request;
      const hasCalled = messages.some(({ role }) => role === 'tool');
      if (tools.length === 0 || hasCalled) return from(answerTo(request));
      const calls = tools.map(({ name, parameters }, index): ChatDelta => {
        const args = JSON.stringify(valueFor(parameters, '', values));
        return { type: 'tool-call', index, id: `call-${requests.length}-${index}`, name, arguments: args };
      });
      return from([...calls, { type: 'finish', reason: 'tool_calls' } as const]);
    },
  };
  return { model, requests };
}

function answerTo({ messages }: ChatRequest): ChatDelta[] {
  const system = messages.flatMap((one) => (one.role === 'system' ? [contentText(one.content)] : [])).join('\n');
  const text = /\bSQL\b/.test(system) ? 'SELECT 1 AS answer' : 'Here is what I found.';
  return [
    { type: 'text', text },
    { type: 'usage', promptTokens: 10, completionTokens: 5, totalTokens: 15 },
    { type: 'finish', reason: 'stop' },
  ];
}

/** A value of a JSON schema: what was given for the name, else its first choice, else something of its type. */
function valueFor(schema: Json | undefined, name: string, values: JsonObject): Json {
  if (Object.hasOwn(values, name)) return values[name] ?? null;
  if (!isJsonObject(schema)) return 'text';
  if (Array.isArray(schema.enum)) return schema.enum[0] ?? null;
  if (schema.default !== undefined) return schema.default;
  switch (schema.type) {
    case 'object': {
      const properties = isJsonObject(schema.properties) ? schema.properties : {};
      const required = Array.isArray(schema.required) ? schema.required : [];
      return Object.fromEntries(
        Object.entries(properties)
          .filter(([key]) => required.includes(key))
          .map(([key, value]) => [key, valueFor(value, key, values)]),
      );
    }
    case 'array':
      return [valueFor(schema.items, '', values)];
    case 'integer':
    case 'number':
      return 1;
    case 'boolean':
      return true;
    default:
      return 'open source retrieval';
  }
}
