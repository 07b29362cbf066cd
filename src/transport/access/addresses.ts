import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';
import type { AddressRange } from '../../settings/access.js';

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
