import { catchError, concat, connect, defer, EMPTY, ignoreElements, merge, type Observable, of, tap } from 'rxjs';
import { z } from 'zod';
import { renderValue } from '../dsl/render-value.js';
import { resolveParam } from '../dsl/resolve.js';
import { toEngineError } from '../errors.js';
import type { Activation } from '../graph/node.js';
import { type Delta, type NodeEvent, notice, settled, warning } from '../graph/node-events.js';
import type { JsonObject } from '../json.js';
import { fromAbortable } from '../operators/from-abortable.js';
import { traceContextOf } from '../trace-context.js';
import { nodeParams, nullishText, optionalJson, renaming, templateEngine } from './base-params.js';
import { currentRetrieval } from './chat/retrieval.js';
import { defineComponent } from './component.js';
import { optionalServices } from './services.js';
import { type AnswerTemplate, answerPieces, liveReferences, parseAnswer } from './speaking/answer-pieces.js';
import { attach, Downloads } from './speaking/files.js';
import { readAloud } from './speaking/speech.js';
import { isTruthy } from './values/comparison.js';
import { createTextReader, referencedOutputs } from './values/text-reader.js';

const messageParams = z.preprocess(
  // Documents of other versions hold one `text`, old ones a list of `messages`.
  renaming({ content: ['messages', 'text'] }),
  nodeParams({
    content: z
      .preprocess(
        (given) => (typeof given === 'string' ? [given] : given),
        z.array(z.string('expected a text'), 'expected a text or a list of texts'),
      )
      .refine((texts) => texts.length > 0, 'a Message needs a text')
      .describe('Texts; one is drawn at random in every run.'),
    template_engine: templateEngine.describe(
      'Language of the texts: "jinja" for those with {%…%} or {{…}}, or "handlebars" for all; default "jinja".',
    ),
    stream: z.boolean().optional().describe('Streams the text of other nodes while they write it; default true.'),
    status: optionalJson.describe('Status of a webhook answer; default none.'),
    output_format: nullishText.describe(
      'Also gives the answer as a file: "markdown", "html", "txt", "pdf", "docx" or "xlsx"; default none.',
    ),
    auto_play: z.union([z.boolean(), z.string()]).nullish().describe('Reads the answer aloud; default false.'),
    memory_ids: z.array(z.string()).nullish().describe('Memories that store the turn; default none.'),
    user_id: nullishText.describe('Whose memory it is, a text or a reference; default `sys.user_id`.'),
  }),
);

/** Parameters of {@link message}. */
export type MessageParams = z.output<typeof messageParams>;

/**
 * Speaks to the user: a text with references, or a template. Text that another node is still writing is passed on as it
 * comes. Ends with the notice `message-ended`. Errors: `REFERENCE_UNRESOLVED`, `TEMPLATE_*`.
 */
export const message = defineComponent<MessageParams>({
  type: 'Message',
  group: 'conversation',
  summary: 'Speaks to the user.',
  params: messageParams,
  outputs: {
    content: { type: 'string', description: 'The text, with thinking but without think tags.' },
    downloads: { type: 'array', description: 'Files that the answer offers.' },
    attachment: { type: 'object', description: 'The answer as a file, when a format is set.' },
  },
  primaryOutput: 'content',
  speaks: true,
  needs: (params) => referencedOutputs(params.content),
  consumes: liveOf,
  create(params) {
    const live = params.stream === false ? 'none' : new Set(liveReferences(params.content));
    const templates = params.content.map(
      (text): AnswerTemplate =>
        params.template_engine === 'handlebars' ? { kind: 'handlebars', text } : parseAnswer(text, live),
    );
    return (activation) => {
      const drawn = templates.length === 1 ? 0 : Math.floor(activation.random() * templates.length);
      return speak(activation, templates[drawn] as AnswerTemplate, params);
    };
  },
});

/** A template needs every text whole. */
function liveOf({ content, stream, template_engine: engine }: MessageParams): string[] {
  return stream === false || engine === 'handlebars' ? [] : liveReferences(content);
}

