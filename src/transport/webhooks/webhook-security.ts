import { createPublicKey, type KeyObject } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { errors, type JWTPayload, jwtVerify } from 'jose';
import type { Json, JsonObject } from '../../json.js';
import type { CreateCounter } from '../../records/coordination.js';
import { type AddressRange, parseRange } from '../../settings/access.js';
import { sameSecret } from '../access/callers.js';
import { clientAddress, isWithin } from '../access/client-address.js';
import { createRateLimit, type RateLimit } from '../access/rate-limits.js';
import { objectOf, refuse, textsOf } from './webhook-config.js';

const MAX_BYTES = 10 * 1024 * 1024;
const UNITS: Readonly<Record<string, number>> = { kb: 1024, mb: 1024 * 1024 };
const SECONDS: Readonly<Record<string, number>> = { second: 1, minute: 60, hour: 3_600, day: 86_400 };
const DEFAULT_LIMIT = { limit: 60, per: 'minute' } as const;

const SHARED_SECRET = new Set(['HS256', 'HS384', 'HS512']);
const PUBLIC_KEY = new Set(['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512']);

/** Claims with a meaning of their own, which are checked whenever they are there. */
const RESERVED = new Set(['exp', 'sub', 'aud', 'iss', 'nbf', 'iat']);

/** What the checks need of the server. */
export interface SecurityOptions {
  readonly createCounter: CreateCounter;
  readonly trustedProxies: readonly AddressRange[];
  readonly now: () => number;
  /** Receives the error of a counter; the call is refused. */
  readonly whenBroken: (error: unknown) => void;
}

/** Lets calls of webhooks in, or not. */
export class WebhookSecurity {
  readonly #options: SecurityOptions;
  /** By the span that they count over. */
  readonly #limits: ReadonlyMap<string, RateLimit>;

  constructor(options: SecurityOptions) {
    this.#options = options;
    this.#limits = new Map(
      Object.entries(SECONDS).map(([per, seconds]) => [
        per,
        createRateLimit(options.createCounter(`webhook-${per}`, seconds), options.whenBroken),
      ]),
    );
  }

  /**
   * Checks a call: size, address, rate, credentials, in this order. `key` names the agent in the count. Gives the bytes that
   * the body may have, for what the header announces is only a promise.
   *
   * @throws EngineError BAD_REQUEST for the first check that fails.
   */
  async admit(key: string, security: JsonObject | undefined, request: IncomingMessage): Promise<number> {
    if (security === undefined || Object.keys(security).length === 0) throw noAnonymous();
    const maxBytes = maxBytesOf(security.max_body_size);
    const announced = Number(request.headers['content-length'] ?? 0);
    if (announced > maxBytes) throw bodyTooLarge(announced, maxBytes);
    this.#checkAddress(security, request);
    await this.#checkRate(key, security);
    await this.#checkCredentials(security, request);
    return maxBytes;
  }

  #checkAddress({ ip_whitelist }: JsonObject, request: IncomingMessage): void {
    const allowed = textsOf(ip_whitelist).map((text) => {
      const range = parseRange(text);
      if (range === undefined) throw refuse(`Invalid ip_whitelist entry: ${text}`);
      return range;
    });
    if (allowed.length === 0) return;
    const address = clientAddress(request, this.#options.trustedProxies);
    if (!isWithin(address, allowed)) throw refuse(`IP ${address} is not allowed by whitelist`);
  }

  async #checkRate(key: string, { rate_limit }: JsonObject): Promise<void> {
    const { limit, per } = { ...DEFAULT_LIMIT, ...withoutNulls(objectOf(rate_limit)) };
    const most = Number(limit);
    const span = this.#limits.get(String(per).toLowerCase());
    if (!Number.isSafeInteger(most) || most < 1) throw refuse('rate_limit.limit must be a whole number above 0');
    if (span === undefined) throw refuse(`rate_limit.per must be one of ${Object.keys(SECONDS).join(', ')}`);
    if ((await span(key, most)) !== undefined) throw refuse('Too many requests (rate limit exceeded)');
  }

  async #checkCredentials(security: JsonObject, { headers }: IncomingMessage): Promise<void> {
    const { auth_type: kind = 'none' } = security;
    switch (kind) {
      case 'none':
        if (!allowsAnonymous(security.allow_anonymous)) throw noAnonymous();
        return;
      case 'token':
        return checkToken(objectOf(security.token), headers);
      case 'basic':
        return checkBasic(objectOf(security.basic_auth), headers.authorization);
      case 'jwt':
        return checkJwt(objectOf(security.jwt), headers.authorization, this.#options.now());
      default:
        throw refuse(`Unsupported auth_type: ${String(kind)}`);
    }
  }
}

/** The header that the credentials of a call are in, in lower case. */
export function credentialHeader(security: JsonObject | undefined): string {
  const { token_header: name } = objectOf(security?.token);
  return security?.auth_type === 'token' && typeof name === 'string' ? name.trim().toLowerCase() : 'authorization';
}

