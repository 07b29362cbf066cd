/** An SMTP server of the tests' own, with the test certificate; it keeps the mails that it takes. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { onTestFinished } from 'vitest';
import { TEST_CERTIFICATE, TEST_KEY } from '../../adapters/egress/support/certificate.js';

/** A mail that a server took. */
export interface TakenMail {
  readonly from: string;
  readonly to: readonly string[];
  /** Who had logged in; undefined for nobody. */
  readonly user: unknown;
  readonly isSecure: boolean;
  /** Headers by name in lower case, folded lines joined. */
  readonly headers: Readonly<Record<string, string>>;
  readonly source: string;
}

export interface MailServer {
  readonly port: number;
  readonly mails: readonly TakenMail[];
}

/** The password that it takes, whoever logs in. */
export const PASSWORD = 'mail-secret';

/** Starts a server on the loopback address; it goes with the test. */
export async function startMailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
  const mails: TakenMail[] = [];
  const server = new SMTPServer({
    key: TEST_KEY,
    cert: TEST_CERTIFICATE,
    disableReverseLookup: true,
    closeTimeout: 0,
    onAuth: ({ username = '', password }, _session, done) => {
      if (password === PASSWORD) done(null, { user: username });
      else done(Object.assign(new Error(`5.7.8 bad credentials: ${password}`), { responseCode: 535 }));
    },
    onData: (stream, session, done) => {
      const parts: Buffer[] = [];
      stream.on('data', (part: Buffer) => parts.push(part));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        const source = Buffer.concat(parts).toString('utf8');
        mails.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          user: session.user,
          isSecure: session.secure,
          headers: headersOf(source),
          source,
        });
        done(null, 'queued');
      });
    },
    ...options,
  });
  // A client that goes away in the middle is part of these tests.
  server.on('error', () => {});
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  onTestFinished(() => new Promise<void>((resolve) => server.close(resolve)));
  return { port: (server.server.address() as AddressInfo).port, mails };
}

function headersOf(source: string): Record<string, string> {
  const head = source.slice(0, source.indexOf('\r\n\r\n')).replace(/\r\n[ \t]+/g, ' ');
  const lines = head.split('\r\n').map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  return Object.fromEntries(lines);
}
