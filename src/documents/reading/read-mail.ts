import type { StoredFile } from '../../records/files.js';
import { htmlToText } from './html-to-text.js';
import { MAX_HTML_BYTES, requireSize, toUnreadable } from './limits.js';
import type { Address, Email } from './mail-library.js';

/** Parts within parts, and messages within messages, that are followed. */
const MAX_NESTING = 32;
const MAX_MESSAGES = 4;

/** Bytes of all headers together. */
const MAX_HEADER_BYTES = 1_048_576;

/**
 * The text of a mail (`.eml`): sender, receivers, date and subject, a line each, then its text, else its HTML as Markdown, then the names of what is
 * attached. Attachments themselves are not read.
 *
 * Errors: FILE_UNREADABLE.
 */
export async function readMail({ name, bytes }: StoredFile): Promise<string> {
  const { MailParser } = await import('./mail-library.js');
  let mail: Email;
  try {
    mail = await MailParser.parse(bytes, {
      maxNestingDepth: MAX_NESTING,
      maxRfc822NestingDepth: MAX_MESSAGES,
      maxHeadersSize: MAX_HEADER_BYTES,
    });
  } catch (error) {
    throw toUnreadable(name, error, 'mail');
  }
  const { from, to = [], cc = [], date, subject, text, html, attachments } = mail;
  const head = [
    ['From', from === undefined ? '' : addressText(from)],
    ['To', to.map(addressText).join(', ')],
    ['Cc', cc.map(addressText).join(', ')],
    ['Date', date ?? ''],
    ['Subject', subject ?? ''],
  ].flatMap(([title, value]) => (value === '' ? [] : [`${title}: ${value}`]));
  const files = attachments.flatMap(({ filename, related }) =>
    filename === null || related === true ? [] : [filename],
  );
  return [
    head.join('\n'),
    text?.trim() || (await htmlText(html, name)),
    files.length === 0 ? '' : `Attachments: ${files.join(', ')}`,
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

async function htmlText(html: string | undefined, name: string): Promise<string> {
  if (html === undefined) return '';
  requireSize(name, 'its page has', Buffer.byteLength(html), MAX_HTML_BYTES);
  return (await htmlToText(html, name)).trim();
}

function addressText(address: Address): string {
  const { name } = address;
  if (address.group !== undefined) return `${name}: ${address.group.map(addressText).join(', ')}`;
  if (name === '') return address.address;
  return `${name} <${address.address}>`;
}
