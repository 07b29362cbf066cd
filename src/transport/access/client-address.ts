/** Where requests come from. */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { AddressRange } from '../../settings/access.js';

/** What of a request says where it comes from. */
export type Origin = Pick<IncomingMessage, 'headers'> & { readonly socket: Pick<Socket, 'remoteAddress'> };

/** Whether an address lies in one of the ranges. */
export function isWithin(address: string, ranges: readonly AddressRange[]): boolean {
  if (ranges.length === 0 || !ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  return ranges.some(([range, bits]) => parsed.kind() === range.kind() && parsed.match(range, bits));
}

/**
 * Where a request comes from: the peer or, as long as that is a trusted proxy, the addresses in `X-Forwarded-For`, from the
 * right. What is left of the first address that is no trusted proxy may be forged.
 */
export function clientAddress({ socket, headers }: Origin, proxies: readonly AddressRange[]): string {
  let address = socket.remoteAddress ?? '';
  if (proxies.length > 0) {
    const forwarded = [headers['x-forwarded-for'] ?? []].flat().join(',').split(',');
    for (const hop of forwarded.map((part) => part.trim()).reverse()) {
      if (!isWithin(address, proxies) || !ipaddr.isValid(hop)) break;
      address = hop;
    }
  }
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : address;
}

/** What of an address counts as one client: an IPv4 address, or the network (/64) of an IPv6 one, whose hosts are free to choose. */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed instanceof ipaddr.IPv6 ? `${parsed.parts.slice(0, 4).join(':')}/64` : parsed.toString();
}
