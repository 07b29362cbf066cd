import { defer, type Observable, of } from 'rxjs';
import { z } from 'zod';
import { toolFailed } from '../../adapters/failures.js';
import type { JsonObject } from '../../json.js';
import { entered } from '../fields.js';
import { pairsTable } from '../results.js';
import { defineTool, type ToolEvent, toolResult } from '../tool.js';
import { requireService, type SystemReading } from '../tool-services.js';

/** What can be asked of this process. */
export const SYSTEM_METRICS = ['qps', 'latency', 'cpu', 'memory'] as const;

/** Seconds by default, and at most. */
const USUAL_SECONDS = 60;
const MAX_SECONDS = 3_600;

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600 };
const MIB = 1024 ** 2;

/** Tells how busy this server is. Errors: `TOOL_FAILED` for a window that cannot be read; `CONFIG_INVALID` without the service. */
export const systemMetrics = defineTool({
  component: 'SystemMetrics',
  name: 'system_metrics',
  summary: 'Tells how busy this server is: requests a second, latency, processor or memory.',
  arguments: {
    metric: z.enum(SYSTEM_METRICS).describe('What to tell.'),
    window: z
      .preprocess((given) => (typeof given === 'number' ? `${given}s` : entered(given)), z.string().trim().optional())
      .describe('How far to look back: 30s, 5m or 1h at most; default 1m.'),
  },
  params: {},
  outputs: {
    formalized_content: { type: 'string', description: 'The numbers, as a table in Markdown.' },
    json: { type: 'object', description: '`metric`, `window_seconds` and the numbers, with units in their names.' },
  },
  timeoutSeconds: 5,
  call({ metric, window }, { services }): Observable<ToolEvent> {
    const metrics = requireService(services, 'metrics', 'Tool "system_metrics"');
    return defer(() => {
      const reading = metrics.read(window === undefined ? USUAL_SECONDS : readWindow(window));
      const json: JsonObject = { metric, window_seconds: round(reading.seconds), ...numbersOf(metric, reading) };
      const table = pairsTable(json);
      return of(toolResult(table, { formalized_content: table, json }));
    });
  },
});

function readWindow(window: string): number {
  const [, size = '', unit = ''] = /^(\d{1,6})\s*([smh])$/i.exec(window) ?? [];
  const seconds = Number(size) * (SECONDS[unit.toLowerCase()] ?? 0);
  if (seconds >= 1 && seconds <= MAX_SECONDS) return seconds;
  throw toolFailed(`${JSON.stringify(window.slice(0, 40))} is no window; write 30s, 5m or 1h, and at most 1h`);
}

function numbersOf(metric: (typeof SYSTEM_METRICS)[number], reading: SystemReading): JsonObject {
  const { requests, seconds, latencyMs, cpu, memory } = reading;
  switch (metric) {
    case 'qps':
      return { requests_per_second: round(requests / Math.max(seconds, 1)), requests };
    case 'latency':
      return {
        requests,
        p50_ms: latencyMs?.p50 ?? null,
        p95_ms: latencyMs?.p95 ?? null,
        p99_ms: latencyMs?.p99 ?? null,
      };
    case 'cpu':
      return { cpu_percent: round(cpu * 100) };
    case 'memory':
      return {
        process_mib: round(memory.process / MIB),
        heap_mib: round(memory.heap / MIB),
        machine_mib: round(memory.machine / MIB),
      };
  }
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
