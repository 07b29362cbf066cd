/** How busy this process is, counted by seconds of the last hour. */
import { totalmem } from 'node:os';
import type { SystemMetrics, SystemReading } from '../../components/services.js';

/** Seconds that are kept. */
const KEPT = 3_600;

/** Upper bounds of the times of answers, in milliseconds: each a quarter more than the one before, up to ten minutes. */
const BOUNDS: readonly number[] = Array.from({ length: 60 }, (_, index) => 1.25 ** index);

/** What happened within one second. */
interface Second {
  /** Seconds since 1970, or another beginning that stays the same. */
  readonly at: number;
  requests: number;
  /** Answers by {@link BOUNDS}, the last for what took longer. */
  readonly times: Uint32Array;
  /** When its first answer was given, and how many milliseconds of the processor the process had used then. */
  readonly sinceMs: number;
  readonly cpuMs: number;
}

/** Where the meter reads clock, processor and memory. */
export interface SystemMeterOptions {
  /** Milliseconds. @default those of `performance`, which never go back */
  readonly now?: () => number;
  /** Milliseconds of the processor that the process has used. */
  readonly cpuMs?: () => number;
  /** Bytes of the process and of its heap. */
  readonly memory?: () => { readonly rss: number; readonly heapUsed: number };
}

/**
 * Counts answers and reads the processor with each second that has one, so that it needs no timer. What it keeps is bounded: one entry of about
 * 300 bytes for each second of the last hour that had a request.
 */
export class SystemMeter implements SystemMetrics {
  readonly #seconds: Second[] = [];
  /** The oldest entry that is kept. */
  #head = 0;
  readonly #now: () => number;
  readonly #cpuMs: () => number;
  readonly #memory: () => { readonly rss: number; readonly heapUsed: number };
  readonly #startedAt: number;
  readonly #startedCpuMs: number;

  constructor({
    now = () => performance.now(),
    cpuMs = usedCpuMs,
    memory = process.memoryUsage,
  }: SystemMeterOptions = {}) {
    this.#now = now;
    this.#cpuMs = cpuMs;
    this.#memory = memory;
    this.#startedAt = now();
    this.#startedCpuMs = cpuMs();
  }

  /** A request was answered, `ms` after it came. */
  answered(ms: number): void {
    const second = this.#second();
    const bucket = BOUNDS.findIndex((bound) => ms <= bound);
    const index = bucket === -1 ? BOUNDS.length : bucket;
    second.requests += 1;
    second.times[index] = (second.times[index] ?? 0) + 1;
  }

  read(seconds: number): SystemReading {
    const now = this.#now();
    const from = Math.max(this.#startedAt, now - Math.min(seconds, KEPT) * 1_000);
    const times = new Uint32Array(BOUNDS.length + 1);
    let requests = 0;
    let earliest: Second | undefined;
    for (let index = this.#head; index < this.#seconds.length; index += 1) {
      const second = this.#seconds[index] as Second;
      if (second.at * 1_000 < from - 1_000) continue;
      earliest ??= second;
      requests += second.requests;
      second.times.forEach((count, at) => {
        times[at] = (times[at] ?? 0) + count;
      });
    }
    const { rss, heapUsed } = this.#memory();
    return {
      seconds: Math.max(1, (now - from) / 1_000),
      requests,
      ...(requests > 0 && {
        latencyMs: { p50: at(times, requests, 0.5), p95: at(times, requests, 0.95), p99: at(times, requests, 0.99) },
      }),
      cpu: this.#cpuSince(earliest, now),
      memory: { process: rss, heap: heapUsed, machine: totalmem() },
    };
  }

  /** The share since the first second of the window that is known, else since the start. */
  #cpuSince(earliest: Second | undefined, now: number): number {
    const isYoung = earliest === undefined || now - earliest.sinceMs < 1_000;
    const [sinceMs, cpuMs] = isYoung ? [this.#startedAt, this.#startedCpuMs] : [earliest.sinceMs, earliest.cpuMs];
    return now <= sinceMs ? 0 : Math.max(0, (this.#cpuMs() - cpuMs) / (now - sinceMs));
  }

  #second(): Second {
    const sinceMs = this.#now();
    const at = Math.floor(sinceMs / 1_000);
    const last = this.#seconds.at(-1);
    if (last !== undefined && this.#head < this.#seconds.length && last.at === at) return last;
    const second: Second = {
      at,
      requests: 0,
      times: new Uint32Array(BOUNDS.length + 1),
      sinceMs,
      cpuMs: this.#cpuMs(),
    };
    this.#seconds.push(second);
    while ((this.#seconds[this.#head] as Second).at <= at - KEPT) this.#head += 1;
    if (this.#head > KEPT) {
      this.#seconds.splice(0, this.#head);
      this.#head = 0;
    }
    return second;
  }
}

/** The bound below which a share of the answers lies. */
function at(times: Uint32Array, requests: number, share: number): number {
  let left = Math.ceil(requests * share);
  const index = times.findIndex((count) => {
    left -= count;
    return left <= 0;
  });
  return Math.round((BOUNDS[Math.min(index, BOUNDS.length - 1)] ?? 0) * 100) / 100;
}

function usedCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
