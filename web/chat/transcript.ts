/** What a run said and did, in the order in which it began: for the conversation. */

import type { ActivationPicture, AnswerPart, RunPicture } from '../../src/canvas/picture/picture.js';
import type { KeyedCall } from '../../src/graph/calls.js';
import type { Json, JsonObject } from '../../src/json.js';

/** A call of a tool or of another agent. */
export interface CallItem {
  readonly kind: 'call';
  readonly key: string;
  readonly atMs: number;
  readonly name: string;
  readonly call: KeyedCall | undefined;
  /** What the node's log of tools has of it, once it has ended. */
  readonly logged: ToolLog | undefined;
}

/** Text or reasoning. */
export interface PartItem {
  readonly kind: 'text' | 'thinking';
  readonly key: string;
  readonly atMs: number;
  readonly part: AnswerPart;
}

export type TranscriptItem = CallItem | PartItem;

/** An entry of the log of tools, in the names that RAGFlow's clients read. */
export interface ToolLog {
  readonly name: string;
  readonly path: string;
  readonly arguments: Json;
  readonly result: Json;
  readonly elapsedMs: number;
}

/** Items of a run that are listed; later ones are left out. */
const MAX_ITEMS = 1_000;

/** Whether the text of a node is told to the user; of others only their reasoning is shown. */
export type Speaks = (node: string) => boolean;

const ALL_SPEAK: Speaks = () => true;

/** What was said and called, the earliest first. */
export function transcriptOf(picture: RunPicture, speaks: Speaks = ALL_SPEAK): readonly TranscriptItem[] {
  const said = picture.answer.parts
    .filter(({ kind, node }) => kind === 'thinking' || speaks(node))
    .map((part): PartItem => ({ kind: part.kind, key: `p${part.fromSeq}`, atMs: part.startedAtMs, part }));
  const called = [...picture.nodes.values()].flatMap((node) => node.activations.flatMap(callsOf));
  return [...said, ...called].toSorted((a, b) => a.atMs - b.atMs).slice(0, MAX_ITEMS);
}

/** What the user was told in all. */
export function spokenText({ answer }: RunPicture, speaks: Speaks = ALL_SPEAK): string {
  return answer.parts
    .filter(({ kind, node }) => kind === 'text' && speaks(node))
    .map(({ text }) => text)
    .join('');
}

const NO_ITEMS: readonly CallItem[] = [];

/** Calls of tools and agents with what the log of tools says of them, and entries of the log that belong to none. */
export function callsOf({ token, attempt, calls, notices }: ActivationPicture): readonly CallItem[] {
  // Long runs have ten thousands of activations, most without a tool.
  if (notices.length === 0 && calls.every(({ kind }) => kind === 'model')) return NO_ITEMS;
  const place = `c${token}.${attempt}`;
  const logs = notices
    .filter(({ name }) => name === 'tool-called')
    .map(({ data, seq, atMs }) => ({ log: logOf(data), seq, atMs }));
  const unused = new Set(logs);
  const items = calls
    .filter(({ kind }) => kind !== 'model')
    .map((call): CallItem => {
      const found =
        call.status === 'open' ? undefined : logs.find((one) => unused.has(one) && one.log.name === call.name);
      if (found !== undefined) unused.delete(found);
      return {
        kind: 'call',
        key: `${place}.${call.id}`,
        atMs: call.startedAtMs,
        name: call.name,
        call,
        logged: found?.log,
      };
    });
  const others = [...unused].map(
    ({ log, seq, atMs }): CallItem => ({
      kind: 'call',
      key: `${place}.n${seq}`,
      atMs: atMs - log.elapsedMs,
      name: log.name,
      call: undefined,
      logged: log,
    }),
  );
  return [...items, ...others];
}

function logOf({ tool_name: name, path, arguments: args, result, elapsed_time: seconds }: JsonObject): ToolLog {
  return {
    name: typeof name === 'string' ? name : '',
    path: typeof path === 'string' ? path : '',
    arguments: args ?? null,
    result: result ?? null,
    elapsedMs: typeof seconds === 'number' ? seconds * 1_000 : 0,
  };
}
