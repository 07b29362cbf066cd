import { describe, expect, it } from 'vitest';
import { SystemMeter } from '../../../src/transport/http/system-meter.js';

function meterAt() {
  const clock = { now: 5_000, cpu: 1_000 };
  const memory = () => ({ rss: 300, heapUsed: 100 });
  return { clock, meter: new SystemMeter({ now: () => clock.now, cpuMs: () => clock.cpu, memory }) };
}

describe('the meter of a server', () => {
  it('knows nothing at its start', () => {
    const { meter } = meterAt();
    expect(meter.read(60)).toMatchObject({ seconds: 1, requests: 0, cpu: 0, memory: { process: 300, heap: 100 } });
    expect(meter.read(60).latencyMs).toBeUndefined();
  });

  it('counts the answers of a window', () => {
    const { meter, clock } = meterAt();
    for (let second = 0; second < 100; second += 1) {
      clock.now = 5_000 + second * 1_000;
      meter.answered(10);
    }
    expect(meter.read(10).requests).toBeGreaterThanOrEqual(10);
    expect(meter.read(10).requests).toBeLessThanOrEqual(12);
    expect(meter.read(3_600)).toMatchObject({ requests: 100, seconds: 99 });
  });

  it('forgets what is older than an hour', () => {
    const { meter, clock } = meterAt();
    for (let second = 0; second < 10_000; second += 1) {
      clock.now = 5_000 + second * 1_000;
      meter.answered(1);
    }
    expect(meter.read(1e9).requests).toBeLessThanOrEqual(3_601);
    expect(meter.read(1e9).requests).toBeGreaterThanOrEqual(3_599);
  });

  it('tells times within a quarter of what they are', () => {
    const { meter } = meterAt();
    for (let at = 1; at <= 100; at += 1) meter.answered(at);
    const { p50, p95, p99 } = meter.read(60).latencyMs ?? { p50: 0, p95: 0, p99: 0 };
    for (const [told, real] of [
      [p50, 50],
      [p95, 95],
      [p99, 99],
    ] as const) {
      expect(told).toBeGreaterThanOrEqual(real);
      expect(told).toBeLessThanOrEqual(real * 1.26);
    }
  });

  it('tells how much of a processor was used since the window began', () => {
    const { meter, clock } = meterAt();
    clock.now += 10_000;
    clock.cpu += 10_000;
    meter.answered(1);
    clock.now += 10_000;
    clock.cpu += 2_500;
    expect(meter.read(10).cpu).toBeCloseTo(0.25);
    expect(meter.read(1).cpu).toBeCloseTo(0.625);
  });
});
