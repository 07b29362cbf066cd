/** Mail: recipients and headers checked, plain text parts, sending. */
import type SmtpConnection from 'nodemailer/lib/smtp-connection';
import type { EngineError } from '../../errors.js';
import { unescapeHtml } from '../../templates/escape-html.js';
import type { EgressConnection } from '../egress/connect.js';
import { quoteResponse, toolFailed } from '../failures.js';

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
    // A server that a document names does not learn this machine's name.
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
  const sent = await called<SmtpConnection.SentMessageInfo>((done) => session.send(envelope, message, done));
  if (!sent) throw toolFailed('the mail server took nothing');
  return { accepted: sent.accepted, rejected: sent.rejected };
}

function called<T>(work: (done: (error?: Error | null, given?: T) => void) => void): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    work((error, given) => (error ? reject(error) : resolve(given)));
  });
}

/** What nodemailer puts into its errors. */
interface SmtpError {
  readonly code?: string;
  readonly response?: string;
  readonly originalCode?: string;
  readonly command?: string;
}

/** Why it failed, with the server's own response. */
function failureOf(error: unknown, password: string): EngineError | unknown {
  if (!(error instanceof Error) || error.name === 'EngineError') return error;
  const { code = '', response = '', originalCode = '', command = '' } = error as SmtpError;
  const words = quoteResponse(response, [password]);
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

// Addresses and headers of a mail, as models and documents write them. Nothing here can start a header of its own.

const MAX_RECIPIENTS = 100;
const MAX_ADDRESS = 254;
const MAX_HEADER = 500;

/** One `@`, a domain, and no character that means something in a header or to a server. */
const ADDRESS = /^[^\s"(),:;<>@[\\\]]{1,64}@[^\s"(),:;<>@[\\\]]{1,190}$/;

/**
 * The addresses of a text: split at commas, semicolons and line ends, each alone or as `Name <address>`, each once.
 *
 * @throws EngineError TOOL_FAILED for one that is no address, or too many.
 */
export function addressesIn(text: string): readonly string[] {
  const parts = text.split(/[,;\r\n]/).map((part) => part.trim());
  const addresses = new Set(parts.filter((part) => part !== '').map(addressOf));
  if (addresses.size > MAX_RECIPIENTS) throw toolFailed(`there are more than ${MAX_RECIPIENTS} recipients`);
  return [...addresses];
}

/** One address. @throws EngineError TOOL_FAILED when it is none. */
export function addressOf(text: string): string {
  const open = text.lastIndexOf('<');
  const bare = open >= 0 && text.endsWith('>') ? text.slice(open + 1, -1).trim() : text.trim();
  if (bare.length <= MAX_ADDRESS && ADDRESS.test(bare) && !hasControl(bare)) return bare;
  throw toolFailed(`${JSON.stringify(text.slice(0, 100))} is no mail address`);
}

/** A text that stands in a header: one line, without control characters, of a bounded length. */
export function headerText(text: string): string {
  const line = Array.from(text.slice(0, 2 * MAX_HEADER), (character) => (hasControl(character) ? ' ' : character));
  return line.slice(0, MAX_HEADER).join('').replace(/\s+/g, ' ').trim();
}

function hasControl(text: string): boolean {
  return /\p{Cc}|[\u2028\u2029]/u.test(text);
}

// The plain text part, for mail readers without HTML.

/** Elements whose content is not displayed. */
const UNSEEN = new Set(['script', 'style', 'head', 'title', 'template']);

/** Elements that begin a line. */
const LINES = /^(?:br|p|div|li|tr|h[1-6]|ul|ol|table|blockquote|pre|hr|section|article)$/;

/** Whether a text has a tag in it. */
export function isHtml(text: string): boolean {
  return /<\/?[a-z][a-z0-9]*(?:\s|\/?>)/i.test(text);
}

/** The text of HTML: tags left out, lines where blocks begin. Takes time in proportion to the length, whatever is written. */
export function plainText(html: string): string {
  const lower = html.toLowerCase();
  const pieces: string[] = [];
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf('<', at);
    const end = open < 0 ? -1 : html.indexOf('>', open);
    if (end < 0) break;
    pieces.push(html.slice(at, open));
    const name = /^\/?([a-z][a-z0-9]*)/.exec(lower.slice(open + 1, open + 20))?.[1] ?? '';
    if (LINES.test(name)) pieces.push('\n');
    at = end + 1;
    if (lower[open + 1] === '/' || !UNSEEN.has(name)) continue;
    const close = lower.indexOf(`</${name}`, at);
    at = close < 0 ? html.length : close;
  }
  return unescapeHtml(pieces.join('') + html.slice(at))
    .replaceAll('\u00a0', ' ')
    .split('\n')
    .map((line) => line.trim())
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}
