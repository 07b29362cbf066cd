import { createPublicKey, type KeyObject } from 'node:crypto';
import { errors, type JWTPayload, jwtVerify } from 'jose';
import type { JsonObject } from '../../json.js';
import { refuse } from './refusal.js';
import { textsOf } from './webhook-config.js';

const SHARED_SECRET = new Set(['HS256', 'HS384', 'HS512']);
const PUBLIC_KEY = new Set(['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512']);

/** Claims with a meaning of their own, which are checked whenever they are there. */
const RESERVED = new Set(['exp', 'sub', 'aud', 'iss', 'nbf', 'iat']);

/**
 * Checks the bearer token of a call against `{secret, algorithm, audience, issuer, required_claims}`. The secret is shared for
 * HS algorithms and a PEM public key or certificate for the others, so that neither can pass for the other.
 *
 * @throws EngineError BAD_REQUEST saying what is wrong, in RAGFlow's words.
 */
export async function checkJwt(config: JsonObject, authorization: string | undefined, now: number): Promise<void> {
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
