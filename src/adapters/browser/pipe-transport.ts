import type { Readable, Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import type { ConnectOverCDPTransport } from 'playwright-core';

/** Longest message of Chromium, in UTF-16 units; a screenshot is one message. */
const MAX_MESSAGE = 256 * 1_048_576;

/**
 * Chromium's DevTools protocol over two pipes, a zero byte behind each message. No port is opened that others could use.
 *
 * A pipe that breaks, and a message that is too long, close the transport.
 */
export function openPipeTransport(input: Writable, output: Readable): ConnectOverCDPTransport {
  const decoder = new StringDecoder('utf8');
  let parts: string[] = [];
  let length = 0;
  let isOpen = true;
  const transport: ConnectOverCDPTransport = {
    send(message) {
      if (isOpen) input.write(`${JSON.stringify(message)}\0`);
    },
    close: () => {
      if (!isOpen) return;
      isOpen = false;
      input.destroy();
      output.destroy();
      transport.onclose?.();
    },
  };
  const deliver = (message: object): void => {
    if (isOpen) transport.onmessage?.(message);
  };
  const take = (text: string): void => {
    let start = 0;
    for (let end = text.indexOf('\0'); end !== -1; end = text.indexOf('\0', start)) {
      parts.push(text.slice(start, end));
      const message = JSON.parse(parts.join('')) as object;
      parts = [];
      length = 0;
      start = end + 1;
      // Each in a turn of its own: what the driver begins to wait for after one message may be the next one.
      setImmediate(deliver, message);
    }
    if (start === text.length) return;
    parts.push(text.slice(start));
    length += text.length - start;
    if (length > MAX_MESSAGE) transport.close();
  };
  output.on('data', (bytes: Buffer) => {
    if (isOpen) take(decoder.write(bytes));
  });
  for (const pipe of [input, output]) pipe.on('error', transport.close).on('close', transport.close);
  return transport;
}
