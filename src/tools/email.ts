import { createHash } from 'node:crypto';
import { concatMap, map, type Observable, of, take } from 'rxjs';
import { z } from 'zod';
import { toolFailed } from '../adapters/failures.js';
import {
  addressesIn,
  addressOf,
  headerText,
  isHtml,
  type Mail,
  plainText,
  type Submitted,
  sendMail,
} from '../adapters/mail/send-mail.js';
import { fromAbortable } from '../operators/from-abortable.js';
import { queryArgument, text, wholeNumber } from './fields.js';
import { defineTool, type ToolEvent, type ToolResult, toolResult } from './tool.js';
import { requireService } from './tool-services.js';

/** The port whose connections are encrypted from their first byte on (RFC 8314). */
const TLS_PORT = 465;
/** Characters of a mail's content. */
const MAX_CONTENT = 1_000_000;

/** Required parameters, in the order in which they are checked. */
const NEEDED = ['smtp_server', 'email', 'sender_name'] as const;

/**
 * Sends a mail through an SMTP server that the document names: encrypted or not at all, and only to an address that the
 * policy for requests to the outside lets through. Never tried again, for the first try may have been delivered.
 *
 * Errors: `TOOL_FAILED` with what the server says; `URL_INVALID`, `URL_BLOCKED`, `EGRESS_FAILED` for its host.
 */
export const email = defineTool({
  component: 'Email',
  name: 'email',
  summary: 'Sends a mail to one or more people.',
  advice: 'Send only what the user asked for, once; several addresses are separated by commas.',
  arguments: {
    to_email: queryArgument('Addresses of the recipients, separated by commas.'),
    cc_email: z.string().default('').describe('Addresses that get a copy, separated by commas.'),
    subject: z.string().default('').describe('The subject, one line.'),
    content: z.string().max(MAX_CONTENT).default('').describe('The content: HTML, or plain text.'),
  },
  params: {
    smtp_server: text('Name or address of the SMTP server.'),
    smtp_port: wholeNumber(TLS_PORT, 'Its port: 465 for TLS from the start, others for STARTTLS; default 465.', {
      max: 65_535,
    }),
    email: text('Address of the sender.'),
    smtp_username: text('Name to log in with; default the address of the sender.'),
    password: text('Password or authorization code; may be empty when the server asks for none.'),
    sender_name: text('Name of the sender.'),
  },
  nodeDefaults: { to_email: '{sys.query}' },
  outputs: {
    success: { type: 'boolean', description: 'Whether the server took the mail; false when there is no recipient.' },
    rejected: { type: 'array', description: 'Recipients that the server refused while it took others.' },
  },
  primaryOutput: 'success',
  timeoutSeconds: 60,
  isRepeatable: false,
  check: (params) =>
    NEEDED.filter((name) => params[name].trim() === '').map((name) => `${name} is empty; a mail cannot go without it`),
  call({ to_email, cc_email, subject, content }, call): Observable<ToolEvent> {
    const { params, services, key } = call;
    const to = addressesIn(to_email);
    if (to.length === 0) return of(toolResult('', { success: false, rejected: [] }));
    const missing = NEEDED.find((name) => params[name].trim() === '');
    if (missing !== undefined) throw toolFailed(`there is no "${missing}"; set it`);
    const from = { name: headerText(params.sender_name), address: addressOf(params.email.trim()) };
    const cc = addressesIn(cc_email).filter((address) => !to.includes(address));
    const shown = { to, cc, subject: headerText(subject) || 'No Subject', ...bodyOf(content) };
    const id = createHash('sha256')
      .update(JSON.stringify([key, from, shown]))
      .digest('hex')
      .slice(0, 32);
    const mail: Mail = { from, ...shown, id, sentAt: call.now() };
    const { smtp_server: host, smtp_port: port, password } = params;
    const user = params.smtp_username.trim() || from.address;
    return requireService(services, 'http', 'Tool "email"')
      .connect({ host, port })
      .pipe(
        concatMap((connection) =>
          fromAbortable(() => sendMail(connection, { isTlsFromStart: port === TLS_PORT, user, password, mail })),
        ),
        // Ends the connection too.
        take(1),
        map(sentResult),
      );
  },
});

/** HTML goes as it is; of a plain text only its lines are marked. Either has a form for readers without HTML. */
function bodyOf(content: string): { readonly html: string; readonly text: string } {
  const given = content.trim() === '' ? 'No content provided' : content;
  if (isHtml(given)) return { html: given, text: plainText(given) };
  return { html: given.replace(/\r\n?|\n/g, '<br>\n'), text: given };
}

function sentResult({ accepted, rejected }: Submitted): ToolResult {
  const refused = rejected.length === 0 ? '' : ` The server refused ${rejected.join(', ')}.`;
  return toolResult(`The mail was sent to ${accepted.join(', ')}.${refused}`, {
    success: true,
    rejected: [...rejected],
  });
}
