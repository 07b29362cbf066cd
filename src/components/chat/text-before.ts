/**
 * What the nodes before a node have written, for old documents that name no reference: a node takes its input from whatever
 * leads to it. Outputs outlive a turn, so a node with several before it keeps in mind what they held when it last looked.
 */
import { createHash } from 'node:crypto';
import { renderValue } from '../../dsl/render-value.js';
import type { ValueSource } from '../../dsl/resolve.js';
import type { Activation } from '../../graph/component.js';
import type { Write } from '../../graph/node-events.js';
import { isJsonObject, type JsonObject } from '../../json.js';
import { removeThinking } from '../speaking/think-text.js';

/** Outputs that hold the text of a node, the one that counts first. */
const TEXT_OUTPUTS = ['content', 'formalized_content', 'result'] as const;

/** What was seen before: by reader and node, a digest of the text. */
const SEEN = 'texts_before';

/**
 * The text of the first node of `upstream` that has written one since `activation.node` last looked; empty when none has.
 * The text of an only node always counts, as nothing else can have led here. Nodes that `skips` names are passed over.
 */
export function textBefore(
  { node, source }: Activation,
  upstream: readonly string[],
  skips: (id: string) => boolean = () => false,
): string {
  const seen = seenBy(source, node);
  for (const id of upstream) {
    if (skips(id)) continue;
    const text = textOf(source, id);
    if (text !== '' && (upstream.length === 1 || seen[id] !== digest(text))) return text;
  }
  return '';
}

/** Keeps in mind what some nodes hold now; nothing to write when there are not several of them. */
export function markSeen({ node, source }: Activation, upstream: readonly string[]): Write[] {
  if (upstream.length < 2) return [];
  const texts = upstream.map((id) => [id, textOf(source, id)] as const).filter(([, text]) => text !== '');
  if (texts.length === 0) return [];
  const now = Object.fromEntries(texts.map(([id, text]) => [id, digest(text)]));
  return [{ to: { kind: 'variable', key: SEEN }, value: { ...allSeen(source), [node]: now } }];
}

/** Whether a node talks to the user itself: it then says which files it offers, if only that there are none. */
export function talksItself(source: ValueSource, id: string): boolean {
  return source.output(id, 'downloads').status === 'found';
}

function textOf(source: ValueSource, id: string): string {
  for (const name of TEXT_OUTPUTS) {
    const lookup = source.output(id, name);
    const text = lookup.status === 'found' ? removeThinking(renderValue(lookup.value)) : '';
    if (text.trim() !== '') return text;
  }
  return '';
}

function seenBy(source: ValueSource, reader: string): JsonObject {
  const all = allSeen(source);
  const seen = Object.hasOwn(all, reader) ? all[reader] : undefined;
  return isJsonObject(seen) ? seen : {};
}

function allSeen(source: ValueSource): JsonObject {
  const lookup = source.variable(SEEN);
  return lookup.status === 'found' && isJsonObject(lookup.value) ? lookup.value : {};
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
