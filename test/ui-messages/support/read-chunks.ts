/** Chunks as the published client of the AI SDK takes them. */
import { readUIMessageStream, type UIMessage, type UIMessageChunk, uiMessageChunkSchema, validateUIMessages } from 'ai';
import type { RunEvent } from '../../../src/graph/events.js';
import type { UiMessage, UiMessageChunk } from '../../../src/ui-messages/protocol.js';
import { UiMessageProjection, type UiMessagesOptions } from '../../../src/ui-messages/to-ui-messages.js';

/** The chunks of a run. */
export function chunksOf(events: Iterable<RunEvent>, options: UiMessagesOptions = {}): readonly UiMessageChunk[] {
  const projection = new UiMessageProjection(options);
  return [...events].flatMap((event) => projection.project(event));
}

/** What a page gets: through JSON, checked by the published schema, read by the published reader, and checked as a message that is sent again. */
export async function readChunks(chunks: readonly UiMessageChunk[], message?: UiMessage): Promise<UIMessage> {
  const sent = JSON.parse(JSON.stringify(chunks)) as UIMessageChunk[];
  const schema = uiMessageChunkSchema();
  for (const value of sent) {
    const checked = await schema.validate?.(value);
    if (checked?.success !== true) throw new Error(`The schema refuses ${JSON.stringify(value)}`, { cause: checked });
  }
  const errors: unknown[] = [];
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      for (const chunk of sent) controller.enqueue(chunk);
      controller.close();
    },
  });
  const before = message === undefined ? {} : { message: structuredClone(message) as UIMessage };
  let last: UIMessage | undefined;
  const said = new Set(chunks.flatMap((one) => (one.type === 'error' ? [one.errorText] : [])));
  for await (const state of readUIMessageStream({ stream, ...before, onError: (error) => errors.push(error) }))
    last = state;
  const unexpected = errors.filter((error) => !(error instanceof Error && said.has(error.message)));
  if (unexpected.length > 0) throw new AggregateError(unexpected, `The reader fails: ${String(unexpected[0])}`);
  if (last === undefined) throw new Error('The reader gives no message.');
  if (last.parts.length > 0) await validateUIMessages({ messages: [last] });
  return last;
}

/** The texts of a message that count. */
export function textsOf(message: Pick<UIMessage, 'parts'>): readonly string[] {
  return message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
}

/** Parts without what only says where they come from. */
export function plainParts({ parts }: Pick<UIMessage, 'parts'>): readonly object[] {
  return parts.map((part) => {
    const { providerMetadata: _, ...plain } = part as { providerMetadata?: unknown };
    return plain;
  });
}