/** The refusal of a body that is larger than its webhook takes. */
export function bodyTooLarge(bytes: number, maxBytes: number): Error {
  return refuse(`Request body too large: ${bytes} > ${maxBytes}`);
}

function checkToken({ token_header: name, token_value: value }: JsonObject, headers: IncomingMessage['headers']): void {
  const given = typeof name === 'string' ? headers[name.trim().toLowerCase()] : undefined;
  const isSame = typeof value === 'string' && value !== '' && typeof given === 'string' && sameSecret(given, value);
  if (!isSame) throw refuse('Invalid token authentication');
}

function checkBasic({ username, password }: JsonObject, authorization: string | undefined): void {
  const isConfigured =
    typeof username === 'string' && username !== '' && typeof password === 'string' && password !== '';
  const encoded = /^basic\s+(\S+)$/i.exec(authorization?.trim() ?? '')?.[1] ?? '';
  const given = Buffer.from(encoded, 'base64').toString('utf8');
  // Always compared, so that the time reveals nothing.
  const isSame = sameSecret(given, `${String(username)}:${String(password)}`);
  if (!isConfigured || !isSame) throw refuse('Invalid Basic Auth credentials');
}

function maxBytesOf(value: Json | undefined): number {
  if (value === undefined || value === null || value === '') return MAX_BYTES;
  const [, digits = '', unit = ''] = /^(\d{1,9})\s*(kb|mb)$/i.exec(String(value).trim()) ?? [];
  const bytes = Number(digits) * (UNITS[unit.toLowerCase()] ?? 0);
  if (bytes <= 0) throw refuse('Invalid max_body_size: write a number with kb or mb, such as 10MB');
  if (bytes > MAX_BYTES) throw refuse('max_body_size exceeds maximum allowed size (10MB)');
  return bytes;
}

function allowsAnonymous(value: Json | undefined): boolean {
  if (typeof value === 'string') return /^(?:1|true|yes|on)$/i.test(value.trim());
  return typeof value === 'number' ? value !== 0 : value === true;
}

function noAnonymous(): Error {
  return refuse('This webhook has no authentication, and anonymous calls are not allowed.');
}

function withoutNulls(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([, own]) => own !== null && own !== ''));
}

/**
 * Checks the bearer token of a call against `{secret, algorithm, audience, issuer, required_claims}`. The secret is shared for
 * HS algorithms and a PEM public key or certificate for the others, so that neither can pass for the other.
 *
 * @throws EngineError BAD_REQUEST saying what is wrong, in RAGFlow's words.
 */
async function checkJwt(config: JsonObject, authorization: string | undefined, now: number): Promise<void> {
  const { secret, audience, issuer } = config;
  if (typeof secret !== 'string' || secret === '') throw refuse('JWT secret not configured');
  const algorithm = algorithmOf(config);
  const token = bearerOf(authorization);
  const claims = requiredClaims(config);
  const payload = await verify(token, keyOf(secret, algorithm), {
    algorithms: [algorithm],
    currentDate: new Date(now),
    ...(textsOf(audience).length === 0 ? {} : { audience: [...textsOf(audience)] }),
    ...(textsOf(issuer).length === 0 ? {} : { issuer: [...textsOf(issuer)] }),
  });
  for (const claim of claims) {
    if (!Object.hasOwn(payload, claim)) throw refuse(`Missing JWT claim: ${claim}`);
  }
}

async function verify(
  token: string,
  key: Uint8Array | KeyObject,
  options: Parameters<typeof jwtVerify>[2],
): Promise<JWTPayload> {
  try {
    return (await jwtVerify(token, key, options)).payload;
  } catch (error) {
    // The library's words are about the token; anything else would be about the key.
    throw refuse(
      `Invalid JWT: ${error instanceof errors.JOSEError ? error.message : 'it cannot be checked with this key'}`,
    );
  }
}

function algorithmOf({ algorithm }: JsonObject): string {
  const name = typeof algorithm === 'string' && algorithm.trim() !== '' ? algorithm.trim().toUpperCase() : 'HS256';
  if (SHARED_SECRET.has(name) || PUBLIC_KEY.has(name)) return name;
  throw refuse(`Unsupported JWT algorithm: ${name}`);
}

function keyOf(secret: string, algorithm: string): Uint8Array | KeyObject {
  if (SHARED_SECRET.has(algorithm)) return new TextEncoder().encode(secret);
  try {
    return createPublicKey(secret);
  } catch {
    throw refuse('JWT secret not configured');
  }
}

function bearerOf(authorization: string | undefined): string {
  const match = /^bearer(?:\s+(.*))?$/is.exec(authorization?.trim() ?? '');
  if (match === null) throw refuse('Missing Bearer token');
  const token = match[1]?.trim() ?? '';
  if (token === '') throw refuse('Empty Bearer token');
  return token;
}

function requiredClaims({ required_claims }: JsonObject): readonly string[] {
  const claims = textsOf(required_claims);
  for (const claim of claims) {
    if (RESERVED.has(claim)) throw refuse(`Reserved JWT claim cannot be required: ${claim}`);
  }
  return claims;
}
