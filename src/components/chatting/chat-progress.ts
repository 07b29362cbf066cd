/** What a chat stores while it is at work, so that a process that goes on with it repeats no call of a tool, and waits no longer than was asked for. */
import { toolResult } from '../../adapters/tool-event.js';
import type { CallContext } from '../../agents/call-context.js';
import { ownObject } from '../../dsl/json-copy.js';
import type { NodeEvent } from '../../graph/node-events.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import type { ToolResult } from '../../tools/tool.js';

/** UTF-16 units of the results of one chat; what is beyond is asked for again. */
const MAX_STORED = 200_000;

/** The progress of one chat. */
export interface ChatProgress {
  /** Milliseconds since a process began with this chat for the first time, as far as that is known. */
  readonly spentMs: number;
  /** What a tool gave for these arguments to this process or one before; undefined when it has not. */
  resultOf(name: string, args: JsonObject): ToolResult | undefined;
  /** Stores what a tool gave. */
  keep(name: string, args: JsonObject, result: ToolResult): void;
}

/**
 * Reads what a process before has stored, and goes on with it.
 *
 * @param isTimed whether the time counts, which is then stored at once
 */
export function openProgress(
  stored: Json | undefined,
  { now }: Pick<CallContext, 'now'>,
  isTimed: boolean,
  report: (event: NodeEvent) => void,
): ChatProgress {
  const before = isJsonObject(stored) ? stored : {};
  const results = new Map(Object.entries(ownObject(before, 'results') ?? {}));
  const begunAt = typeof before.begunAt === 'number' ? before.begunAt : now();
  const store = (): void => report({ type: 'progress', nodeState: { begunAt, results: Object.fromEntries(results) } });
  if (isTimed && before.begunAt === undefined) store();
  return {
    // A clock that was set back has not taken time away.
    spentMs: Math.max(0, now() - begunAt),
    resultOf(name, args) {
      const result = results.get(keyOf(name, args));
      if (!isJsonObject(result) || typeof result.text !== 'string') return undefined;
      return toolResult(result.text, ownObject(result, 'outputs') ?? {});
    },
    keep(name, args, { text, outputs }) {
      results.set(keyOf(name, args), { text, outputs });
      if (JSON.stringify(Object.fromEntries(results)).length > MAX_STORED) results.delete(keyOf(name, args));
      else store();
    },
  };
}

function keyOf(name: string, args: JsonObject): string {
  return JSON.stringify([name, args]);
}
