/** WebSockets of agents for servers of Node. */
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { invalidOption } from '../../operators/invalid-option.js';
import type { AgentHandler } from './agent-handler.js';
import { requestOf } from './node-listener.js';

/** Bytes of a frame of a client. */
const MAX_FRAME_BYTES = 1024 ** 2;

/**
 * Makes a listener for the event `upgrade` of a server of Node: `server.on('upgrade', nodeUpgrade(agentHandler({ runner })))`. Sockets at other paths are
 * left to other listeners, and refused when there are none.
 *
 * @throws EngineError OPTION_INVALID
 */
export function nodeUpgrade(
  handler: Pick<AgentHandler, 'upgrade'>,
): (this: Pick<Server, 'listenerCount'> | undefined, request: IncomingMessage, socket: Duplex, head: Buffer) => void {
  if (typeof handler?.upgrade !== 'function')
    throw invalidOption('nodeUpgrade', 'handler', 'what agentHandler gives', handler);
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_FRAME_BYTES,
    perMessageDeflate: false,
    // A protocol that carries a key is never echoed.
    handleProtocols: (offered) => [...offered].find((protocol) => !protocol.startsWith('bearer.')) ?? false,
  });
  return function (incoming, socket, head) {
    // A client may go while it is asked who it is.
    const gone = (): void => void socket.destroy();
    socket.on('error', gone);
    const isAlone = (this?.listenerCount('upgrade') ?? 1) < 2;
    Promise.resolve()
      .then(() => handler.upgrade(requestOf(incoming, undefined)))
      .then(async (answer) => {
        if (typeof answer === 'function') {
          socket.off('error', gone);
          sockets.handleUpgrade(incoming, socket, head, answer);
        } else if (answer !== undefined || isAlone) await refuse(socket, answer ?? new Response(null, { status: 404 }));
        else socket.off('error', gone);
      })
      .catch(gone);
  };
}

async function refuse(socket: Duplex, answer: Response): Promise<void> {
  const body = await answer.text();
  const head = [
    `HTTP/1.1 ${answer.status} Refused`,
    'connection: close',
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
