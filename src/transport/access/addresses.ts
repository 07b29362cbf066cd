import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';

/** A range of addresses. */
export type AddressRange = readonly [ipaddr.IPv4 | ipaddr.IPv6, number];

/** Reads an address or a range in CIDR form; undefined when it is neither. */
export function parseRange(text: string): AddressRange | undefined {
  try {
    if (text.includes('/')) return ipaddr.parseCIDR(text);
    const address = ipaddr.process(text);
    return [address, address.kind() === 'ipv4' ? 32 : 128];
  } catch {
    return undefined;
  }
}

/** Whether an address lies in one of the ranges. */
export function isWithin(address: string, ranges: readonly AddressRange[]): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  return ranges.some(([range, bits]) => parsed.kind() === range.kind() && parsed.match(range, bits));
}

/**
 * Where a request comes from: the peer or, as long as that is a trusted proxy, what it says in `X-Forwarded-For`, from the
 * right. What stands left of the first address that is nobody's proxy may be made up.
 */
export function clientAddress({ socket, headers }: IncomingMessage, proxies: readonly AddressRange[]): string {
  const forwarded = [headers['x-forwarded-for'] ?? []].flat().join(',').split(',');
  let address = socket.remoteAddress ?? '';
  for (const hop of forwarded.map((part) => part.trim()).reverse()) {
    if (!isWithin(address, proxies) || !ipaddr.isValid(hop)) break;
    address = hop;
  }
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : address;
}
