/** Connections of clients that have not said yet who they are, or have nothing to do: bounded per address and in all. */
import type { Socket } from 'node:net';
import type { AddressRange } from '../../settings/access.js';
import { clientAddress, isWithin, networkOf, type Origin } from './client-address.js';

export interface StrangersOptions {
  /** Of one address. */
  readonly perAddress: number;
  readonly most: number;
  /** Proxies, whose connections count for the client that they name. */
  readonly trustedProxies: readonly AddressRange[];
}

/** The address of a trusted proxy that has not named a client yet. */
const PROXY = '';

/**
 * The sockets that no valid key speaks for: new ones, those whose request is still coming, those that wait for another request.
 *
 * One more than there may be ends the one that has waited longest, of its address or of all. So a client that opens connections and says nothing
 * ends its own, and does not shut out others, not even of its own address.
 */
export class Strangers {
  readonly #options: StrangersOptions;
  /** By address; in each the one that waits longest is the first. */
  readonly #byAddress = new Map<string, Set<Socket>>();
  /** With their addresses, in the order in which they began to wait. */
  readonly #waiting = new Map<Socket, string>();
  /** The addresses of sockets; of one of a proxy that of its last client. */
  readonly #named = new WeakMap<Socket, string>();

  constructor(options: StrangersOptions) {
    this.#options = options;
  }

  /** How many wait. */
  get size(): number {
    return this.#waiting.size;
  }

  /** A socket is open, and ends to wait when it is closed. */
  connected(socket: Socket): void {
    this.wait(socket);
    socket.once('close', () => this.#remove(socket));
  }

  /** A request came: behind a trusted proxy it says whose the socket is for now. */
  asks({ socket, headers }: Origin & { readonly socket: Socket }): void {
    const { trustedProxies } = this.#options;
    if (trustedProxies.length === 0) return;
    this.#named.set(socket, networkOf(clientAddress({ socket, headers }, trustedProxies)));
    if (this.#waiting.has(socket)) this.wait(socket);
  }

  /** A valid key speaks for what the socket does now. */
  admit(socket: Socket): void {
    this.#remove(socket);
  }

  /** It waits for what comes next. */
  wait(socket: Socket): void {
    if (socket.destroyed) return;
    const { perAddress, most } = this.#options;
    const address = this.#addressOf(socket);
    this.#remove(socket);
    const own = this.#byAddress.get(address) ?? new Set();
    this.#byAddress.set(address, own.add(socket));
    this.#waiting.set(socket, address);
    // Those of a proxy are not told apart before their first request.
    if (address !== PROXY && own.size > perAddress) this.#endFirst(own);
    if (this.#waiting.size > most) this.#endFirst(this.#waiting.keys());
  }

  #addressOf(socket: Socket): string {
    const named = this.#named.get(socket);
    if (named !== undefined) return named;
    const peer = socket.remoteAddress ?? '';
    if (isWithin(peer, this.#options.trustedProxies)) return PROXY;
    const address = networkOf(peer);
    this.#named.set(socket, address);
    return address;
  }

  #endFirst(sockets: Iterable<Socket>): void {
    const [first] = sockets;
    if (first === undefined) return;
    this.#remove(first);
    first.destroy();
  }

  #remove(socket: Socket): void {
    const address = this.#waiting.get(socket);
    if (address === undefined) return;
    this.#waiting.delete(socket);
    const own = this.#byAddress.get(address);
    own?.delete(socket);
    if (own?.size === 0) this.#byAddress.delete(address);
  }
}
