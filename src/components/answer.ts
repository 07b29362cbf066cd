import { of } from 'rxjs';
import { z } from 'zod';
import { type Activation, defineComponent } from '../graph/component.js';
import { delta, type Interrupt, interrupt, notice, type Settled, settled } from '../graph/node-events.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import { baseParams } from './base-params.js';
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
import { fieldsGivenTo, formParam } from './form-fields.js';

const params = z.looseObject({ ...baseParams });

const FIELD = { name: 'Your message', type: 'paragraph' };
const FORM = formParam.parse({ query: FIELD });

/**
 * Where RAGFlow's oldest documents talk with the user: says what a Generate has written, and waits for the next message.
 *
 * The text of a node that leads here comes first, such as the rows of a database behind a Generate that wrote the query;
 * what a node has said itself is not said again.
 *
 * Reached with nothing to say and before any other Answer of the turn, it goes on with the question that the turn began
 * with. Otherwise the run waits, and a later turn goes on here with its text, given as the query or as the field `query`.
 * So a document that leads back to its Answer makes one circle a turn. An Answer that nothing follows does not wait: it
 * says its text and the run ends. What was said is put into the history before the message that answers it.
 */
export const answer = defineComponent<z.infer<typeof params>>({
  type: 'Answer',
  summary:
    'Says what a Generate wrote and waits for the next message; for documents from before Message and UserFillUp.',
  params,
  outputs: {
    query: { type: 'any', description: 'What the user said.' },
    content: { type: 'string', description: 'What was said to the user; absent once the user has answered.' },
  },
  primaryOutput: 'content',
  asks: true,
  speaks: true,
  timeoutSeconds: null,
  create(_params, { downstream, upstream }) {
    const isLast = downstream.length === 0;
    return (activation) => {
      if (hasAsked(activation)) return hear(activation, upstream);
      const reply = textToSay(activation, upstream);
      const question = isJsonObject(activation.input) ? (activation.input.query ?? null) : null;
      if (reply === '' && !isBlank(question) && !isQuestionTaken(activation)) {
        return settled({ query: question }, { writes: [takeQuestion(activation)] });
      }
      const move = isLast ? settled({ content: reply }, { writes: [writeReply(activation, '')] }) : waitFor(reply);
      return reply === '' ? move : say(activation, reply, move);
    };
  },
});

/** Whether the node has waited already: what it said outlives a restart without an answer. */
function hasAsked({ answer: given, nodeState }: Activation): boolean {
  return given !== undefined || nodeState !== undefined;
}

function textToSay(activation: Activation, upstream: readonly string[]): string {
  const writer = lastWriter(activation);
  const isSaid = (id: string): boolean => id === writer || talksItself(activation.source, id);
  return textBefore(activation, upstream, isSaid) || pendingReply(activation);
}

/** Goes on with what the user said, or waits again without a word. */
function hear(activation: Activation, upstream: readonly string[]): Settled | Interrupt {
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

/** Says the reply as a Message does, then moves; what was said is kept for the history and not said again. */
function say({ source }: Activation, reply: string, move: Settled | Interrupt) {
  const reference = currentRetrieval(source);
  return of(
    delta('content', reply),
    notice('message-ended', reference === undefined ? {} : { reference }),
    { type: 'progress', nodeState: reply } as const,
    move,
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
