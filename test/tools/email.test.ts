import { once } from 'node:events';
import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createEgressClient, type EgressClient } from '../../src/adapters/egress/egress-client.js';
import { addressesIn, headerText, plainText } from '../../src/adapters/mail/send-mail.js';
import type { JsonObject } from '../../src/json.js';
import { callTool } from '../../src/tools/call-tool.js';
import { email } from '../../src/tools/email.js';
import { TEST_CERTIFICATE } from '../adapters/egress/support/certificate.js';
import { serveRaw } from '../adapters/egress/support/servers.js';
import { PASSWORD, startMailServer } from './support/mail-server.js';
import { type Calling, callOf, errorOf, resultOf } from './support/upstream.js';

/** Trusts the test certificate, and finds `secure.example` on this machine. */
const trusting = (): EgressClient =>
  createEgressClient({
    allowPrivateNetwork: true,
    resolver: async () => ['127.0.0.1'],
    trustedCertificates: [TEST_CERTIFICATE],
  });

const args = { to_email: 'bo@y.example', subject: 'Hi', content: '<p>Hello <b>Bo</b></p>' };
const SENDER = { email: 'ada@x.example', password: PASSWORD, sender_name: 'Ada' };

function sending(port: number, changed: { args?: JsonObject; params?: JsonObject; http?: EgressClient } = {}): Calling {
  return {
    args: { ...args, ...changed.args },
    params: { smtp_server: 'secure.example', smtp_port: port, ...SENDER, ...changed.params },
    services: { http: changed.http ?? trusting() },
  };
}

