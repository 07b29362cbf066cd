import { catchError, concat, concatMap, defer, type Observable, throwError } from 'rxjs';
import { z } from 'zod';
import { artifactRecord } from '../adapters/tool-event.js';
import { type CallContext, contextOf } from '../agents/call-context.js';
import { renderValue } from '../dsl/render-value.js';
import { type InterpolateOptions, mapTexts, resolveParam } from '../dsl/resolve.js';
import { EngineError, toEngineError } from '../errors.js';
import { type NodeEvent, notice, settled } from '../graph/node-events.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import { requireMethods } from '../operators/invalid-option.js';
import { callTool, parametersSchema } from '../tools/call-tool.js';
import { entered } from '../tools/fields.js';
import { type AnyTool, namesOf, type Shape, type ToolCall, type ToolEvent, type ToolRetries } from '../tools/tool.js';
import { nodeParams, optionalJson } from './base-params.js';
import { registerReferences } from './chat/retrieval.js';
import { type AnyComponent, defineComponent } from './component.js';
import { createTextReader, referencedOutputs, type TextReader } from './values/text-reader.js';

/** Parameters that every tool has in a document. */
export const toolBaseParams = {
  max_retries: z
    .preprocess((given) => given || undefined, z.coerce.number().int().min(0).max(100).optional())
    .describe('Attempts after the first; default what suits the service.'),
  delay_after_error: z
    .preprocess(entered, z.coerce.number().min(0).max(86_400).default(2))
    .describe('Seconds between two attempts, where `max_retries` is set; default 2.'),
};

/**
 * Makes a tool a node type: arguments come from parameters of the same name, references in them replaced; what it found may be
 * cited from then on.
 *
 * Errors: those of {@link callTool}; `REFERENCE_UNRESOLVED` for a parameter that reads a node that does not exist.
 */
export function toolComponent(tool: AnyTool): AnyComponent {
  requireMethods('toolComponent', 'tool', tool, ['call'], 'a tool of the library');
  const [type, ...aliases] = namesOf(tool);
  const { summary, outputs, timeoutSeconds, primaryOutput = 'formalized_content', verbatim = [] } = tool;
  const own = tool.params as Shape;
  const resolved = Object.keys(tool.arguments as Shape).filter((name) => !verbatim.includes(name));
  return defineComponent<JsonObject>({
    type: type as string,
    aliases,
    summary,
    group: 'tools',
    thoughts: summary,
    params: nodeParams({ ...toolBaseParams, ...argumentFields(tool), ...own }) as unknown as z.ZodType<JsonObject>,
    outputs,
    primaryOutput,
    verbatim,
    timeoutSeconds,
    ...(tool.ownOutputs && { ownOutputs: (params: JsonObject) => tool.ownOutputs?.(params as never) ?? [] }),
    needs: (params) => referencedOutputs(textsOf(resolved.map((name) => params[name] ?? tool.nodeDefaults?.[name]))),
    check: (params) => tool.check?.(params as never) ?? [],
    advise: (params) => tool.advise?.(params as never) ?? [],
    create(params) {
      const schemas = schemasOf(tool);
      return (activation) => runTool(tool, params, schemas, contextOf(activation));
    },
  });
}

/** Arguments as parameters of a node: any value, and references. */
function argumentFields(tool: AnyTool): Record<string, z.ZodType> {
  const fields = Object.entries(tool.arguments as Shape).map(([name, schema]): [string, z.ZodType] => {
    const fallback = tool.nodeDefaults?.[name];
    const usual = fallback === undefined ? '' : ` Default: ${JSON.stringify(fallback)}.`;
    return [
      name,
      optionalJson.describe(
        `${schema.description ?? ''}${tool.verbatim?.includes(name) ? '' : ' May hold references.'}${usual}`,
      ),
    ];
  });
  return Object.fromEntries(fields);
}

function runTool(tool: AnyTool, params: JsonObject, schemas: JsonObject, context: CallContext): Observable<NodeEvent> {
  const reader = createTextReader(context);
  const call = toolCallOf(tool, params, context, reader);
  const args = argumentsOf(tool, params, schemas, resolving(context, reader));
  const result$ = callTool(tool, args, call).pipe(
    concatMap((event) => nodeEvents(event, context)),
    catchError((error: unknown) => throwError(() => withNode(error, context.node))),
  );
  return concat(
    defer(() => reader.warnings),
    result$,
  );
}

/** A document may have several nodes of the type, so the message says which one failed. */
function withNode(thrown: unknown, node: string): EngineError {
  const { code, message, retryable, details, cause } = toEngineError(thrown, 'TOOL_FAILED');
  return new EngineError(code, `Node "${node}": ${message}`, { node, retryable, details, cause });
}

