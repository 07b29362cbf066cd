/** An upstream of models, embeddings and tools whose requests stay open until the test answers them. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** What a request is for: the name of the schema that a model is asked for, `answer`, `embeddings` or `tool`. */
export interface HeldRequest {
  readonly purpose: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies freely
  readonly body: any;
  readonly response: ServerResponse;
}

export interface HeldServer {
  readonly url: string;
  /** All requests that came. */
  readonly arrived: readonly HeldRequest[];
  /** What the open ones are for, sorted. */
  open(): readonly string[];
  /** How requests for something are answered at once; without it they are held. */
  readonly answers: Map<string, (request: HeldRequest) => void>;
}

export async function startHeldServer(): Promise<HeldServer> {
  const arrived: HeldRequest[] = [];
  const open = new Set<HeldRequest>();
  const answers: HeldServer['answers'] = new Map();
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const text = Buffer.concat(parts).toString('utf8');
    const body = text === '' ? {} : JSON.parse(text);
    const one = { purpose: purposeOf(request.url ?? '', body), body, response };
    arrived.push(one);
    open.add(one);
    response.once('close', () => open.delete(one));
    answers.get(one.purpose)?.(one);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arrived,
    open: () => [...open].map(({ purpose }) => purpose).toSorted(),
    answers,
  };
}

function purposeOf(url: string, body: { response_format?: { json_schema?: { name?: string } } }): string {
  if (url.endsWith('/embeddings')) return 'embeddings';
  if (!url.endsWith('/chat/completions')) return 'tool';
  return body.response_format?.json_schema?.name ?? 'answer';
}

/** Answers a request to a model. */
export function say(text: string): (request: HeldRequest) => void {
  return ({ response }) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: text } }] })}\n\n`);
    const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };
    response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage })}\n\n`);
    response.end('data: [DONE]\n\n');
  };
}

/** Begins an answer and leaves it open. */
export function begin(text: string): (request: HeldRequest) => void {
  return ({ response }) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: text } }] })}\n\n`);
  };
}

/** Answers a request for vectors. */
export function embed(request: HeldRequest): void {
  embedBy(request, (text) => [text.length, 1, 0]);
}

/** The same vector for every text. */
export function embedAs(embedding: readonly number[]): (request: HeldRequest) => void {
  return (request) => embedBy(request, () => embedding);
}

function embedBy({ body, response }: HeldRequest, vectorOf: (text: string) => readonly number[]): void {
  const texts = [body.input].flat() as string[];
  const data = texts.map((text, index) => ({ index, embedding: vectorOf(text) }));
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ data }));
}