describe('email', () => {
  it('logs in over STARTTLS and sends HTML with plain text beside it', async () => {
    const { port, mails } = await startMailServer();
    const sent = await resultOf(email, '', sending(port));
    expect(sent).toMatchObject({
      text: 'The mail was sent to bo@y.example.',
      outputs: { success: true, rejected: [] },
    });
    expect(mails).toMatchObject([
      {
        from: 'ada@x.example',
        to: ['bo@y.example'],
        user: 'ada@x.example',
        isSecure: true,
        headers: {
          from: 'Ada <ada@x.example>',
          to: 'bo@y.example',
          subject: 'Hi',
          date: 'Sat, 21 Nov 2026 12:00:00 +0000',
          'content-type': expect.stringContaining('multipart/alternative'),
        },
      },
    ]);
    expect(mails[0]?.source).toMatch(/text\/plain.*Hello Bo.*text\/html.*<p>Hello <b>Bo<\/b><\/p>/s);
  });

  it('speaks TLS from the start on port 465', async () => {
    const { port, mails } = await startMailServer({ secure: true });
    const client = trusting();
    const asked: unknown[] = [];
    const http: EgressClient = {
      ...client,
      connect: (target) => {
        asked.push(target);
        return client.connect({ ...target, port });
      },
    };
    await resultOf(email, '', sending(465, { http, params: { smtp_username: 'ada-login' } }));
    expect(asked).toEqual([{ host: 'secure.example', port: 465 }]);
    expect(mails).toMatchObject([{ user: 'ada-login', isSecure: true }]);
  });

  it('sends to everyone once, copies too', async () => {
    const { port, mails } = await startMailServer();
    const to_email = 'bo@y.example; Cy <cy@y.example>\nbo@y.example';
    await resultOf(email, '', sending(port, { args: { to_email, cc_email: 'cy@y.example,di@y.example' } }));
    expect(mails[0]?.to).toEqual(['bo@y.example', 'cy@y.example', 'di@y.example']);
    expect(mails[0]?.headers).toMatchObject({ to: 'bo@y.example, cy@y.example', cc: 'di@y.example' });
  });

  it('lets no text start a header of its own', async () => {
    const { port, mails } = await startMailServer();
    const subject = 'Hi\r\nBcc: eve@z.example\r\n\r\nbody';
    const sender_name = 'Ada\nReply-To: eve@z.example';
    await resultOf(email, '', sending(port, { args: { subject }, params: { sender_name } }));
    expect(mails[0]?.to).toEqual(['bo@y.example']);
    expect(mails[0]?.headers.subject).toBe('Hi Bcc: eve@z.example body');
    expect(mails[0]?.headers).not.toHaveProperty('bcc');
    expect(mails[0]?.headers).not.toHaveProperty('reply-to');
  });

  it.each([
    ['an encoded word', '=?utf-8?Q?Hi=0D=0ABcc:_eve@z.example?=', '=?utf-8?Q?Hi=0D=0ABcc:_eve@z.example?='],
    ['an encoded word in base64', '=?utf-8?B?SGkNCkJjYzogZXZlQHouZXhhbXBsZQ==?=', undefined],
    [
      'other line ends',
      'Hi\u2028Bcc: eve@z.example\u2029X: 1\u0085Y: 2\u000bZ: 3',
      'Hi Bcc: eve@z.example X: 1 Y: 2 Z: 3',
    ],
    ['folding', 'Hi\r\n Bcc: eve@z.example', 'Hi Bcc: eve@z.example'],
    ['very many characters', `${'x'.repeat(50_000)}\r\nBcc: eve@z.example`, 'x'.repeat(500)],
    ['a zero byte', 'Hi\u0000\r\nBcc: eve@z.example', 'Hi Bcc: eve@z.example'],
  ])('lets no header begin by %s', async (_, subject, expected) => {
    const { port, mails } = await startMailServer();
    const params = { sender_name: subject };
    await resultOf(email, '', sending(port, { args: { subject }, params }));
    const [mail] = mails;
    expect(mail?.to).toEqual(['bo@y.example']);
    expect(mail?.from).toBe('ada@x.example');
    for (const name of ['bcc', 'x', 'y', 'z']) expect(mail?.headers).not.toHaveProperty(name);
    const [head = ''] = (mail?.source ?? '').split(/\r?\n\r?\n/);
    expect(head).not.toMatch(/^(?:bcc|x|y|z):/im);
    if (expected !== undefined && !expected.startsWith('=?')) expect(mail?.headers.subject).toBe(expected);
  });

  it.each(['\r\n.\r\nMAIL FROM:<eve@z.example>\r\n', '\n.\nDATA\n', '\r.\r\r\n.\r', '.\n', '\n.\r\n'])(
    'stays one mail with %j in its content',
    async (end) => {
      const { port, mails } = await startMailServer();
      await resultOf(email, '', sending(port, { args: { content: `before${end}after` } }));
      expect(mails).toHaveLength(1);
      expect(mails[0]?.source).toMatch(/before[\s\S]*after/);
      expect(mails[0]?.to).toEqual(['bo@y.example']);
    },
  );

  it.each([
    'bo@y.example\r\nBcc: eve@z.example',
    'bo@y.example>\r\nRCPT TO:<eve@z.example',
    '=?utf-8?q?bo=40y.example=0d=0aBcc:_eve?=',
    'bo@y.example> SIZE=1 <eve@z.example',
    'bo\u0000@y.example',
    '"bo\r\nBcc: eve"@y.example',
    'bo@y.example\u2028Bcc:eve@z.example',
  ])('sends nothing to %j', async (to_email) => {
    const { port, mails } = await startMailServer();
    expect(await errorOf(email, '', sending(port, { args: { to_email } }))).toMatchObject({ code: 'TOOL_FAILED' });
    expect(mails).toEqual([]);
  });

  it('has words for what is left empty', async () => {
    const { port, mails } = await startMailServer();
    await resultOf(email, '', sending(port, { args: { subject: ' ', content: '' } }));
    expect(mails[0]?.headers.subject).toBe('No Subject');
    expect(mails[0]?.source).toContain('No content provided');
  });

  it('gives a repeated mail the same id, and another mail another one', async () => {
    const { port, mails } = await startMailServer();
    for (const content of ['a', 'a', 'b']) await resultOf(email, '', sending(port, { args: { content } }));
    const [first, again, other] = mails.map(({ headers }) => headers['message-id']);
    expect(first).toMatch(/^<[0-9a-f]{32}@x\.example>$/);
    expect(again).toBe(first);
    expect(other).not.toBe(first);
  });

  it('needs no password where nobody asks for one', async () => {
    const { port, mails } = await startMailServer({ disabledCommands: ['AUTH'] });
    await resultOf(email, '', sending(port, { params: { password: '' } }));
    expect(mails).toMatchObject([{ to: ['bo@y.example'], isSecure: true }]);
  });

  it('tells which recipients were refused while others were taken', async () => {
    const { port } = await startMailServer({
      onRcptTo: ({ address }, _session, done) => done(address.startsWith('no') ? new Error('nobody here') : null),
    });
    const sent = await resultOf(email, '', sending(port, { args: { to_email: 'bo@y.example,no@y.example' } }));
    expect(sent.outputs).toEqual({ success: true, rejected: ['no@y.example'] });
    expect(sent.text).toContain('refused no@y.example');
  });

  it('has no success without a recipient, and asks nobody', async () => {
    expect(await resultOf(email, '', sending(1, { args: { to_email: ' , ' } }))).toMatchObject({
      text: '',
      outputs: { success: false },
    });
  });
});

