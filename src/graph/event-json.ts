/** Events as JSON: by hand for the two events that every node has, which takes a fraction of the time of `JSON.stringify`. */
import { escapeJson } from '../json.js';
import type { NodeSettled, NodeStarted, RunEvent } from './events.js';
import type { StoredValue } from './typed.js';

/**
 * Writes the events of a run as JSON, without line ends. What its events have in common is written once, so a run should have one writer; any
 * event may be given to any writer.
 */
export class EventWriter {
  #run: string | undefined = undefined;
  /** How the events of the run begin, up to their number. */
  #started = '';
  #settled = '';
  #at: number | undefined = undefined;
  /** What stands between the number of an event and the name of its node; the same within a millisecond. */
  #time = '';

  /** @throws RangeError when the event is nested too deep to be written. */
  json(event: RunEvent): string {
    if (event.type === 'node-started' && event.resumed === undefined && event.retractFrom === undefined) {
      return this.#startedJson(event);
    }
    if (event.type === 'node-settled' && isPlainSettlement(event)) return this.#settledJson(event);
    return JSON.stringify(event);
  }

  #startedJson({ run, seq, at, node, within, token, attempt }: NodeStarted): string {
    this.#begin(run, at);
    const tried = attempt === 1 ? ',"attempt":1}' : `,"attempt":${attempt}}`;
    return `${this.#started}${seq}${this.#time}${escapeJson(node)}${placeJson(within)}${token}${tried}`;
  }

  #settledJson({ run, seq, at, node, within, token, outputs, value, stored, elapsedMs }: NodeSettled): string {
    this.#begin(run, at);
    const place = placeJson(within);
    const end = elapsedMs === 0 ? ',"elapsedMs":0}' : `,"elapsedMs":${elapsedMs}}`;
    // The value of an event that is not for a log: as JSON writes it, or leaves it out.
    const given = value === undefined ? undefined : JSON.stringify(value);
    const values = `${given === undefined ? '' : `,"value":${given}`}${stored === undefined ? '' : storedJson(stored)}`;
    return `${this.#settled}${seq}${this.#time}${escapeJson(node)}${place}${token}${outputsJson(outputs)}${values}${end}`;
  }

  #begin(run: string, at: number): void {
    if (run !== this.#run) {
      this.#run = run;
      const name = escapeJson(run);
      this.#started = `{"type":"node-started","run":"${name}","seq":`;
      this.#settled = `{"type":"node-settled","run":"${name}","seq":`;
    }
    if (at !== this.#at) {
      this.#at = at;
      this.#time = `,"at":${at},"node":"`;
    }
  }
}

/** What stands between the name of a node and the number of its token. */
function placeJson(within: string | undefined): string {
  return within === undefined ? '","token":' : `","within":"${escapeJson(within)}","token":`;
}

/** By hand for a text or a number, for which it takes a fraction of the time. */
function storedJson(stored: StoredValue): string {
  const v = 'v' in stored ? stored.v : undefined;
  if (typeof v === 'string') return `,"stored":{"v":"${escapeJson(v)}"}`;
  return `,"stored":${typeof v === 'number' && Number.isFinite(v) ? `{"v":${v}}` : JSON.stringify(stored)}`;
}

/** Nodes of typed plans have no outputs by name. */
function outputsJson(outputs: NodeSettled['outputs']): string {
  for (const _ in outputs) return `,"outputs":${JSON.stringify(outputs)}`;
  return ',"outputs":{}';
}

/** Whether a settlement has outputs and a value alone. */
export function isPlainSettlement(event: NodeSettled): boolean {
  const { next, writes, exit, recovered, calls, callsOmitted, toolCalls } = event;
  return (
    next === undefined &&
    writes === undefined &&
    exit === undefined &&
    recovered === undefined &&
    calls === undefined &&
    callsOmitted === undefined &&
    toolCalls === undefined
  );
}
