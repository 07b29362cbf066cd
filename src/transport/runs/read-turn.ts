/** Reading a turn from a request. */
import { z } from 'zod';
import { checkId } from '../../hosting/ids.js';
import { badArgument } from '../../hosting/refusals.js';
import type { ForkPoint, TurnRequest } from '../../hosting/start-command.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import { nearestName } from '../../nearest-name.js';
import { readTraceContext, type TraceContext } from '../../trace-context.js';
import { bodyText, given, isTruthy, readInput, text, versionQuery } from '../http/input.js';

const object = z
  .custom<JsonObject>(isJsonObject, 'expected an object')
  .nullish()
  .meta({ type: ['object', 'null'], additionalProperties: true });
const id = z.union([z.string(), z.number().transform(String)], { error: 'expected a text' }).nullish();
const anything = z.unknown().optional();

/** Bodies of run requests; null counts as absent. */
export const turnSchema = z.looseObject({
  query: bodyText.describe("The user's question; also `question`, `user_input` or `message`."),
  question: bodyText.describe('The same as `query`.'),
  user_input: bodyText.describe('The same as `query`.'),
  message: bodyText.describe('The same as `query`.'),
  inputs: object.describe('Values for the fields of Begin or of the forms that wait: `{"field": {"value": …}}`.'),
  files: z.array(z.unknown()).nullish().describe('Files as the upload described them.'),
  session_id: id.describe('Continues this session; default: a new one.'),
  user_id: id.describe("The client's name for its user."),
  name: id.describe('Name of a new session; default: the beginning of the question.'),
  version: id.describe('Id of a version, or "draft"; for a new session, a fork, or resuming a run that failed.'),
  release: anything.describe('true: only what is published; for a new session.'),
  resume_from: id.describe('Id of a run that waits, failed or was cancelled, to resume where it ended.'),
  migrate: anything.describe(
    'true: what a run has done is used in another version of its graph, where nodes exist in both.',
  ),
  return_trace: anything.describe('true: the answer has what each node did.'),
  detach: anything.describe('true: continues without clients for as long as it takes.'),
  stream: anything.describe('true: the answer is a stream of events.'),
  chat_template_kwargs: object,
  custom_header: object.describe('Headers for tools that declare them.'),
});

/** What a fork takes beside a turn. */
const changeShape = {
  variables: object.describe('Variables that are different from the event on, such as `env.limit`.'),
  outputs: z
    .record(z.string(), z.custom<JsonObject>(isJsonObject, 'expected an object').meta({ type: 'object' }))
    .nullish()
    .describe('Outputs that are different, by id of a component that had finished: `{"LLM:A": {"content": …}}`.'),
};

/** Bodies of requests to fork a run. */
export const forkSchema = turnSchema.extend(changeShape);

/** What is different in a fork, read from a frame. @throws EngineError BAD_REQUEST. */
export function readForkChange(body: unknown): Pick<ForkPoint, 'variables' | 'outputs'> {
  return forkChangeOf(readInput(z.looseObject(changeShape), body));
}

/** The same of a body that was read. */
export function forkChangeOf(body: z.output<z.ZodObject<typeof changeShape>>) {
  refuseMistyped(body, CHANGES);
  return given({ variables: body.variables, outputs: body.outputs });
}

const CHANGES = Object.keys(changeShape);

/** What may also stand in the query of the URL; the body wins. */
export const turnQuery = versionQuery.extend({
  user_input: text,
  session_id: text,
  user_id: text,
  name: text.describe('Name of a new session.'),
  resume_from: text,
});

/** A client's headers, where the run may become a part of its trace. */
export type TraceHeaders = Readonly<Record<string, unknown>>;

/** Reads a turn that comes without a query, such as a frame. @throws EngineError BAD_REQUEST. */
export function readTurn(body: unknown, headers: TraceHeaders = {}): TurnRequest {
  return turnOf(readInput(turnSchema, body ?? {}), { release: false }, headers);
}

/**
 * The turn of a body, and of the query where the body has nothing. The trace context is that of `headers`, else of the headers
 * for tools.
 *
 * @throws EngineError BAD_REQUEST.
 */
export function turnOf(
  body: z.output<typeof turnSchema>,
  query: z.output<typeof turnQuery>,
  headers: TraceHeaders = {},
): TurnRequest {
  refuseMistyped(body, MEANT);
  const own = (name: 'session_id' | 'version' | 'resume_from' | 'user_id' | 'name') =>
    body[name] === undefined || body[name] === null || body[name] === '' ? query[name] : body[name];
  const sessionId = own('session_id');
  const resumeFrom = own('resume_from');
  const userId = own('user_id');
  const kwargs = body.chat_template_kwargs;
  const texts = [body.query, body.question, body.user_input, body.message, query.user_input];
  return {
    query: texts.find((value) => value !== undefined && value !== null && value !== '') ?? '',
    inputs: body.inputs ?? {},
    files: ((body.files ?? []) as Json[]).flat(),
    ...given({
      sessionId: sessionId === undefined ? undefined : checkId('session_id', sessionId),
      userId: userId === undefined ? undefined : checkId('user_id', userId),
      name: own('name'),
      version: own('version'),
      resumeFrom: resumeFrom === undefined ? undefined : checkId('resume_from', resumeFrom),
    }),
    isReleased: isTruthy(body.release ?? query.release),
    migrates: isTruthy(body.migrate),
    answersForm: false,
    returnsTrace: isTruthy(body.return_trace),
    detached: isTruthy(body.detach),
    streams: isTruthy(body.stream),
    variables: kwargs === undefined || kwargs === null ? {} : { 'sys.chat_template_kwargs': kwargs },
    headers: body.custom_header ?? {},
    trace: traceOf(headers, body.custom_header ?? {}),
    history: [],
  };
}

/** Fields without which a run does something else than its caller wants. */
const MEANT = ['query', 'question', 'user_input', 'inputs', 'files', 'session_id'] as const;

/** Other fields pass, as clients of RAGFlow send some; one that resembles a field that is missing was meant to be it. */
function refuseMistyped(body: object, fields: readonly string[]): void {
  for (const name of Object.keys(body)) {
    const meant = Object.hasOwn(forkSchema.shape, name) ? undefined : nearestName(name, fields);
    if (meant === undefined || Object.hasOwn(body, meant)) continue;
    throw badArgument(`There is no \`${meant}\`, but \`${name}\`, which is no field. Did you mean \`${meant}\`?`);
  }
}

function traceOf(headers: TraceHeaders, custom: JsonObject): TraceContext {
  const trace = readTraceContext(headers);
  return trace.traceparent === undefined ? { ...trace, ...readTraceContext(custom) } : trace;
}
