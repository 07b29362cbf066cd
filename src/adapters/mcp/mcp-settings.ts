/** MCP servers as operators declare them, and the headers of their requests. */
import { validateHeaderName } from 'node:http';
import { z } from 'zod';
import { EngineError } from '../../errors.js';
import { type JsonObject, parseJson } from '../../json.js';
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
    .refine(
      (headers) => Object.keys(headers).every((name) => name.trim() === '' || isHeaderName(name)),
      'has a name that is no header',
    ),
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
  const file = parseJson(text);
  if (file === undefined) throw new EngineError('CONFIG_INVALID', `${where} is no JSON.`);
  const parsed = fileShape.safeParse(file);
  if (parsed.success) return new Map(Object.entries(parsed.data.mcpServers));
  const problems = parsed.error.issues.map(
    ({ path, message }) => `${path.map(String).join('.') || 'file'}: ${message}`,
  );
  throw new EngineError(
    'CONFIG_INVALID',
    `${where} does not declare MCP servers as it should: ${problems.join('; ')}.`,
  );
}

function isUrl(text: string): boolean {
  return isAccepted(() => checkUrl(text, { reach: 'any' }));
}

function isHeaderName(name: string): boolean {
  return isAccepted(() => validateHeaderName(name));
}

function isAccepted(check: () => unknown): boolean {
  try {
    check();
    return true;
  } catch {
    return false;
  }
}

/** Belong to the protocol, not to the caller. */
const OWN = /^(?:accept|content-type|content-length|last-event-id|mcp-.*)$/;

/**
 * The headers of every request to a server: the operator's, `${name}` replaced from `variables`; what is blank then, or a bare
 * `Bearer`, is left out. Those of the run come over them; what cannot be a header, or is the protocol's own, is left out.
 */
export function serverHeaders(server: RemoteServer, ofRun: JsonObject): Readonly<Record<string, string>> {
  const { headers: declared, variables, authorization_token: token = '' } = server;
  const headers = new Map<string, string>();
  if (token.trim() !== '') headers.set('authorization', /^bearer\s/i.test(token) ? token : `Bearer ${token.trim()}`);
  for (const [name, value] of Object.entries(declared)) put(headers, name, substitute(value, variables));
  for (const [name, value] of Object.entries(ofRun)) {
    if (typeof value === 'string' || typeof value === 'number') put(headers, name, String(value));
  }
  return Object.fromEntries(headers);
}

function put(headers: Map<string, string>, name: string, given: string): void {
  const key = name.trim().toLowerCase();
  const value = given.trim();
  if (value === '' || /^bearer$/i.test(value) || OWN.test(key) || !isHeader(key, value)) return;
  headers.set(key, value);
}

/** A name that is not declared stays as it is written. */
function substitute(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replace(/\$\{([^{}]+)\}/g, (written, name: string) => {
    const key = name.trim();
    return Object.hasOwn(variables, key) ? (variables[key] as string) : written;
  });
}

/** Visible ASCII and blanks: what every server reads the same way. */
function isHeader(name: string, value: string): boolean {
  return isHeaderName(name) && /^[\t\x20-\x7e]*$/.test(value);
}
