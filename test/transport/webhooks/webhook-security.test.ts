import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/json.js';
import { parseRange } from '../../../src/settings/access.js';
import { createMemoryCounter } from '../../../src/transport/access/rate-limits.js';
import { WebhookSecurity } from '../../../src/transport/webhooks/webhook-security.js';

const NOW = 1_800_000_000_000;
const MIB = 1024 * 1024;

interface CallOptions {
  readonly headers?: Record<string, string>;
  readonly peer?: string;
  readonly proxies?: readonly string[];
}

/** What a call is told: how many bytes it may have, or why it is refused. */
async function told(security: JsonObject | undefined, options: CallOptions = {}): Promise<number | string> {
  const { headers = {}, peer = '192.0.2.7', proxies = [] } = options;
  const guard = new WebhookSecurity({
    createCounter: createMemoryCounter,
    trustedProxies: proxies.map(parseRange).filter((range) => range !== undefined),
    now: () => NOW,
    whenBroken: () => {},
  });
  const request = { headers, socket: { remoteAddress: peer } } as unknown as IncomingMessage;
  return guard.admit('k', security, request).catch((error: Error) => error.message);
}

const OPEN = { auth_type: 'none', allow_anonymous: true };
const ANONYMOUS = 'This webhook has no authentication, and anonymous calls are not allowed.';

describe('without credentials', () => {
  it.each([
    [undefined, ANONYMOUS],
    [{}, ANONYMOUS],
    [{ auth_type: 'none' }, ANONYMOUS],
    [{ auth_type: 'none', allow_anonymous: 'false' }, ANONYMOUS],
    [{ auth_type: 'none', allow_anonymous: 0 }, ANONYMOUS],
    [OPEN, 10 * MIB],
    [{ auth_type: 'none', allow_anonymous: 'Yes' }, 10 * MIB],
    [{ auth_type: 'none', allow_anonymous: 2 }, 10 * MIB],
    [{ auth_type: 'magic', allow_anonymous: true }, 'Unsupported auth_type: magic'],
  ])('%j: %s', async (security, answer) => expect(await told(security)).toBe(answer));
});

describe('sizes', () => {
  it.each([
    ['5kb', 5 * 1024],
    ['2 MB', 2 * MIB],
    ['10MB', 10 * MIB],
    ['11MB', 'max_body_size exceeds maximum allowed size (10MB)'],
    ['0kb', 'Invalid max_body_size: write a number with kb or mb, such as 10MB'],
    ['1gb', 'Invalid max_body_size: write a number with kb or mb, such as 10MB'],
    ['', 10 * MIB],
  ])('%j: %s', async (max_body_size, answer) => expect(await told({ ...OPEN, max_body_size })).toBe(answer));

  it('come before credentials', async () => {
    const security = { auth_type: 'token', max_body_size: '1kb' };
    const headers = { 'content-length': '1025' };
    expect(await told(security, { headers })).toBe('Request body too large: 1025 > 1024');
  });
});

describe('addresses', () => {
  const from = (forwarded: string) => ({ 'x-forwarded-for': forwarded });
  it.each([
    ['the peer', ['192.0.2.7'], {}, 10 * MIB],
    ['a range', ['192.0.2.0/24'], {}, 10 * MIB],
    ['entries as editors keep them', [{ value: '192.0.2.0/24' }], {}, 10 * MIB],
    ['IPv4 in IPv6', ['192.0.2.7'], { peer: '::ffff:192.0.2.7' }, 10 * MIB],
    ['IPv6', ['2001:db8::/32'], { peer: '2001:db8::1' }, 10 * MIB],
    ['another address', ['192.0.2.8'], {}, 'IP 192.0.2.7 is not allowed by whitelist'],
    ['a mistake', ['192.0.2.999'], {}, 'Invalid ip_whitelist entry: 192.0.2.999'],
    [
      'what anybody may claim',
      ['198.51.100.1'],
      { headers: from('198.51.100.1') },
      'IP 192.0.2.7 is not allowed by whitelist',
    ],
    [
      'what a trusted proxy says',
      ['198.51.100.1'],
      { headers: from('198.51.100.1'), proxies: ['192.0.2.7'] },
      10 * MIB,
    ],
    [
      'what stands left of the first stranger',
      ['198.51.100.1'],
      { headers: from('198.51.100.1, 203.0.113.9'), proxies: ['192.0.2.0/24'] },
      'IP 203.0.113.9 is not allowed by whitelist',
    ],
    [
      'a chain of proxies',
      ['198.51.100.1'],
      { headers: from('198.51.100.1, 192.0.2.8'), proxies: ['192.0.2.0/24'] },
      10 * MIB,
    ],
  ])('%s', async (_, ip_whitelist, options, answer) => {
    expect(await told({ ...OPEN, ip_whitelist }, options)).toBe(answer);
  });
});

describe('rates', () => {
  it.each([
    [{ limit: 0 }, 'rate_limit.limit must be a whole number above 0'],
    [{ limit: 'x' }, 'rate_limit.limit must be a whole number above 0'],
    [{ limit: 1, per: 'week' }, 'rate_limit.per must be one of second, minute, hour, day'],
    [{ limit: '1', per: 'Hour' }, 10 * MIB],
    [null, 10 * MIB],
  ])('%j: %s', async (rate_limit, answer) => expect(await told({ ...OPEN, rate_limit })).toBe(answer));
});

