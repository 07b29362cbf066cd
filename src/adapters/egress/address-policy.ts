import ipaddr from 'ipaddr.js';

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
 * private, loopback, link-local and carrier NAT addresses, but never a cloud's metadata service: whoever runs canvases for
 * others on a rented machine wants the one without the other.
 */
export function refuseAddress(address: string, reach: Reach): string | undefined {
  if (reach === 'any') return undefined;
  const parsed = parse(address);
  if (parsed === undefined) return 'no IP address';
  if (METADATA.has(parsed.toString())) return 'the address of a metadata service';
  const range = rangeOf(parsed);
  if (range === 'unicast' || (reach === 'private' && OPENED.has(range))) return undefined;
  return `${RANGE_NAMES[range] ?? 'a reserved'} address`;
}

function parse(address: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  try {
    return ipaddr.process(address);
  } catch {
    return undefined;
  }
}

/** Of IPv6 only 2000::/3 is given out as global unicast; ipaddr.js calls everything unicast that no other range names. */
function rangeOf(address: ipaddr.IPv4 | ipaddr.IPv6): string {
  const range = address.range();
  if (range !== 'unicast' || address.kind() === 'ipv4') return range;
  return ((address as ipaddr.IPv6).parts[0] ?? 0) >> 13 === 1 ? range : 'reserved';
}
