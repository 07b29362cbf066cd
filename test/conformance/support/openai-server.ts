import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import { type CompiledRule, compileRules, type ScriptedAnswer, scriptSchema } from '../../../src/models/scripted.js';
import type { ConformanceCase, ModelCall } from '../case.js';

/** The name and the key under which the server knows its model. */
export const MODEL = { name: 'scripted-model', factory: 'Fixture', key: 'sk-fixture' } as const;

export interface OpenaiServer {
  /** What a factory's `base_url` is. */
  readonly baseUrl: string;
  /** Calls so far. */
  readonly calls: readonly ModelCall[];
  close(): Promise<void>;
}

export interface OpenaiServerOptions {
  /** Awaited before each piece of an answer, counted from 0: lets a test decide how far an answer gets. @default never waits */
  readonly beforePiece?: (index: number) => Promise<void>;
}

const textPart = z.looseObject({ type: z.string(), text: z.string().default('') });
const text = z.union([z.string(), z.array(textPart).transform((parts) => parts.map((part) => part.text).join(''))]);

/** As much of a request as a script looks at; anything else is a mistake of the client. */
const requestSchema = z.looseObject({
  model: z.literal(MODEL.name),
  stream: z.literal(true),
  messages: z.array(z.looseObject({ role: z.string(), content: text.nullable().transform((value) => value ?? '') })),
  tools: z.array(z.looseObject({ type: z.literal('function') })).default([]),
});

/**
 * A server of OpenAI's streaming `POST /v1/chat/completions` that answers by the rules of a case: every piece is a chunk of its
 * own on the wire, an error is status 500.
 */
export async function startOpenaiServer(
  script: ConformanceCase['model'],
  { beforePiece = async () => {} }: OpenaiServerOptions = {},
): Promise<OpenaiServer> {
  const { rules, default: fallback = { reply: 'echo: $user' } } = scriptSchema.parse(script ?? {});
  const prepared = compileRules(scriptSchema.parse({ rules })).map((rule) => ({ rule, uses: 0 }));
  const calls: ModelCall[] = [];
  const pick = (call: ModelCall, user: string): ScriptedAnswer => {
    const chosen = prepared.find(({ rule, uses }) => uses < rule.times && matches(rule, call, user));
    if (chosen === undefined) return fallback;
    chosen.uses += 1;
    return chosen.rule.answer;
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const parsed = requestSchema.safeParse(await readJson(request));
    const isCall = request.method === 'POST' && request.url === '/v1/chat/completions';
    if (!isCall || !parsed.success || request.headers.authorization !== `Bearer ${MODEL.key}`) {
      refuse(response, 400, parsed.success ? 'wrong address or key' : z.prettifyError(parsed.error));
      return;
    }
    const { messages, tools } = parsed.data;
    const call = callOf(messages, tools.length > 0);
    calls.push(call);
    const user = messages.findLast(({ role }) => role === 'user' || role === 'tool')?.content ?? '';
    const chosen = pick(call, user);
    if (chosen.error !== undefined) refuse(response, 500, chosen.error);
    else await stream(response, chunksOf(chosen, call.system, user), beforePiece);
  };

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    calls,
    async close() {
      const end = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await end;
    },
  };
}

function callOf(messages: readonly ModelCall['messages'][number][], tools: boolean): ModelCall {
  const system = messages.filter(({ role }) => role === 'system').map(({ content }) => content);
  const others = messages.filter(({ role }) => role !== 'system').map(({ role, content }) => ({ role, content }));
  return { system: system.join('\n'), messages: others, tools };
}

function matches(rule: CompiledRule, { system, tools }: ModelCall, user: string): boolean {
  if (rule.tools !== undefined && rule.tools !== tools) return false;
  return (rule.system?.test(system) ?? true) && (rule.user?.test(user) ?? true);
}

function chunksOf(answer: ScriptedAnswer, system: string, user: string): readonly object[] {
  const pieces = answer.reply_stream ?? (answer.reply === undefined ? [] : [answer.reply]);
  const fill = (piece: string) => piece.replace(/\$(system|user)/g, (_, name) => (name === 'system' ? system : user));
  const calls = answer.tool_calls ?? [];
  return [
    ...pieces.map((piece) => ({ content: fill(piece) })),
    ...calls.map(({ name, arguments: values }, index) => ({
      tool_calls: [
        { index, id: `call_${index}`, type: 'function', function: { name, arguments: JSON.stringify(values) } },
      ],
    })),
  ];
}

async function stream(
  response: ServerResponse,
  chunks: readonly object[],
  beforePiece: (index: number) => Promise<void>,
): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = async (delta: object, finish: string | null): Promise<void> => {
    response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`);
    // Gives the socket its turn, so that no two pieces share a packet by design.
    await nextTurn();
  };
  for (const [index, chunk] of chunks.entries()) {
    await beforePiece(index);
    await send(chunk, null);
  }
  await send({}, chunks.some((chunk) => 'tool_calls' in chunk) ? 'tool_calls' : 'stop');
  response.end('data: [DONE]\n\n');
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { message } }));
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return JSON.parse(Buffer.concat(parts).toString('utf8'));
}
