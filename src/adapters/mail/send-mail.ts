/** One mail over a connection that is already open, with nodemailer's protocol and message builder. */
import type SmtpConnection from 'nodemailer/lib/smtp-connection';
import type { EngineError } from '../../errors.js';
import type { EgressConnection } from '../egress/connect.js';
import { toolFailed } from '../failures.js';
import { said } from '../said.js';

/** Milliseconds that a server may be silent. */
const GREETING_MS = 10_000;
const SILENCE_MS = 30_000;
const MAX_RESPONSE_BYTES = 64 * 1024;

/** A mail; every text in it was checked for headers of its own. */
export interface Mail {
  readonly from: { readonly name: string; readonly address: string };
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly subject: string;
  readonly html: string;
  readonly text: string;
  /** The same for the same mail, so that servers notice a repetition. */
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly sentAt: number;
}

/** How a mail is handed in. */
export interface Submission {
  /** TLS from the first byte on; otherwise STARTTLS is demanded, never plain text. */
  readonly isTlsFromStart: boolean;
  readonly user: string;
  /** Empty: the server must not ask for one. */
  readonly password: string;
  readonly mail: Mail;
}

/** What a server took. */
export interface Submitted {
  readonly accepted: readonly string[];
  readonly rejected: readonly string[];
}

/** Sends a mail. The connection's owner closes it, which also ends this. Errors: `TOOL_FAILED`, without the password. */
export async function sendMail(connection: EgressConnection, submission: Submission): Promise<Submitted> {
  const [{ default: Connection }, { default: Composer }] = await Promise.all([
    import('nodemailer/lib/smtp-connection'),
    import('nodemailer/lib/mail-composer'),
  ]);
  const { mail, isTlsFromStart } = submission;
  const { from, to, cc, subject, html, text, id, sentAt } = mail;
  const domain = from.address.slice(from.address.lastIndexOf('@') + 1);
  const message = new Composer({
    from,
    to: [...to],
    cc: [...cc],
    subject,
    html,
    text,
    messageId: `<${id}@${domain}>`,
    date: new Date(sentAt),
    // A text is a text here, and never the name of a file or page.
    disableFileAccess: true,
    disableUrlAccess: true,
  }).compile();
  const session = new Connection({
    connection: connection.socket,
    host: connection.host,
    secure: isTlsFromStart,
    requireTLS: true,
    tls: connection.tls,
    // The machine's own name is no business of a server that a document names.
    name: domain,
    greetingTimeout: GREETING_MS,
    connectionTimeout: GREETING_MS,
    socketTimeout: SILENCE_MS,
    maxResponseSize: MAX_RESPONSE_BYTES,
  });
  try {
    const broken = new Promise<never>((_resolve, reject) => session.on('error', reject));
    const given = await Promise.race([broken, talk(session, submission, await message.build())]);
    session.quit();
    return given;
  } catch (error) {
    session.close();
    throw failureOf(error, submission.password);
  }
}

async function talk(session: SmtpConnection, submission: Submission, message: Buffer): Promise<Submitted> {
  const { mail, user, password } = submission;
  await called((done) => session.connect(done));
  if (session.allowsAuth) {
    if (password === '') throw toolFailed('the mail server asks for a password; set "password"');
    await called((done) => session.login({ user, pass: password, credentials: { user, pass: password } }, done));
  }
  const envelope = { from: mail.from.address, to: [...mail.to, ...mail.cc], size: message.length };
  return new Promise((resolve, reject) => {
    session.send(envelope, message, (error, sent) => {
      if (error || !sent) reject(error ?? toolFailed('the mail server took nothing'));
      else resolve({ accepted: sent.accepted, rejected: sent.rejected });
    });
  });
}

function called(work: (done: (error?: Error | null) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    work((error) => (error ? reject(error) : resolve()));
  });
}

/** What nodemailer puts into its errors. */
interface SmtpError {
  readonly code?: string;
  readonly response?: string;
  readonly originalCode?: string;
  readonly command?: string;
}

/** Why it failed, in plain words and with what the server said. */
function failureOf(error: unknown, password: string): EngineError | unknown {
  if (!(error instanceof Error) || error.name === 'EngineError') return error;
  const { code = '', response = '', originalCode = '', command = '' } = error as SmtpError;
  const words = said(response, [password]);
  const answer = words === '' ? '' : ` (it answered: ${words})`;
  return toolFailed(`${reasonOf({ code, originalCode, command, response })}${answer}`);
}

function reasonOf({ code, originalCode, command, response }: Required<SmtpError>): string {
  if (code === 'EAUTH') {
    return 'the mail server refused to log in; check "smtp_username" (or "email") and "password"';
  }
  if (code === 'ETLS' && response !== '' && command === 'STARTTLS') {
    return 'the mail server offers no STARTTLS, and nothing is sent without encryption';
  }
  if (code === 'ETLS' || /CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO|ALTNAME/.test(originalCode)) {
    return `no encrypted connection to the mail server came about${originalCode === '' ? '' : ` (${originalCode})`}`;
  }
  if (code === 'ETIMEDOUT') return 'the mail server was silent for too long';
  if (code === 'EENVELOPE') return 'the mail server refused the sender or the recipients';
  if (code === 'EMESSAGE') return 'the mail server refused the mail';
  if (code === 'ECONNECTION' || code === 'ESOCKET') return 'the mail server closed the connection';
  return 'the mail server answered something that cannot be used';
}