describe('a token', () => {
  it.each([
    [{ token_header: 'X-T', token_value: 'v' }, { 'x-t': 'v' }, 10 * MIB],
    [{ token_header: 'X-T', token_value: 'v' }, { 'x-t': 'w' }, 'Invalid token authentication'],
    [{ token_header: 'X-T', token_value: '' }, { 'x-t': '' }, 'Invalid token authentication'],
    [{ token_header: 'X-T' }, {}, 'Invalid token authentication'],
    [{}, {}, 'Invalid token authentication'],
  ])('%j against %j: %s', async (token, headers, answer) => {
    expect(await told({ auth_type: 'token', token }, { headers: headers as Record<string, string> })).toBe(answer);
  });
});

describe('basic credentials', () => {
  const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` });
  it.each([
    [{ username: 'u', password: 'p:q' }, basic('u:p:q'), 10 * MIB],
    [{ username: 'u', password: 'p' }, basic('u:x'), 'Invalid Basic Auth credentials'],
    [{ username: 'u', password: 'p' }, {}, 'Invalid Basic Auth credentials'],
    [{}, basic('undefined:undefined'), 'Invalid Basic Auth credentials'],
    [{ username: '', password: '' }, basic(':'), 'Invalid Basic Auth credentials'],
  ])('%j against %j: %s', async (basic_auth, headers, answer) => {
    expect(await told({ auth_type: 'basic', basic_auth }, { headers: headers as Record<string, string> })).toBe(answer);
  });
});

describe('a JWT', () => {
  const secret = 'a secret that is long enough for any of the algorithms, which want as many bytes as they give';
  const sign = (claims: object, alg: string, key: Uint8Array | KeyObject) =>
    new SignJWT({ ...claims }).setProtectedHeader({ alg }).sign(key);
  const shared = new TextEncoder().encode(secret);
  const check = async (jwt: JsonObject, token: string | undefined) =>
    told({ auth_type: 'jwt', jwt }, { headers: token === undefined ? {} : { authorization: token } });

  it.each(['HS256', 'hs384', 'HS512'])('signed with %s is taken', async (algorithm) => {
    expect(await check({ secret, algorithm }, `Bearer ${await sign({}, algorithm.toUpperCase(), shared)}`)).toBe(
      10 * MIB,
    );
  });

  it.each([
    ['RS256', () => generateKeyPairSync('rsa', { modulusLength: 2048 })],
    ['PS384', () => generateKeyPairSync('rsa', { modulusLength: 2048 })],
    ['ES256', () => generateKeyPairSync('ec', { namedCurve: 'P-256' })],
    ['ES512', () => generateKeyPairSync('ec', { namedCurve: 'P-521' })],
  ])(
    'signed with %s is taken, and one that takes the public key for a shared secret is not',
    async (algorithm, make) => {
      const { privateKey, publicKey } = make();
      const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
      const jwt = { secret: pem, algorithm };
      expect(await check(jwt, `Bearer ${await sign({}, algorithm, privateKey)}`)).toBe(10 * MIB);
      const forged = await sign({}, 'HS256', new TextEncoder().encode(pem));
      expect(await check(jwt, `Bearer ${forged}`)).toMatch(/^Invalid JWT: /);
    },
  );

  it('unsigned is refused, whatever is configured', async () => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const unsigned = `Bearer ${part({ alg: 'none' })}.${part({})}.`;
    expect(await check({ secret }, unsigned)).toMatch(/^Invalid JWT: /);
    expect(await check({ secret, algorithm: 'none' }, unsigned)).toBe('Unsupported JWT algorithm: NONE');
  });

  it.each([
    ['no secret', {}, {}, 'JWT secret not configured'],
    ['the wrong secret', { secret: 'another' }, {}, 'Invalid JWT: signature verification failed'],
    ['a PEM that is none', { secret: 'x', algorithm: 'RS256' }, {}, 'JWT secret not configured'],
    ['a time that is over', { secret }, { exp: NOW / 1000 - 1 }, expect.stringMatching(/^Invalid JWT: .*exp/)],
    ['a time to come', { secret }, { nbf: NOW / 1000 + 9 }, expect.stringMatching(/^Invalid JWT: .*nbf/)],
    ['another audience', { secret, audience: 'us' }, { aud: 'them' }, expect.stringMatching(/^Invalid JWT: .*aud/)],
    ['another issuer', { secret, issuer: ['us'] }, { iss: 'them' }, expect.stringMatching(/^Invalid JWT: .*iss/)],
    ['a missing claim', { secret, required_claims: ['role'] }, {}, 'Missing JWT claim: role'],
    [
      'a reserved claim',
      { secret, required_claims: [{ value: 'exp' }] },
      {},
      'Reserved JWT claim cannot be required: exp',
    ],
    ['what is asked for', { secret, audience: 'us', required_claims: ['role'] }, { aud: 'us', role: 1 }, 10 * MIB],
    ['an audience nobody asked for', { secret }, { aud: 'them' }, 10 * MIB],
  ])('with %s', async (_, jwt, claims, answer) => {
    expect(await check(jwt as JsonObject, `bearer ${await sign(claims, 'HS256', shared)}`)).toEqual(answer);
  });

  it.each([
    [undefined, 'Missing Bearer token'],
    ['Basic x', 'Missing Bearer token'],
    ['Bearer ', 'Empty Bearer token'],
    ['Bearer x.y', 'Invalid JWT: Invalid Compact JWS'],
  ])('that is %j: %s', async (token, answer) => expect(await check({ secret }, token)).toBe(answer));
});
