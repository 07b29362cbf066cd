import { describe, expect, it } from 'vitest';
import { systemMetrics } from '../../src/tools/everyday/system-metrics.js';
import { errorOf, resultOf } from './support/upstream.js';

const MIB = 1024 ** 2;
const asked: number[] = [];
const metrics = {
  read(seconds: number) {
    asked.push(seconds);
    return {
      seconds,
      requests: 90,
      latencyMs: { p50: 3, p95: 20, p99: 50 },
      cpu: 0.256,
      memory: { process: 200 * MIB, heap: 50.5 * MIB, machine: 8_192 * MIB },
    };
  },
};

describe('system_metrics', () => {
  it.each([
    ['qps', { requests_per_second: 1.5, requests: 90 }],
    ['latency', { requests: 90, p50_ms: 3, p95_ms: 20, p99_ms: 50 }],
    ['cpu', { cpu_percent: 25.6 }],
    ['memory', { process_mib: 200, heap_mib: 50.5, machine_mib: 8_192 }],
  ])('tells %s of the last minute', async (metric, numbers) => {
    const { outputs } = await resultOf(systemMetrics, '', { args: { metric }, services: { metrics } });
    expect(outputs.json).toEqual({ metric, window_seconds: 60, ...numbers });
    expect(asked.at(-1)).toBe(60);
  });

  it.each<[string | number, number]>([
    ['30s', 30],
    ['5m', 300],
    ['1H', 3_600],
    [90, 90],
  ])('looks back %s', async (window, seconds) => {
    await resultOf(systemMetrics, '', { args: { metric: 'qps', window }, services: { metrics } });
    expect(asked.at(-1)).toBe(seconds);
  });

  it.each(['2h', '0s', 'yesterday', '5', '9999999s'])('takes no window %s', async (window) => {
    const error = await errorOf(systemMetrics, '', { args: { metric: 'qps', window }, services: { metrics } });
    expect(error).toMatchObject({ code: 'TOOL_FAILED', message: expect.stringContaining('is no window') });
  });

  it('says which service is missing', async () => {
    const error = await errorOf(systemMetrics, '', { args: { metric: 'cpu' } });
    expect(error).toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining('"metrics"') });
  });
});
