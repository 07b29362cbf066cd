/**
 * How nodes of RAGFlow's oldest documents work together: a Generate writes a reply, and the Answer after it publishes the reply and
 * waits for the next message of the user. They communicate through variables, which are valid for the turn they were written in.
 */

import { createHash } from 'node:crypto';
import type { CallContext } from '../../agents/call-context.js';
import { ownObject } from '../../dsl/json-copy.js';
import { renderValue } from '../../dsl/render-value.js';
import { foundValue, type ValueSource } from '../../dsl/resolve.js';
import type { Write } from '../../graph/node-events.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import { removeThinking } from '../speaking/think-text.js';
import { listIn } from './retrieval.js';

/** The node that reads or writes. */
type Place = Pick<CallContext, 'node' | 'run' | 'source'>;

/** The reply that was written and not yet published: `{turn, text, node}`. */
const REPLY = 'reply';

/** The turn whose question an Answer took. */
const TAKEN = 'taken_turn';

/** The reply of this turn that is not yet published; empty when there is none. */
export function pendingReply(place: Place): string {
  const text = replyOf(place)?.text;
  return typeof text === 'string' ? text : '';
}

/** The node that wrote the last reply of this turn, published or not. */
export function lastWriter(place: Place): Json {
  return replyOf(place)?.node ?? null;
}

/** Writes the reply, which replaces any earlier one; an empty text removes it. */
export function writeReply(place: Place, text: string): Write {
  return writeVariable(REPLY, { turn: turnOf(place), text, node: place.node });
}

/** Whether an Answer has taken the question of this turn. */
export function isQuestionTaken(place: Place): boolean {
  return foundValue(place.source.variable(TAKEN)) === turnOf(place);
}

/** Marks the question of this turn as taken. */
export function takeQuestion(place: Place): Write {
  return writeVariable(TAKEN, turnOf(place));
}

/**
 * Replaces the newest question in the history by the reply and the question after it: a run that waited was not closed, so its
 * reply is not in the history yet. Without a conversation nothing but `sys.query` is written.
 */
export function recordExchange({ source }: Place, reply: string, question: Json): Write[] {
  const writes = [writeVariable('sys.query', question)];
  const history = listIn(source, 'history');
  const newest = history.at(-1);
  if (Array.isArray(newest) && newest[0] === 'user') {
    const answered: Json[] = reply === '' ? [] : [['assistant', { content: reply }]];
    writes.push(writeVariable('history', [...history.slice(0, -1), ...answered, ['user', question]]));
  }
  const lines = listIn(source, 'sys.history');
  const newestLine = lines.at(-1);
  if (typeof newestLine === 'string' && newestLine.startsWith('user: ')) {
    const answered = reply === '' ? [] : [`assistant: ${reply}`];
    const line = `user: ${renderValue(question)}`;
    writes.push(writeVariable('sys.history', [...lines.slice(0, -1), ...answered, line]));
  }
  return writes;
}

function replyOf(place: Place): JsonObject | undefined {
  const reply = foundValue(place.source.variable(REPLY));
  return isJsonObject(reply) && reply.turn === turnOf(place) ? reply : undefined;
}

/** Names a turn by its run and its place in the conversation, as a caller may count either of them alone. */
function turnOf({ run, source }: Place): string {
  return `${run}/${renderValue(foundValue(source.variable('sys.conversation_turns')))}`;
}

function writeVariable(key: string, value: Json): Write {
  return { to: { kind: 'variable', key }, value };
}

/** Outputs that hold the text of a node, the one that counts first. */
const TEXT_OUTPUTS = ['content', 'formalized_content', 'result'] as const;

/** What was seen before: by reader and node, a digest of the text. */
const SEEN = 'texts_before';

/**
 * The first new text among the nodes of `upstream`: one that `markSeen` has not recorded for this node. Empty when there is none.
 * With a single upstream node its text always counts, as nothing else can have led here. Nodes that `skips` names are ignored.
 */
export function textBefore(
  { node, source }: Place,
  upstream: readonly string[],
  skips: (id: string) => boolean = () => false,
): string {
  const seen = ownObject(allSeen(source), node) ?? {};
  for (const id of upstream) {
    if (skips(id)) continue;
    const text = textOf(source, id);
    if (text !== '' && (upstream.length === 1 || seen[id] !== digest(text))) return text;
  }
  return '';
}

/** Remembers the present texts of some nodes; nothing to write when there are not several of them. */
export function markSeen({ node, source }: Place, upstream: readonly string[]): Write[] {
  if (upstream.length < 2) return [];
  const texts = upstream.map((id) => [id, textOf(source, id)] as const).filter(([, text]) => text !== '');
  if (texts.length === 0) return [];
  const now = Object.fromEntries(texts.map(([id, text]) => [id, digest(text)]));
  return [writeVariable(SEEN, { ...allSeen(source), [node]: now })];
}

/** Whether a node publishes its text itself: it then has the output `downloads`, which may be empty. */
export function talksItself(source: ValueSource, id: string): boolean {
  return source.output(id, 'downloads').status === 'found';
}

function textOf(source: ValueSource, id: string): string {
  for (const name of TEXT_OUTPUTS) {
    const text = removeThinking(renderValue(foundValue(source.output(id, name))));
    if (text.trim() !== '') return text;
  }
  return '';
}

function allSeen(source: ValueSource): JsonObject {
  const seen = foundValue(source.variable(SEEN));
  return isJsonObject(seen) ? seen : {};
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