describe('email that cannot be sent', () => {
  it('says that the login was refused, and repeats no password', async () => {
    const { port, mails } = await startMailServer();
    const { message } = await errorOf(email, '', sending(port, { params: { password: 'wrong-secret' } }));
    expect(message).toContain('Email error: the mail server refused to log in; check "smtp_username"');
    expect(message).toContain('bad credentials: [REDACTED]');
    expect(mails).toEqual([]);
  });

  it.each([
    ['a password is asked for', {}, { password: '' }, 'asks for a password'],
    ['no STARTTLS is offered', { hideSTARTTLS: true, disabledCommands: ['STARTTLS'] }, {}, 'offers no STARTTLS'],
    ['every recipient is refused', { onRcptTo: refuse }, {}, 'refused the sender or the recipients'],
    ['the mail is too large', { size: 10 }, {}, 'refused the mail'],
  ])('says that %s', async (_what, options, params, message) => {
    const { port, mails } = await startMailServer(options);
    const error = await errorOf(email, '', sending(port, { params }));
    expect(error).toMatchObject({ code: 'TOOL_FAILED', message: expect.stringContaining(message) });
    expect(mails).toEqual([]);
  });

  it.each([
    ['is not trusted', createEgressClient({ allowPrivateNetwork: true }), '127.0.0.1'],
    ['belongs to another name', trusting(), 'other.example'],
  ])('sends nothing where the certificate %s', async (_what, http, smtp_server) => {
    const { port, mails } = await startMailServer();
    const error = await errorOf(email, '', sending(port, { http, params: { smtp_server } }));
    expect(error.message).toContain('no encrypted connection to the mail server came about');
    expect(mails).toEqual([]);
  });

  it('does not send in plain text when a server pretends that encryption failed', async () => {
    const heard: string[] = [];
    const { port } = await serveRaw((socket) => {
      socket.write('220 mx ESMTP\r\n');
      socket.on('data', (data) => {
        heard.push(String(data));
        if (String(data).startsWith('EHLO')) socket.write('250-mx\r\n250-STARTTLS\r\n250 AUTH PLAIN\r\n');
        else socket.write('454 not now\r\n');
      });
    });
    expect(await errorOf(email, '', sending(port))).toMatchObject({ code: 'TOOL_FAILED' });
    expect(heard.map((line) => line.split(/[\s]/)[0])).toEqual(['EHLO', 'STARTTLS']);
  });

  it('is tried once, for a server may have delivered what it did not confirm', async () => {
    let connections = 0;
    const { port } = await serveRaw((socket) => {
      connections += 1;
      socket.end('421 later\r\n');
    });
    const retries = { attempts: 3, delayMs: 0 };
    expect(await errorOf(email, '', { ...sending(port), retries })).toMatchObject({ code: 'TOOL_FAILED' });
    expect(connections).toBe(1);
  });

  it('closes its socket when it is cancelled', async () => {
    let accept = (_socket: Socket): void => {};
    const accepted = new Promise<Socket>((resolve) => {
      accept = resolve;
    });
    const { port } = await serveRaw(accept);
    const calling = sending(port);
    const subscription = callTool(email, calling.args as JsonObject, callOf(email, '', calling)).subscribe();
    const socket = await accepted;
    const closed = once(socket.resume(), 'close');
    subscription.unsubscribe();
    await closed;
  });

  it('says what a server says that speaks no SMTP', async () => {
    const { port } = await serveRaw((socket) => socket.write('SSH-2.0-OpenSSH_9.2\r\n'));
    const { message } = await errorOf(email, '', sending(port));
    expect(message).toMatch(/^Email error: the mail server answered something that cannot be used/);
  });
});