/** What a tool sees of the place that calls it, its parameters read. */
export function toolCallOf(
  tool: AnyTool,
  params: JsonObject,
  context: CallContext,
  reader: Pick<TextReader, 'read'>,
): ToolCall<never> {
  const { verbatim = [], isRepeatable = true } = tool;
  const retries = isRepeatable ? retriesOf(params) : undefined;
  const read = (name: string, value: Json): Json =>
    typeof value === 'string' && !verbatim.includes(name) ? reader.read(value) : value;
  const own = Object.keys(tool.params as Shape).map((name): [string, Json] => [name, read(name, params[name] ?? null)]);
  return {
    params: Object.fromEntries(own) as never,
    services: context.services,
    source: context.source,
    key: context.token,
    trace: context.trace(),
    ...(retries === undefined ? {} : { retries }),
    now: context.now,
    random: context.random,
  };
}

/**
 * Arguments that a document sets for a tool of an agent, such as a filter; the model may pass others. What the call is about, and
 * scripts, are the model's alone: documents hold there what an editor puts into a new node.
 */
export function presetsOf(tool: AnyTool, params: JsonObject, context: CallContext, reader: TextReader): JsonObject {
  const { verbatim = [], nodeDefaults = {} } = tool;
  const others = [...verbatim, ...Object.keys(nodeDefaults), ...Object.keys(tool.params as Shape)];
  const given = Object.entries(params).filter(([name, value]) => !others.includes(name) && value !== '');
  const asked = { ...tool, nodeDefaults: {} };
  return argumentsOf(asked, Object.fromEntries(given), schemasOf(tool), resolving(context, reader));
}

function schemasOf(tool: AnyTool): JsonObject {
  const { properties } = parametersSchema(tool.arguments as Shape);
  return isJsonObject(properties) ? properties : {};
}

function retriesOf({ max_retries: retries, delay_after_error: seconds }: JsonObject): ToolRetries | undefined {
  if (typeof retries !== 'number') return undefined;
  return { attempts: retries + 1, delayMs: (typeof seconds === 'number' ? seconds : 2) * 1000 };
}

/** Arguments from the document, in the type that the tool wants; what is not set is left to its default. */
function argumentsOf(
  { nodeDefaults = {}, verbatim = [], ...tool }: AnyTool,
  params: JsonObject,
  schemas: JsonObject,
  resolve: (value: Json) => Json,
): JsonObject {
  const pairs = Object.keys(tool.arguments as Shape).flatMap((name): [string, Json][] => {
    const given = params[name] ?? nodeDefaults[name];
    if (given === undefined || given === null) return [];
    const value = verbatim.includes(name) ? given : resolve(given);
    return isNothing(value, schemas[name]) ? [] : [[name, fitType(value, schemas[name])]];
  });
  return Object.fromEntries(pairs);
}

/** Replaces references anywhere in a value. */
function resolving({ source }: CallContext, { unresolved }: TextReader): (value: Json) => Json {
  const options: InterpolateOptions = { onUnresolved: unresolved };
  return (value) => mapTexts(value, (text) => resolveParam(text, source, options));
}

function isNothing(value: Json, schema: Json | undefined): boolean {
  return value === null || (value === '' && isJsonObject(schema) && schema.type !== 'string');
}

/** A text where the tool reads text, whatever the reference named. */
function fitType(value: Json, schema: Json | undefined): Json {
  return isJsonObject(schema) && schema.type === 'string' ? renderValue(value) : value;
}

function nodeEvents(event: ToolEvent, { source }: CallContext): NodeEvent[] {
  switch (event.type) {
    case 'progress':
      return [notice('tool-progress', { message: event.message })];
    case 'partial':
      return [notice('tool-partial', { text: event.text })];
    case 'usage':
      return [event];
    case 'result': {
      const { outputs, references, artifacts } = event;
      const all = artifacts === undefined ? outputs : { ...outputs, _ARTIFACTS: artifacts.map(artifactRecord) };
      return [settled(all, references === undefined ? {} : { writes: [registerReferences(source, references)] })];
    }
  }
}

/** Texts anywhere in some values, whose references are read. */
function textsOf(values: readonly (Json | undefined)[]): string[] {
  return values.flatMap((value): string[] => {
    if (typeof value === 'string') return [value];
    if (Array.isArray(value)) return textsOf(value);
    return isJsonObject(value) ? textsOf(Object.values(value)) : [];
  });
}
