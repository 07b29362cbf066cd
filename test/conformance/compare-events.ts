import { isJsonObject, type Json, type JsonObject } from '../../src/json.js';
import type { TraceEvent } from './case.js';
import { jsonDifferences } from './compare-json.js';
import { endDifferences, type NodeEnd, outputDifferences } from './compare-outputs.js';

/** The documented data of each event; whatever else an engine adds is its own affair. */
const DATA: Readonly<Record<string, readonly string[]>> = {
  workflow_started: ['inputs'],
  node_started: [],
  node_finished: ['outputs', 'error'],
  message: ['content', 'start_to_think', 'end_to_think'],
  message_end: ['status', 'downloads', 'reference'],
  user_inputs: ['inputs', 'tips'],
  workflow_finished: ['inputs', 'outputs'],
};

const MARKS: readonly string[] = ['start_to_think', 'end_to_think'];

/** Compares the events of one run, in order; where the text of a message is cut does not matter. */
export function eventDifferences(
  expected: readonly TraceEvent[],
  received: readonly TraceEvent[],
  path: string,
): readonly string[] {
  const wanted = joinMessages(expected);
  const shown = joinMessages(received);
  const longer = shown.length > wanted.length ? shown : wanted;
  const at = longer.findIndex((_, index) => nameOf(wanted[index]) !== nameOf(shown[index]));
  if (at !== -1) {
    return [
      `${path}[${at}]: expected ${nameOf(wanted[at])}, received ${nameOf(shown[at])}; received in all: ${list(shown)}`,
    ];
  }
  return wanted.flatMap((event, index) =>
    dataDifferences(event, shown[index] as TraceEvent, `${path}[${index}] ${nameOf(event)}`),
  );
}

function dataDifferences(expected: TraceEvent, received: TraceEvent, path: string): readonly string[] {
  const wanted = documented(expected);
  const shown = documented(received);
  switch (expected.event) {
    case 'node_finished':
      return endDifferences(endOf(wanted), endOf(shown), expected.component_type ?? '', path);
    case 'workflow_finished':
      return [
        ...jsonDifferences(wanted.inputs, shown.inputs, `${path}.inputs`),
        ...outputDifferences(objectOrNull(wanted.outputs), objectOrNull(shown.outputs), undefined, `${path}.outputs`),
      ];
    case 'message_end':
      return outputDifferences(wanted, shown, 'Message', path);
    default:
      return jsonDifferences(wanted, shown, path);
  }
}

/** Neighbouring messages without marks become one; one without text is nothing. */
function joinMessages(events: readonly TraceEvent[]): readonly TraceEvent[] {
  const result: TraceEvent[] = [];
  for (const event of events) {
    if (!isText(event)) {
      result.push(event);
      continue;
    }
    const text = textOf(event);
    if (text === '') continue;
    const before = result.at(-1);
    if (before !== undefined && isText(before)) {
      result[result.length - 1] = { event: 'message', data: { content: textOf(before) + text } };
    } else {
      result.push({ event: 'message', data: { content: text } });
    }
  }
  return result;
}

function isText({ event, data }: TraceEvent): boolean {
  return event === 'message' && MARKS.every((mark) => data?.[mark] !== true);
}

function textOf({ data }: TraceEvent): string {
  return typeof data?.content === 'string' ? data.content : '';
}

/** What an event is and of which node; a message belongs to whichever Message speaks. */
function nameOf(event: TraceEvent | undefined): string {
  if (event === undefined) return 'nothing';
  const { event: name, component_id: id, component_type: type, data } = event;
  if (name.startsWith('node_')) return `${name} ${id} (${type})`;
  return [name, ...MARKS.filter((mark) => data?.[mark] === true)].join(' ');
}

function documented({ event, data = {} }: TraceEvent): JsonObject {
  const keys = DATA[event] ?? [];
  return Object.fromEntries(Object.entries(data).filter(([key]) => keys.includes(key)));
}

function endOf({ outputs, error }: JsonObject): NodeEnd {
  return {
    outputs: isJsonObject(outputs) ? outputs : {},
    error: typeof error === 'string' ? error : null,
  };
}

function objectOrNull(value: Json | undefined): JsonObject | null {
  return isJsonObject(value) ? value : null;
}

function list(events: readonly TraceEvent[]): string {
  return events.map((event) => nameOf(event)).join(' · ');
}