/** The text so far. */
class Spoken {
  /** Everything, as it was streamed. */
  content = '';
  /** Without what was thought. */
  answer = '';

  add({ port, text }: Delta): void {
    this.content += text;
    if (port !== 'thinking') this.answer += text;
  }
}

function speak(activation: Activation, template: AnswerTemplate, params: MessageParams): Observable<NodeEvent> {
  const downloads = new Downloads();
  const reader = createTextReader(activation, (value) => downloads.take(value));
  const spoken = new Spoken();
  const pieces$ = defer(() => answerPieces(template, { activation, reader, downloads })).pipe(
    tap((piece) => spoken.add(piece)),
  );
  return concat(
    params.auto_play ? aloud(activation, pieces$) : pieces$,
    defer(() => reader.warnings),
    defer(() => finish(activation, params, spoken, downloads.list)),
  );
}

function aloud(activation: Activation, pieces$: Observable<Delta>): Observable<NodeEvent> {
  const { models } = optionalServices(activation);
  try {
    if (models === undefined) throw new Error('the run has no models.');
    const speech = models.speech();
    const headers = { ...traceContextOf(activation) };
    const speak = (sentence: string) => fromAbortable((signal) => speech.speak(sentence, { signal, headers }));
    return pieces$.pipe(connect((shared$) => merge(shared$, shared$.pipe(readAloud(speak)))));
  } catch (error) {
    const { message } = toEngineError(error, 'MODEL_UNKNOWN');
    return concat(of(warning(`The answer is not read aloud: ${message}`)), pieces$);
  }
}

function finish(
  activation: Activation,
  params: MessageParams,
  spoken: Spoken,
  downloads: readonly JsonObject[],
): Observable<NodeEvent> {
  const { content, answer } = spoken;
  const outputs: { content: string; downloads: readonly JsonObject[]; attachment?: JsonObject } = {
    content,
    downloads,
  };
  const closing$ = concat(
    defer(() => of(messageEnd(activation, params, outputs))),
    params.memory_ids?.length ? remember(activation, params, params.memory_ids, answer) : EMPTY,
    defer(() => of(settled(outputs))),
  );
  if (!params.output_format) return closing$;
  const attached$ = attach(answer, params.output_format, optionalServices(activation)).pipe(
    tap((attachment) => {
      outputs.attachment = attachment;
    }),
    ignoreElements(),
    asWarning('The answer is not given as a file'),
  );
  return concat(attached$, closing$);
}

function messageEnd(
  activation: Activation,
  { status }: MessageParams,
  { downloads, attachment }: { readonly downloads: readonly JsonObject[]; readonly attachment?: JsonObject },
): NodeEvent {
  const reference = currentRetrieval(activation.source);
  return notice('message-ended', {
    ...(status !== undefined && isTruthy(status) && { status }),
    ...(attachment && { attachment }),
    ...(downloads.length > 0 && { downloads }),
    ...(reference && { reference }),
  });
}

function remember(
  activation: Activation,
  { user_id: user }: MessageParams,
  memoryIds: readonly string[],
  agentResponse: string,
): Observable<NodeEvent> {
  const { remember: store } = optionalServices(activation);
  if (store === undefined) return of(warning('The turn is not remembered: this process has no memories.'));
  const { source } = activation;
  const userId = renderValue(resolveParam(user || '{sys.user_id}', source));
  const userInput = renderValue(resolveParam('{sys.query}', source));
  return fromAbortable(() => store({ memoryIds, userId, userInput, agentResponse })).pipe(
    ignoreElements(),
    asWarning('The turn is not remembered'),
  );
}

/** Turns a failure of something beside the answer into a warning; the answer stands. */
function asWarning(what: string) {
  return catchError<never, Observable<NodeEvent>>((error: unknown) =>
    of(warning(`${what}: ${toEngineError(error, 'NODE_FAILED').message}`)),
  );
}
