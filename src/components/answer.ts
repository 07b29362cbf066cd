import { of } from 'rxjs';
import type { Activation } from '../graph/node.js';
import { delta, type Interrupt, interrupt, notice, type Settled, settled } from '../graph/node-events.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import { nodeParams } from './base-params.js';
import {
  isQuestionTaken,
  lastWriter,
  markSeen,
  pendingReply,
  recordExchange,
  takeQuestion,
  talksItself,
  textBefore,
  writeReply,
} from './chat/replies.js';
import { currentRetrieval } from './chat/retrieval.js';
import { defineComponent } from './component.js';
import { fieldsGivenTo, formParams } from './form-fields.js';

const FIELD = { name: 'Your message', type: 'paragraph' };
const FORM = formParams.inputs.parse({ query: FIELD });

/**
 * The conversation with the user in RAGFlow's oldest documents: publishes what a Generate has written, and waits for the next message.
 *
 * The text of a node that leads here comes first, such as the rows of a database after a Generate that wrote the query;
 * text that a node has published itself is not repeated.
 *
 * Reached without a text and before any other Answer of the turn, it settles with the question that the turn began
 * with. Otherwise the run waits, and a later turn resumes here with its text, given as the query or as the field `query`.
 * So a document that leads back to its Answer makes one circle a turn. An Answer that nothing follows does not wait: it
 * publishes its text and the run ends. The published text is put into the history before the message that answers it.
 */
export const answer = defineComponent({
  type: 'Answer',
  group: 'conversation',
  summary:
    'Publishes what a Generate wrote and waits for the next message; for documents from before Message and UserFillUp.',
  params: nodeParams({}),
  outputs: {
    query: { type: 'any', description: 'The message of the user.' },
    content: { type: 'string', description: 'The text for the user; absent once the user has answered.' },
  },
  primaryOutput: 'content',
  asks: true,
  speaks: true,
  timeoutSeconds: null,
  create(_params, { downstream, upstream }) {
    const isLast = downstream.length === 0;
    return (activation) => {
      // The node state outlives a restart without an answer.
      const hasAsked = activation.answer !== undefined || activation.nodeState !== undefined;
      if (hasAsked) return receive(activation, upstream);
      const reply = textToPublish(activation, upstream);
      const question = isJsonObject(activation.input) ? (activation.input.query ?? null) : null;
      if (reply === '' && !isBlank(question) && !isQuestionTaken(activation)) {
        return settled({ query: question }, { writes: [takeQuestion(activation)] });
      }
      const outcome = isLast ? settled({ content: reply }, { writes: [writeReply(activation, '')] }) : waitFor(reply);
      return reply === '' ? outcome : publish(activation, reply, outcome);
    };
  },
});

function textToPublish(activation: Activation, upstream: readonly string[]): string {
  const writer = lastWriter(activation);
  const isPublished = (id: string): boolean => id === writer || talksItself(activation.source, id);
  return textBefore(activation, upstream, isPublished) || pendingReply(activation);
}

/** Settles with the message of the user, or waits again without repeating the text. */
function receive(activation: Activation, upstream: readonly string[]): Settled | Interrupt {
  const reply = typeof activation.nodeState === 'string' ? activation.nodeState : '';
  const query = messageIn(activation);
  if (isBlank(query)) return waitFor(reply);
  const writes = [
    ...recordExchange(activation, reply, query),
    ...markSeen(activation, upstream),
    takeQuestion(activation),
  ];
  return settled({ query }, { writes });
}

function waitFor(reply: string): Interrupt {
  const inputs: JsonObject = { query: { ...FIELD, value: null } };
  return interrupt({ kind: 'form', inputs, tips: '' }, { content: reply });
}

/** Publishes the reply as a Message does, then ends with `outcome`; the node state has the text for the history. */
function publish({ source }: Activation, reply: string, outcome: Settled | Interrupt) {
  const reference = currentRetrieval(source);
  return of(
    delta('content', reply),
    notice('message-ended', reference === undefined ? {} : { reference }),
    { type: 'progress', nodeState: reply } as const,
    outcome,
  );
}

/** The text that a resumed run brings: alone, as the query of a turn, or as the field of the form. */
function messageIn({ answer: given, node }: Activation): Json {
  if (!isJsonObject(given)) return given ?? null;
  if (!isBlank(given.query ?? null)) return given.query ?? null;
  const field = fieldsGivenTo(node, FORM, given.inputs).get('query') ?? null;
  return isJsonObject(field) && Object.hasOwn(field, 'value') ? (field.value ?? null) : field;
}

function isBlank(message: Json): boolean {
  return message === null || (typeof message === 'string' && message.trim() === '');
}
