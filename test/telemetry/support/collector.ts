/** A collector of the tests' own: takes OTLP over HTTP and keeps what it was sent. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { onTestFinished, vi } from 'vitest';
import { Message } from './wire-reader.js';

type Value = string | number | boolean | string[];

/** A span as it arrived. */
export interface Received {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string;
  readonly name: string;
  /** 1 internal, 2 server, 3 client. */
  readonly kind: number;
  readonly attributes: Readonly<Record<string, Value>>;
  readonly events: readonly { readonly name: string; readonly attributes: Readonly<Record<string, Value>> }[];
  /** 2 is an error. */
  readonly status: { readonly code: number; readonly message: string };
  readonly resource: Readonly<Record<string, Value>>;
  readonly nanoseconds: number;
}

export interface Collector {
  readonly url: string;
  readonly spans: Received[];
  /** Names of metrics. */
  readonly metrics: Set<string>;
  /** Resolves with the first request of any kind. */
  readonly asked: Promise<void>;
  /** Statuses of its answers. */
  readonly answers: number[];
  span(name: string): Received;
}

/** How a collector answers; never means not at all, down that nobody listens. */
export type Behaviour = 'well' | 'never' | 'refuses' | 'down';

export async function startCollector(behaviour: Behaviour = 'well'): Promise<Collector> {
  const spans: Received[] = [];
  const metrics = new Set<string>();
  const answers: number[] = [];
  let whenAsked = (): void => {};
  const asked = new Promise<void>((resolve) => {
    whenAsked = resolve;
  });
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    whenAsked();
    if (behaviour === 'never') return;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    answers.push(behaviour === 'refuses' ? 500 : 200);
    if (behaviour === 'refuses') {
      response.writeHead(500).end();
      return;
    }
    const raw = Buffer.concat(chunks);
    const body = new Message(request.headers['content-encoding'] === 'gzip' ? gunzipSync(raw) : raw);
    if (request.url === '/v1/traces') spans.push(...spansOf(body));
    if (request.url === '/v1/metrics') for (const name of metricsOf(body)) metrics.add(name);
    response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
  };
  const http = createServer((request, response) => void answer(request, response));
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  const { port } = http.address() as AddressInfo;
  if (behaviour === 'down') await new Promise((resolve) => http.close(resolve));
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    metrics,
    asked,
    answers,
    span(name) {
      const found = spans.filter((span) => span.name === name);
      if (found.length !== 1) throw new Error(`${found.length} spans "${name}" among ${spans.map((one) => one.name)}`);
      return found[0] as Received;
    },
  };
}

/** The SDK reads the environment of the process; the test's is back afterwards. */
export function setEnvironment(values: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  for (const [name, value] of Object.entries(values)) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
  return values;
}

function spansOf(body: Message): Received[] {
  return body.messages(1).flatMap((group) => {
    const resource = attributesOf(group.message(1)?.messages(1) ?? []);
    return group.messages(2).flatMap((scope) => scope.messages(2).map((span) => spanOf(span, resource)));
  });
}

function spanOf(span: Message, resource: Received['resource']): Received {
  const status = span.message(15);
  return {
    traceId: span.hex(1),
    spanId: span.hex(2),
    parentId: span.hex(4),
    name: span.text(5),
    kind: span.integer(6),
    attributes: attributesOf(span.messages(9)),
    events: span.messages(11).map((event) => ({ name: event.text(2), attributes: attributesOf(event.messages(3)) })),
    status: { code: status?.integer(3) ?? 0, message: status?.text(2) ?? '' },
    resource,
    nanoseconds: Number(span.big(8) - span.big(7)),
  };
}

function attributesOf(pairs: readonly Message[]): Record<string, Value> {
  return Object.fromEntries(pairs.map((pair) => [pair.text(1), readValue(pair.message(2))]));
}

function readValue(value: Message | undefined): Value {
  if (value === undefined) return '';
  if (value.has(2)) return value.integer(2) === 1;
  if (value.has(3)) return value.integer(3);
  if (value.has(4)) return value.double(4);
  const list = value.message(5);
  return list === undefined ? value.text(1) : list.messages(1).map((item) => item.text(1));
}

function metricsOf(body: Message): string[] {
  return body
    .messages(1)
    .flatMap((group) => group.messages(2).flatMap((scope) => scope.messages(2).map((metric) => metric.text(1))));
}
