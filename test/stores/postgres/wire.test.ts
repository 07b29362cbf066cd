import { describe, expect, it } from 'vitest';
import { ClientBytes, ROLLBACK, SYNC, statusAfter } from '../../../src/stores/postgres/embedded/wire.js';
import { property } from '../../support/random.js';

function message(type: string, body = ''): Buffer {
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeUInt32BE(4 + Buffer.byteLength(body), 1);
  return Buffer.concat([head, Buffer.from(body)]);
}

function opening(code: number, body = ''): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(8 + body.length, 0);
  head.writeUInt32BE(code, 4);
  return Buffer.concat([head, Buffer.from(body)]);
}

/** Everything that can be taken when bytes come in these pieces. */
function takeAll(pieces: readonly Buffer[]): string[] {
  const input = new ClientBytes(1_000_000);
  const taken: string[] = [];
  for (const piece of pieces) {
    input.push(piece);
    for (let turn = input.takeTurn(); turn !== undefined; turn = input.takeTurn()) {
      taken.push(turn.type === 'end' ? 'end' : turn.bytes.toString('latin1'));
      if (turn.type === 'end') return taken;
    }
  }
  return taken;
}

describe('the bytes of a client', () => {
  it('are cut where an answer is asked for', () => {
    const parse = Buffer.concat([message('P', 'select'), message('D'), message('H')]);
    const execute = Buffer.concat([message('B', 'x'), message('E'), message('S')]);
    const query = message('Q', 'select 1');
    expect(takeAll([Buffer.concat([parse, execute, query, message('X')])])).toEqual([
      ...[parse, execute, query].map((bytes) => bytes.toString('latin1')),
      'end',
    ]);
  });

  it('wait for the rest of a message and of an exchange', () => {
    expect(takeAll([message('P', 'select')])).toEqual([]);
    expect(takeAll([message('Q', 'select 1').subarray(0, 8)])).toEqual([]);
  });

  it.each([
    ['a session', opening(196_608, 'user\0postgres\0\0'), 'session'],
    ['encryption', opening(80_877_103), 'encryption'],
    ['encryption by GSSAPI', opening(80_877_104), 'encryption'],
    ['a cancel', opening(80_877_102, '12345678'), 'cancel'],
  ])('begin with a request for %s', (_name, bytes, type) => {
    const input = new ClientBytes(1_000);
    input.push(bytes.subarray(0, 6));
    expect(input.takeOpening()).toBeUndefined();
    input.push(bytes.subarray(6));
    expect(input.takeOpening()).toMatchObject({ type });
  });

  it.each([
    ['the rest of a statement', message('B', 'x'.repeat(100))],
    ['less than a length and a number', Buffer.from([0, 0, 0, 7, 0, 0, 0, 0])],
  ])('are refused when they begin with %s', (_name, bytes) => {
    const input = new ClientBytes(1_000);
    input.push(bytes);
    expect(() => input.takeOpening()).toThrow(/begins with a message of/);
  });

  it('are refused when an exchange grows beyond its limit', () => {
    const input = new ClientBytes(50_000);
    input.push(Buffer.alloc(40_000, 1));
    expect(() => input.push(Buffer.alloc(20_000, 1))).toThrow(/more than 50000 bytes/);
  });

  property('give the same exchanges however they are split', 50, (random) => {
    const messages = Array.from({ length: 30 }, () =>
      message(random.pick(['P', 'B', 'D', 'E', 'S', 'Q', 'H']), 'x'.repeat(random.int(3_000))),
    );
    const bytes = Buffer.concat(messages);
    const pieces: Buffer[] = [];
    for (let at = 0; at < bytes.length; ) {
      const next = at + 1 + random.int(5_000);
      pieces.push(bytes.subarray(at, next));
      at = next;
    }
    expect(takeAll(pieces)).toEqual(takeAll([bytes]));
  });
});

describe('an answer', () => {
  const done = message('C', 'SELECT 1\0');
  it.each([
    ['outside a transaction', [done, message('Z', 'I')], 'idle'],
    ['inside a transaction', [done, message('Z', 'T')], 'transaction'],
    ['inside one that failed', [message('E', 'x'), message('Z', 'E')], 'failed'],
    ['in the middle of an exchange', [message('1')], undefined],
    ['with a text that looks like the end', [message('D', 'Z\0\0\0\u0005I')], undefined],
    ['of nothing', [], undefined],
  ])('ends %s', (_name, messages, status) => {
    expect(statusAfter(Buffer.concat(messages))).toBe(status);
  });

  it('is asked for by whole messages', () => {
    expect(Buffer.from(SYNC)).toEqual(message('S'));
    expect(Buffer.from(ROLLBACK)).toEqual(message('Q', 'ROLLBACK\0'));
  });
});
