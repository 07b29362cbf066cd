import { expect, it } from 'vitest';
import { readConfig } from '../../../src/settings/read-settings.js';
import { readerAddress } from '../../../src/transport/research/reader-address.js';

const { trustedProxies } = readConfig({ RUNNEL_TRUSTED_PROXIES: '10.0.0.0/8' });

/** The address as a request from this peer with these headers says it. */
function addressOf(remoteAddress: string, headers: Readonly<Record<string, string>>): string {
  const reached = { socket: { remoteAddress }, headers, protocol: 'http', host: 'inner:9380' };
  return readerAddress(reached, trustedProxies);
}

it.each([
  ['what a trusted proxy says', '10.1.2.3', { proto: 'https', host: 'runnel.example' }, 'https://runnel.example/'],
  ['its scheme alone', '10.1.2.3', { proto: 'HTTPS' }, 'https://inner:9380/'],
  [
    'of several values the last',
    '10.1.2.3',
    { proto: 'http, https', host: 'evil.example, a.example:8443' },
    'https://a.example:8443/',
  ],
  ['a proxy over IPv6 that maps IPv4', '::ffff:10.1.2.3', { proto: 'https' }, 'https://inner:9380/'],
  [
    'a host that is an address',
    '10.1.2.3',
    { proto: 'https', host: '[2001:db8::1]:443' },
    'https://[2001:db8::1]:443/',
  ],
  ['nothing of a stranger', '192.0.2.7', { proto: 'https', host: 'evil.example' }, 'http://inner:9380/'],
  ['no other scheme', '10.1.2.3', { proto: 'javascript' }, 'http://inner:9380/'],
  ['no path or user in a host', '10.1.2.3', { proto: 'https', host: 'a.example/evil' }, 'https://inner:9380/'],
  ['no port that there is not', '10.1.2.3', { proto: 'https', host: 'a.example:99999' }, 'http://inner:9380/'],
])(
  'the address of a reader is taken from %s',
  (_, peer, { proto, host }: { proto?: string; host?: string }, address) => {
    const headers = {
      ...(proto !== undefined && { 'x-forwarded-proto': proto }),
      ...(host !== undefined && { 'x-forwarded-host': host }),
    };
    expect(addressOf(peer, headers)).toBe(address);
  },
);