describe('the host of a mail server', () => {
  const judging = (addresses: readonly string[]) => createEgressClient({ resolver: async () => addresses });

  it.each([
    ['a loopback address', '127.0.0.1', [], 'URL_BLOCKED'],
    ['a loopback address in another notation', '0x7f.1', [], 'URL_BLOCKED'],
    ['an address of version 6', '::1', [], 'URL_BLOCKED'],
    ['a private name', 'localhost', [], 'URL_BLOCKED'],
    ['a name of which one address is private', 'mail.example', ['93.184.216.34', '10.0.0.1'], 'URL_BLOCKED'],
    ['a metadata service', '169.254.169.254', [], 'URL_BLOCKED'],
    ['a path', 'mail.example/x', [], 'URL_INVALID'],
    ['a port in the host', 'mail.example:25', [], 'URL_INVALID'],
    ['a login in the host', 'a@mail.example', [], 'URL_INVALID'],
    ['a zone', 'fe80::1%eth0', [], 'URL_INVALID'],
  ])('must not be %s', async (_what, smtp_server, addresses, code) => {
    const { port, mails } = await startMailServer();
    const calling = sending(port, { http: judging(addresses), params: { smtp_server } });
    expect(await errorOf(email, '', calling)).toMatchObject({ code });
    expect(mails).toEqual([]);
  });

  it('is asked for once, and the very address that was judged is dialled', async () => {
    const { port, mails } = await startMailServer();
    const answers = [['127.0.0.1'], ['192.0.2.1']];
    const asked: string[] = [];
    const http = createEgressClient({
      allowPrivateNetwork: true,
      trustedCertificates: [TEST_CERTIFICATE],
      resolver: async (host) => {
        asked.push(host);
        return answers.shift() ?? [];
      },
    });
    await resultOf(email, '', sending(port, { http }));
    expect(asked).toEqual(['secure.example']);
    expect(mails).toHaveLength(1);
  });
});

describe('an Email node', () => {
  it.each([
    ['', 'a@x.example', 'A', ['smtp_server']],
    ['mail.example', ' ', '', ['email', 'sender_name']],
    ['{env.server}', 'a@x.example', 'A', []],
  ])('reports what is missing when it is read (%s, %s, %s)', (smtp_server, address, sender_name, missing) => {
    const read = { smtp_server, smtp_port: 465, email: address, smtp_username: '', password: '', sender_name };
    expect(email.check?.(read).map((problem) => problem.split(' ')[0])).toEqual(missing);
  });
});

describe('addresses', () => {
  it.each([
    'bo',
    'bo@',
    '@y.example',
    'a b@y.example',
    'bo@y.example>\r',
    'bo@[127.0.0.1]',
    'bo@y@z',
    `${'a'.repeat(65)}@y.example`,
  ])('are not %j', (text) => {
    expect(() => addressesIn(text)).toThrow('is no mail address');
  });

  it('are read in linear time, however many are given', () => {
    for (const part of ['a@y.example,', '<', ',', ' ', 'a@', '@', '<a@b>', '"', ';\r\n']) {
      const text = part.repeat(300_000);
      try {
        expect(addressesIn(text).length).toBeLessThan(101);
      } catch (error) {
        expect(error).toMatchObject({ code: 'TOOL_FAILED' });
      }
    }
  });

  it('are at most a hundred', () => {
    const many = Array.from({ length: 101 }, (_, index) => `a${index}@y.example`).join(',');
    expect(() => addressesIn(many)).toThrow('more than 100');
  });
});

describe('headerText', () => {
  it('is one line of a bounded length', () => {
    expect(headerText(' a\r\n\tb\u2028c\u0000d ')).toBe('a b c d');
    expect(headerText('😀'.repeat(600))).toBe('😀'.repeat(500));
  });
});

describe('plainText', () => {
  it.each([
    ['<p>a</p><p>b<br>c</p>', 'a\n\nb\nc'],
    ['<style>p { }</style>x<script>if (a < b) {}</script>y', 'xy'],
    ['a &lt;b&gt; &amp; &#8364; &#x20AC;&nbsp;&NBSP;. &nope; &#9999999;', 'a <b> & € €  . &nope; &#9999999;'],
    ['1 < 2', '1 < 2'],
    ['x<script>never closed', 'x'],
    ['<<<', '<<<'],
    [`a${' '.repeat(300_000)}b`, `a${' '.repeat(300_000)}b`],
    ['<script>'.repeat(50_000), ''],
  ])('%.40s', (html, text) => {
    expect(plainText(html)).toBe(text);
  });
});

function refuse(_address: unknown, _session: unknown, done: (error: Error) => void): void {
  done(new Error('nobody here'));
}
