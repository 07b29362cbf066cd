import { lastValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createEgressClient } from '../../../src/adapters/egress/egress-client.js';
import type { ErrorCode } from '../../../src/errors.js';

/** What the resolver of these tests answers; every other name does not exist. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  'public.example': ['93.184.216.34'],
  'loopback.example': ['127.0.0.1'],
  'loopback6.example': ['::1'],
  'mapped.example': ['::ffff:10.1.2.3'],
  'mixed.example': ['93.184.216.34', '10.0.0.5'],
  'mixed6.example': ['2606:4700::1111', 'fd00::5'],
  'metadata.example': ['169.254.169.254'],
  'wire-server.example': ['168.63.129.16'],
  'zone.example': ['fe80::1%eth0'],
  'nat64.example': ['64:ff9b::a9fe:a9fe'],
  'nonsense.example': ['not an address'],
  'nobody.example': [],
};

const HOSTILE: readonly (readonly [what: string, url: string, code: ErrorCode])[] = [
  // no URL, or one that is written to be misread
  ['nothing', '', 'URL_INVALID'],
  ['blanks', '  ', 'URL_INVALID'],
  ['a word', 'public.example', 'URL_INVALID'],
  ['no host', 'http://', 'URL_INVALID'],
  ['three slashes', 'http:///127.0.0.1/', 'URL_INVALID'],
  ['no slashes', 'http:127.0.0.1', 'URL_INVALID'],
  ['backslashes', 'http:\\\\127.0.0.1\\', 'URL_INVALID'],
  ['a relative scheme', '//127.0.0.1/', 'URL_INVALID'],
  ['a line end in the host', 'http://public.example\n.evil.example/', 'URL_INVALID'],
  ['a tab in the scheme', 'ht\ttp://127.0.0.1/', 'URL_INVALID'],
  ['a NUL in the path', 'http://public.example/\0', 'URL_INVALID'],
  ['a second request in the path', 'http://public.example/ HTTP/1.1\r\nHost: evil.example', 'URL_INVALID'],
  ['an encoded NUL in the host', 'http://public.example%00.evil.example/', 'URL_INVALID'],
  ['an encoded slash in the host', 'http://public.example%2f.evil.example/', 'URL_INVALID'],
  ['an empty label', 'http://public..example/', 'URL_INVALID'],
  ['an open bracket', 'http://[::1', 'URL_INVALID'],
  ['a link-local zone', 'http://[fe80::1%25eth0]/', 'URL_INVALID'],
  ['too large a number', 'http://0x100000000/', 'URL_INVALID'],
  ['too large a part', 'http://256.256.256.256/', 'URL_INVALID'],
  ['too large a port', 'http://public.example:65536/', 'URL_INVALID'],
  ['a URL without end', `http://public.example/${'a'.repeat(70_000)}`, 'URL_INVALID'],
  // schemes
  ['file', 'file:///etc/passwd', 'URL_INVALID'],
  ['file with a host', 'file://localhost/etc/passwd', 'URL_INVALID'],
  ['ftp', 'ftp://public.example/', 'URL_INVALID'],
  ['gopher', 'gopher://public.example:70/_GET', 'URL_INVALID'],
  ['data', 'data:text/plain,hello', 'URL_INVALID'],
  ['javascript', 'javascript:alert(1)', 'URL_INVALID'],
  ['a socket of the machine', 'unix:///var/run/docker.sock', 'URL_INVALID'],
  ['ws', 'ws://public.example/', 'URL_INVALID'],
  // credentials in the authority
  ['a user', 'http://user@public.example/', 'URL_INVALID'],
  ['a user and password', 'http://user:password@public.example/', 'URL_INVALID'],
  ['an address that looks like the host', 'http://public.example@127.0.0.1/', 'URL_INVALID'],
  ['two at signs', 'http://public.example@evil.example@127.0.0.1/', 'URL_INVALID'],
  ['a port that is a password', 'http://public.example:80@127.0.0.1/', 'URL_INVALID'],
  // ports of other services
  ['smtp', 'http://public.example:25/', 'URL_INVALID'],
  ['ssh', 'http://public.example:22/', 'URL_INVALID'],
  ['port 0', 'http://public.example:0/', 'URL_INVALID'],
  // addresses in every notation
  ['loopback', 'http://127.0.0.1/', 'URL_BLOCKED'],
  ['another loopback', 'https://127.255.255.254:8443/', 'URL_BLOCKED'],
  ['decimal', 'http://2130706433/', 'URL_BLOCKED'],
  ['octal', 'http://0177.0.0.1/', 'URL_BLOCKED'],
  ['octal in one', 'http://017700000001/', 'URL_BLOCKED'],
  ['hex', 'http://0x7f.0x0.0x0.0x1/', 'URL_BLOCKED'],
  ['hex in one', 'http://0x7f000001/', 'URL_BLOCKED'],
  ['short', 'http://127.1/', 'URL_BLOCKED'],
  ['mixed notations', 'http://0x7f.1/', 'URL_BLOCKED'],
  ['a trailing dot', 'http://127.0.0.1./', 'URL_BLOCKED'],
  ['percent signs', 'http://%31%32%37.0.0.1/', 'URL_BLOCKED'],
  ['circled digits', 'http://①②⑦.⓪.⓪.①/', 'URL_BLOCKED'],
  ['ideographic dots', 'http://127。0。0。1/', 'URL_BLOCKED'],
  ['zero', 'http://0/', 'URL_BLOCKED'],
  ['this network', 'http://0.0.0.0:8080/', 'URL_BLOCKED'],
  ['10/8', 'http://10.1.2.3/', 'URL_BLOCKED'],
  ['172.16/12', 'http://172.31.255.255/', 'URL_BLOCKED'],
  ['192.168/16', 'http://192.168.1.1/', 'URL_BLOCKED'],
  ['metadata', 'http://169.254.169.254/latest/meta-data/', 'URL_BLOCKED'],
  ['metadata as a number', 'http://2852039166/', 'URL_BLOCKED'],
  ['metadata of Azure', 'http://168.63.129.16/', 'URL_BLOCKED'],
  ['carrier NAT', 'http://100.64.0.1/', 'URL_BLOCKED'],
  ['protocol assignments', 'http://192.0.0.8/', 'URL_BLOCKED'],
  ['test net 1', 'http://192.0.2.1/', 'URL_BLOCKED'],
  ['test net 2', 'http://198.51.100.1/', 'URL_BLOCKED'],
  ['test net 3', 'http://203.0.113.1/', 'URL_BLOCKED'],
  ['benchmark net', 'http://198.18.0.1/', 'URL_BLOCKED'],
  ['multicast', 'http://224.0.0.1/', 'URL_BLOCKED'],
  ['reserved', 'http://240.0.0.1/', 'URL_BLOCKED'],
  ['broadcast', 'http://255.255.255.255/', 'URL_BLOCKED'],
  ['loopback v6', 'http://[::1]/', 'URL_BLOCKED'],
  ['loopback v6 in full', 'http://[0000:0000:0000:0000:0000:0000:0000:0001]/', 'URL_BLOCKED'],
  ['unspecified v6', 'http://[::]/', 'URL_BLOCKED'],
  ['mapped', 'http://[::ffff:127.0.0.1]/', 'URL_BLOCKED'],
  ['mapped in hex', 'http://[::ffff:7f00:1]/', 'URL_BLOCKED'],
  ['mapped metadata', 'http://[::ffff:a9fe:a9fe]/', 'URL_BLOCKED'],
  ['compatible', 'http://[::127.0.0.1]/', 'URL_BLOCKED'],
  ['translated', 'http://[::ffff:0:7f00:1]/', 'URL_BLOCKED'],
  ['NAT64', 'http://[64:ff9b::7f00:1]/', 'URL_BLOCKED'],
  ['local NAT64', 'http://[64:ff9b:1::a00:1]/', 'URL_BLOCKED'],
  ['6to4', 'http://[2002:7f00:1::]/', 'URL_BLOCKED'],
  ['Teredo', 'http://[2001::1]/', 'URL_BLOCKED'],
  ['documentation v6', 'http://[2001:db8::1]/', 'URL_BLOCKED'],
  ['unique local', 'http://[fd00::1]/', 'URL_BLOCKED'],
  ['metadata v6', 'http://[fd00:ec2::254]/', 'URL_BLOCKED'],
  ['link-local v6', 'http://[fe80::1]/', 'URL_BLOCKED'],
  ['site-local v6', 'http://[fec0::1]/', 'URL_BLOCKED'],
  ['multicast v6', 'http://[ff02::1]/', 'URL_BLOCKED'],
  ['discard', 'http://[100::1]/', 'URL_BLOCKED'],
  ['space that nobody was given', 'http://[4000::1]/', 'URL_BLOCKED'],
  // names
  ['localhost', 'http://localhost/', 'URL_BLOCKED'],
  ['LOCALHOST with a dot', 'http://LOCALHOST./', 'URL_BLOCKED'],
  ['wide letters', 'http://ｌｏｃａｌｈｏｓｔ/', 'URL_BLOCKED'],
  ['below localhost', 'http://a.localhost/', 'URL_BLOCKED'],
  ['localdomain', 'http://localhost.localdomain/', 'URL_BLOCKED'],
  ['mDNS', 'http://printer.local/', 'URL_BLOCKED'],
  ['metadata by name', 'http://metadata.google.internal/computeMetadata/v1/', 'URL_BLOCKED'],
  ['metadata by its short name', 'http://metadata/', 'URL_BLOCKED'],
  // what names resolve to
  ['a name for loopback', 'http://loopback.example/', 'URL_BLOCKED'],
  ['the same with a dot', 'http://loopback.example./', 'URL_BLOCKED'],
  ['a name for loopback v6', 'https://loopback6.example/', 'URL_BLOCKED'],
  ['a name for a mapped address', 'http://mapped.example/', 'URL_BLOCKED'],
  ['one private address among public ones', 'http://mixed.example/', 'URL_BLOCKED'],
  ['one private v6 address among public ones', 'http://mixed6.example/', 'URL_BLOCKED'],
  ['a name for metadata', 'http://metadata.example/', 'URL_BLOCKED'],
  ['a name for the wire server', 'http://wire-server.example/', 'URL_BLOCKED'],
  ['a name for an address with a zone', 'http://zone.example/', 'URL_BLOCKED'],
  ['a name for a NAT64 address', 'http://nat64.example/', 'URL_BLOCKED'],
  ['a resolver that answers nonsense', 'http://nonsense.example/', 'URL_BLOCKED'],
  ['a name without addresses', 'http://nobody.example/', 'EGRESS_FAILED'],
  ['a name that nobody knows', 'http://unknown.example/', 'EGRESS_FAILED'],
];

const resolver = async (host: string): Promise<readonly string[]> => {
  const found = Object.hasOwn(NAMES, host) ? NAMES[host] : undefined;
  if (found === undefined) throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: 'ENOTFOUND' });
  return found;
};

describe('hostile URLs', () => {
  it.each(HOSTILE)('%s: %s', async (_what, url, code) => {
    let wireUses = 0;
    const client = createEgressClient({
      resolver,
      transport: () => {
        wireUses += 1;
        return Promise.reject(new Error('nothing may be sent'));
      },
    });

    await expect(lastValueFrom(client.fetch({ url }))).rejects.toMatchObject({ name: 'EngineError', code });
    expect(wireUses).toBe(0);
  });

  it.each([
    'http://public.example/',
    'https://public.example:8443/a?b#c',
    'http://public.example./',
    'http://8.8.8.8/',
    'http://[::ffff:8.8.8.8]/',
    'http://[2606:4700::1111]/',
  ])('lets %s through to the wire', async (url) => {
    const reached: (readonly string[])[] = [];
    const client = createEgressClient({
      resolver,
      transport: (hop) => {
        reached.push(hop.addresses);
        return Promise.reject(new Error('far enough'));
      },
    });

    await expect(lastValueFrom(client.fetch({ url }))).rejects.toMatchObject({ code: 'EGRESS_FAILED' });
    expect(reached).toHaveLength(1);
    expect(reached[0]).toHaveLength(1);
  });

  it.each([
    ['metadata', 'http://169.254.169.254/'],
    ['mapped metadata', 'http://[::ffff:169.254.169.254]/'],
    ['metadata by name', 'http://metadata.google.internal/'],
    ['a name for metadata', 'http://metadata.example/'],
    ['metadata through NAT64', 'http://nat64.example/'],
    ['multicast', 'http://224.0.0.1/'],
    ['a test net', 'http://192.0.2.1/'],
  ])('refuses %s also where private networks are open', async (_what, url) => {
    const client = createEgressClient({ resolver, allowPrivateNetwork: true });

    await expect(lastValueFrom(client.fetch({ url }))).rejects.toMatchObject({ code: 'URL_BLOCKED', retryable: false });
  });
});
