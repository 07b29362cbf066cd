/** Which URLs and addresses requests may reach. */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { EngineError } from '../../errors.js';
import { describeUrl } from './failures.js';

/** Longest URL that is accepted, in UTF-16 units; servers take less. */
const MAX_URL_LENGTH = 65_536;

/** Names that mean this machine, its network or its cloud, whatever a resolver says. */
const PRIVATE_NAMES = /^(?:localhost|localdomain|metadata|internal|local|home\.arpa)$/;
const PRIVATE_SUFFIXES = /\.(?:localhost|localdomain|internal|local|home\.arpa)$/;
const METADATA_NAMES = /^(?:metadata|metadata\.google\.internal|metadata\.goog|instance-data(?:\.ec2\.internal)?)$/;

// Whole names only: a link-local zone or a percent sign never gets this far.
const LABEL = /^[^.]{1,63}$/;

/**
 * Ports of services that read a line of HTTP as commands of their own; every browser refuses them (Fetch standard, "bad
 * port").
 */
const BAD_PORTS = new Set(
  `0 1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 123 135 137
  139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990 993 995 1719 1720 1723
  2049 3659 4045 4190 5060 5061 6000 6566 6665 6666 6667 6668 6669 6679 6697 10080`.split(/\s+/),
);

/** What a URL may lead to. */
export interface UrlPolicy {
  readonly reach: Reach;
  /** Accepts a user name and password before the host, as URLs of proxies have them. @default false */
  readonly allowCredentials?: boolean;
}

/**
 * Parses a URL and judges everything that can be judged without asking a resolver.
 *
 * `what` names it in messages. Errors: `URL_INVALID` (no URL, not http or https, credentials in it, a port of other services),
 * `URL_BLOCKED` (a name or literal address that must not be reached); neither is retryable.
 */
export function checkUrl(text: string, policy: UrlPolicy, what = 'URL'): URL {
  const url = parseUrl(text, what);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw invalid(what, text, 'its scheme is not http or https');
  }
  if (policy.allowCredentials !== true && (url.username !== '' || url.password !== '')) {
    throw invalid(what, text, 'it has a user name or password in it; send an Authorization header instead');
  }
  if (BAD_PORTS.has(url.port)) throw invalid(what, text, `port ${url.port} belongs to another kind of service`);
  const host = hostOf(url);
  if (isIP(host) === 0 && !host.split('.').every((label) => LABEL.test(label))) {
    throw invalid(what, text, 'its host is no name');
  }
  const refusal = refuseHost(host, policy.reach);
  if (refusal !== undefined) throw blocked(what, url, refusal);
  return url;
}

/** The host of a URL: an address without brackets, or a lower-case name without the dot at its end. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$|\.$/g, '');
}

/** The port of an http or https URL. */
export function portOf({ protocol, port }: URL): number {
  if (port !== '') return Number(port);
  return protocol === 'https:' ? 443 : 80;
}

/** The error for a URL that leads where it must not. */
export function blocked(what: string, url: URL, refusal: string): EngineError {
  return new EngineError(
    'URL_BLOCKED',
    `${what} ${describeUrl(url.href)} is not allowed: it leads to ${refusal}. ` +
      'Private networks are open only where the operator sets RUNNEL_ALLOW_PRIVATE_NETWORK=true.',
  );
}

function parseUrl(text: string, what: string): URL {
  const trimmed = text.trim();
  if (trimmed === '') throw new EngineError('URL_INVALID', `${what} is empty.`);
  if (trimmed.length > MAX_URL_LENGTH) {
    throw invalid(what, trimmed, `it is longer than ${MAX_URL_LENGTH} characters`);
  }
  // The URL parser drops line ends and tabs, so that what is checked would not be what was written.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (/[\u0000-\u001f\u007f]/.test(trimmed)) throw invalid(what, trimmed, 'it has control characters in it');
  // `http:host`, `http:/host` and `http:\\host` are all read as `http://host`; no honest document writes them.
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^/\\]/i.test(trimmed))
    throw invalid(what, trimmed, 'it does not begin with http://host');
  if (!URL.canParse(trimmed)) throw invalid(what, trimmed, 'it cannot be read');
  return new URL(trimmed);
}

function refuseHost(host: string, reach: Reach): string | undefined {
  if (isIP(host) !== 0) return refuseAddress(host, reach);
  if (reach === 'any') return undefined;
  if (METADATA_NAMES.test(host)) return 'a metadata service';
  if (reach === 'private') return undefined;
  return PRIVATE_NAMES.test(host) || PRIVATE_SUFFIXES.test(host) ? 'a name of a private network' : undefined;
}

function invalid(what: string, text: string, problem: string): EngineError {
  return new EngineError('URL_INVALID', `${what} ${describeUrl(text)} cannot be used: ${problem}.`);
}

/**
 * How far a request may reach: the public internet; private networks too; or anywhere, for what the operator himself fixed.
 */
export type Reach = 'public' | 'private' | 'any';

/** What `RUNNEL_ALLOW_PRIVATE_NETWORK` opens, by the names of ipaddr.js. Tunnels, test nets and multicast stay closed. */
const OPENED = new Set(['loopback', 'private', 'uniqueLocal', 'linkLocal', 'carrierGradeNat', 'unspecified']);

const RANGE_NAMES: Readonly<Record<string, string>> = {
  private: 'a private',
  uniqueLocal: 'a private',
  loopback: 'a loopback',
  linkLocal: 'a link-local',
  carrierGradeNat: 'a carrier NAT',
  unspecified: 'an unspecified',
  multicast: 'a multicast',
  broadcast: 'the broadcast',
};

/**
 * Services that hand out credentials of the machine, in every notation that ipaddr.js writes: AWS, GCP and Azure (254), AWS
 * containers, Scaleway, Alibaba, Azure's wire server (which has a public address) and Oracle.
 */
const METADATA = new Set([
  '169.254.169.254',
  '169.254.170.2',
  '169.254.170.23',
  '169.254.42.42',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  'fd00:ec2::254',
  'fd00:ec2::23',
  'fd00:42::42',
  'fd20:ce::254',
]);

/**
 * Says why an IP address must not be reached, such as `a loopback address`; undefined when it may.
 *
 * Only globally routable unicast is allowed, IPv4 in IPv6 (`::ffff:…`) judged as IPv4. A reach of `private` adds
 * private, loopback, link-local and carrier NAT addresses, but never a cloud's metadata service: an operator who runs
 * canvases for others on a rented machine needs the former without the latter.
 */
export function refuseAddress(address: string, reach: Reach): string | undefined {
  if (reach === 'any') return undefined;
  if (!ipaddr.isValid(address)) return 'no IP address';
  const parsed = ipaddr.process(address);
  if (METADATA.has(parsed.toString())) return 'the address of a metadata service';
  const range = rangeOf(parsed);
  if (range === 'unicast' || (reach === 'private' && OPENED.has(range))) return undefined;
  return `${RANGE_NAMES[range] ?? 'a reserved'} address`;
}

/** Of IPv6 only 2000::/3 is given out as global unicast; ipaddr.js calls everything unicast that no other range names. */
function rangeOf(address: ipaddr.IPv4 | ipaddr.IPv6): string {
  const range = address.range();
  if (range !== 'unicast' || address.kind() === 'ipv4') return range;
  return ((address as ipaddr.IPv6).parts[0] ?? 0) >> 13 === 1 ? range : 'reserved';
}
