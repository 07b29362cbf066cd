/** A run as a report that can be sent to others: JSON without secrets. */
import type { Json, JsonObject } from '../../src/json.js';
import type { AgentDetail } from '../run/agent-detail.js';
import type { RunStore } from '../run/run-store.js';

/** Names of fields whose values stay here. */
const SECRET = /key|token|secret|passw|authoriz|credential|cookie|session_?id/i;

/** Texts that look like a key or a token wherever they stand. */
const KEY_LIKE =
  /\b(?:sk|pk|ghp|gho|xox[abp]|ragflow|AKIA)[-_]?[A-Za-z0-9_-]{16,}|\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*|Bearer\s+\S{8,}/g;

const HIDDEN = '(hidden)';

/** Events that a report holds, characters of a text, and levels of values. */
const MAX_EVENTS = 2_000;
const MAX_TEXT = 4_000;
const MAX_DEPTH = 30;

/** What a run was given, did and came to, with its newest events. */
export function reportOf(store: RunStore, agent: Pick<AgentDetail, 'id' | 'title'>): string {
  const { picture, events } = store;
  const { status, error, input, query, elapsedMs, usage, recoveries, lastSeq, answer } = picture;
  const nodes = [...picture.nodes.values()].map(({ id, type, name, status: stands, sums, activations }) => ({
    id,
    type,
    name,
    status: stands,
    activations: sums.activations,
    failures: sums.failures,
    ms: sums.busyMs,
    error: activations.findLast((one) => one.error !== undefined)?.error,
  }));
  const report = {
    agent: { id: agent.id, title: agent.title },
    run: { id: store.run, status, error, query, input, ms: elapsedMs, usage, recoveries, events: lastSeq },
    answer: answer.text,
    nodes,
    newestEvents: events.slice(-MAX_EVENTS),
  };
  return JSON.stringify(withoutSecrets(report as unknown as Json), undefined, 2);
}

/** The same value without what is secret by its name or its looks; texts and depth are bounded. */
export function withoutSecrets(value: Json, depth = 0): Json {
  if (typeof value === 'string') return hidden(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_DEPTH) return '…';
  if (Array.isArray(value)) return value.map((one: Json) => withoutSecrets(one, depth + 1));
  return Object.fromEntries(
    Object.entries(value as JsonObject)
      .filter(([, one]) => one !== undefined)
      .map(([name, one]) => [name, isSecret(name, one) ? HIDDEN : withoutSecrets(one, depth + 1)]),
  );
}

/** Numbers of tokens, and the numbers of an engine's tokens, are no secrets. */
function isSecret(name: string, value: Json): boolean {
  return SECRET.test(name) && typeof value !== 'number' && typeof value !== 'boolean' && value !== null;
}

function hidden(text: string): string {
  const cut = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)} … (${text.length} characters)` : text;
  return cut.replace(KEY_LIKE, HIDDEN);
}
