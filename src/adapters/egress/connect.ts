/** Connections for protocols other than HTTP, such as mail and databases, to hosts that documents name. */
import { isIP, isIPv6, type Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { concatMap, defer, Observable } from 'rxjs';
import { EngineError } from '../../errors.js';
import { fromAbortable } from '../../operators/from-abortable.js';
import { dial, resolveHost } from './dial.js';
import { exchangeFailure } from './failures.js';
import type { Policy } from './follow.js';
import { checkUrl, hostOf } from './url-policy.js';

/** A server, as a document names it. */
export interface EgressTarget {
  /** A name, or an IP address (that of version 6 without brackets). */
  readonly host: string;
  /** 1 to 65535. */
  readonly port: number;
}

/** A connection to a server whose address was judged. */
export interface EgressConnection {
  /** Connected, and not read from yet. */
  readonly socket: Socket;
  /** The checked host, for TLS over the socket: name to verify, certificates to trust. */
  readonly host: string;
  readonly tls: ConnectionOptions;
}

type ConnectPolicy = Pick<Policy, 'reach' | 'resolver' | 'trusted'>;

/**
 * Connects by the policy of an egress client. Emits the connection, and completes when it is closed; unsubscribing closes it.
 *
 * Errors: `URL_INVALID`, `URL_BLOCKED`, `EGRESS_FAILED` (retryable).
 */
export function connectTo(target: EgressTarget, policy: ConnectPolicy): Observable<EgressConnection> {
  return defer(() => fromAbortable((signal) => open(target, policy, signal))).pipe(
    concatMap((connection) => untilClosed(connection)),
  );
}

async function open(
  { host: given, port }: EgressTarget,
  { reach, resolver, trusted }: ConnectPolicy,
  signal: AbortSignal,
): Promise<EgressConnection> {
  const what = 'Server';
  const url = urlOf(given.trim(), port, (text) => checkUrl(text, { reach }, what));
  const host = hostOf(url);
  const asked = `Connection to ${JSON.stringify(`${host}:${port}`)}`;
  try {
    const addresses = await resolveHost(url, { resolver, reach, what });
    signal.throwIfAborted();
    const socket = await dial({ host, port, addresses, isTls: false, trusted, signal });
    const tls: ConnectionOptions = {
      host,
      // An address must not stand in SNI.
      ...(isIP(host) === 0 ? { servername: host } : {}),
      minVersion: 'TLSv1.2',
      ...(trusted === undefined ? {} : { ca: [...trusted] }),
    };
    return { socket, host, tls };
  } catch (error) {
    throw exchangeFailure(error, asked);
  }
}

/** The host as a URL, the one form that everything is judged in; its rules for ports of HTTP do not apply. */
function urlOf(host: string, port: number, check: (text: string) => URL): URL {
  const isName = host !== '' && !/[\s/\\?#@:[\]%]/.test(host);
  if (!isName && !isIPv6(host)) {
    const shown = JSON.stringify(host.slice(0, 100));
    throw new EngineError('URL_INVALID', `The server ${shown} cannot be used: it is neither a name nor an IP address.`);
  }
  if (!(Number.isInteger(port) && port >= 1 && port <= 65_535)) {
    throw new EngineError('URL_INVALID', `The port ${port} cannot be used: it is not within 1 to 65535.`);
  }
  return check(isIPv6(host) ? `http://[${host}]/` : `http://${host}/`);
}

function untilClosed(connection: EgressConnection): Observable<EgressConnection> {
  return new Observable((subscriber) => {
    const { socket } = connection;
    subscriber.add(() => socket.destroy());
    socket.once('close', () => subscriber.complete());
    subscriber.next(connection);
  });
}
