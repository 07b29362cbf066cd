/** MCP servers as the operator declares them in a file. */
import { validateHeaderName } from 'node:http';
import { z } from 'zod';
import { EngineError } from '../../errors.js';
import { checkUrl } from '../egress/url-policy.js';

const texts = z.record(z.string(), z.string());

const shared = {
  /** Tenants whose agents may use it. */
  tenants: z.array(z.string().min(1)).optional(),
  /** Seconds to connect, and seconds that a call may be silent. */
  timeout: z.number().min(0.1).max(3_600).default(10),
};

const remoteShape = z.strictObject({
  ...shared,
  type: z.enum(['streamable-http', 'sse']),
  url: z.string().refine(isUrl, 'must be an http or https URL without credentials'),
  headers: texts
    .default({})
    .refine((headers) => Object.keys(headers).every(isHeaderName), 'has a name that is no header'),
  variables: texts.default({}),
  authorization_token: z.string().optional(),
});

const localShape = z.strictObject({
  ...shared,
  type: z.literal('stdio'),
  command: z.string().min(1),
  args: z.array(z.string()).default([]),
  env: texts.default({}),
  cwd: z.string().optional(),
});

const fileShape = z.looseObject({
  mcpServers: z.record(z.string().min(1), z.discriminatedUnion('type', [remoteShape, localShape])),
});

/** A server that is reached over HTTP. */
export type RemoteServer = z.output<typeof remoteShape>;

/** A program that this process starts. Operators alone can declare one. */
export type LocalServer = z.output<typeof localShape>;

/** A declared server. */
export type ServerSettings = RemoteServer | LocalServer;

/**
 * Reads `{"mcpServers": {"<id>": {"type": "streamable-http" | "sse" | "stdio", …}}}`; `where` names it in messages.
 *
 * @throws EngineError CONFIG_INVALID with every mismatch and its path, and without any value: they may be secrets.
 */
export function readMcpSettings(text: string, where: string): ReadonlyMap<string, ServerSettings> {
  const parsed = fileShape.safeParse(parse(text, where));
  if (parsed.success) return new Map(Object.entries(parsed.data.mcpServers));
  const problems = parsed.error.issues.map(
    ({ path, message }) => `${path.map(String).join('.') || 'file'}: ${message}`,
  );
  throw new EngineError(
    'CONFIG_INVALID',
    `${where} does not declare MCP servers as it should: ${problems.join('; ')}.`,
  );
}

function parse(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new EngineError('CONFIG_INVALID', `${where} is no JSON.`);
  }
}

function isUrl(text: string): boolean {
  try {
    checkUrl(text, { reach: 'any' });
    return true;
  } catch {
    return false;
  }
}

function isHeaderName(name: string): boolean {
  try {
    validateHeaderName(name);
    return true;
  } catch {
    return name.trim() === '';
  }
}
