/**
 * Loaded into the server under test by `--import`: counts what the server sends to its databases, at the sockets, so that it does not
 * matter which library sends it; answers the benchmark's questions over the channel between the processes.
 *
 * A statement is an Execute or a Query of the Postgres protocol, or a command of Redis; a round trip is a write to a database after the
 * last answer, so that statements that travel together count once. With one client that is the number of times a run waits for a database;
 * with more it counts those of other runs as well.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { Session } from 'node:inspector';
import net from 'node:net';
import path from 'node:path';
import postgres from 'postgres';

const counts = { statements: 0, bytes: 0, writes: 0, roundTrips: 0, clientWrites: 0 };
/** Of each answer since that was asked for: round trips before its first piece. @type {number[]} */
let beforeFirst = [];
/** @type {Map<string, number>} */
const byText = new Map();
let isWaiting = false;
/** Of the embedded database, once the server has opened it. */
let socketPath = '';
let isOwn = false;

/** @param {string} text */
function count(text) {
  counts.statements += 1;
  byText.set(text, (byText.get(text) ?? 0) + 1);
}

/** @param {string} text */
function shortOf(text) {
  return text.replace(/\s+/g, ' ').trim().slice(0, 90);
}

/** Cuts the messages of a Postgres client. */
function postgresMessages() {
  let rest = Buffer.alloc(0);
  let isOpen = false;
  /** @type {Map<string, string>} */
  const prepared = new Map();
  let bound = '';
  return (/** @type {Buffer} */ chunk) => {
    let at = 0;
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    while (bytes.length - at >= (isOpen ? 5 : 4)) {
      const length = bytes.readUInt32BE(at + (isOpen ? 1 : 0)) + (isOpen ? 1 : 0);
      if (bytes.length - at < length) break;
      if (isOpen) {
        const type = String.fromCharCode(bytes[at]);
        if (type === 'P') {
          const [name, query] = textsIn(bytes, at + 5);
          prepared.set(name, shortOf(query));
        } else if (type === 'B') bound = prepared.get(textsIn(bytes, at + 5)[1]) ?? '?';
        else if (type === 'E') count(bound);
        else if (type === 'Q') count(shortOf(textsIn(bytes, at + 5)[0]));
      }
      isOpen = true;
      at += length;
    }
    rest = at === bytes.length ? EMPTY : Buffer.from(bytes.subarray(at));
  };
}

/** The two texts at a place, each up to its zero; nothing else of a message is read, which may be long. */
function textsIn(/** @type {Buffer} */ bytes, /** @type {number} */ start) {
  const end = bytes.indexOf(0, start);
  const next = bytes.indexOf(0, end + 1);
  return [bytes.toString('latin1', start, end), next < 0 ? '' : bytes.toString('latin1', end + 1, next)];
}

/** Cuts the commands of a Redis client. */
function redisCommands() {
  let rest = Buffer.alloc(0);
  return (/** @type {Buffer} */ chunk) => {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let done = 0;
    // Digit by digit: searching the line ends and reading the numbers as texts would be a twentieth of what the server does.
    let at = 0;
    const number = () => {
      let value = 0;
      for (at += 1; at < bytes.length && bytes[at] !== 13; at += 1) value = value * 10 + bytes[at] - 48;
      at += 2;
      return value;
    };
    while (at < bytes.length) {
      let parts = number();
      const words = [];
      while (parts > 0 && at < bytes.length) {
        const length = number();
        if (at + length + 2 > bytes.length) break;
        if (words.length < 2) words.push(bytes.toString('latin1', at, at + Math.min(length, 40)));
        at += length + 2;
        parts -= 1;
      }
      if (parts > 0) break;
      const [name, first] = words;
      count(/^eval/i.test(name) ? `${name} ${first}` : name);
      done = at;
    }
    rest = done === bytes.length ? EMPTY : Buffer.from(bytes.subarray(done));
  };
}

const EMPTY = Buffer.alloc(0);

const portOf = (/** @type {string | undefined} */ url) => (url === undefined ? undefined : Number(new URL(url).port));
const [postgresPort, redisPort] = [portOf(process.env.DATABASE_URL), portOf(process.env.REDIS_URL)];

/** What is spoken at an address; undefined for what is no database. */
function protocolOf(/** @type {unknown[]} */ given) {
  const [first] = Array.isArray(given[0]) ? given[0] : given;
  const target =
    typeof first === 'object' && first !== null
      ? first
      : Number.isNaN(Number(first))
        ? { path: first }
        : { port: first };
  if (isOwn) return undefined;
  if (typeof target.path === 'string' && target.path.endsWith('database.sock')) {
    socketPath = target.path;
    return postgresMessages;
  }
  const port = Number(target.port);
  if (Number.isNaN(port)) return undefined;
  return port === postgresPort ? postgresMessages : port === redisPort ? redisCommands : undefined;
}

const { connect } = net.Socket.prototype;
net.Socket.prototype.connect = function (...given) {
  const protocol = protocolOf(given);
  if (protocol !== undefined) countSocket(this, protocol());
  return connect.apply(this, given);
};

function countSocket(/** @type {any} */ socket, /** @type {(chunk: Buffer) => void} */ read) {
  const { _writeGeneric: write } = socket;
  const take = (/** @type {Buffer | string} */ chunk, /** @type {any} */ encoding) => {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk;
    counts.bytes += bytes.length;
    read(bytes);
  };
  socket._writeGeneric = function (
    /** @type {boolean} */ many,
    /** @type {any} */ data,
    /** @type {any} */ encoding,
    /** @type {any} */ done,
  ) {
    // It is called again with the same when the connection is there.
    if (this.connecting) return write.call(this, many, data, encoding, done);
    counts.writes += 1;
    if (!isWaiting) counts.roundTrips += 1;
    isWaiting = true;
    if (many) for (const one of data) take(one.chunk, one.encoding);
    else take(data, encoding);
    return write.call(this, many, data, encoding, done);
  };
  socket.on('data', () => {
    isWaiting = false;
  });
}

// Of each answer: how often the databases were waited for before its first piece.
const { emit } = http.Server.prototype;
http.Server.prototype.emit = function (name, ...given) {
  if (name === 'request') {
    const response = /** @type {any} */ (given[1]);
    const { write } = response;
    const before = counts.roundTrips;
    let isFirst = true;
    response.write = function (/** @type {unknown[]} */ ...pieces) {
      counts.clientWrites += 1;
      if (isFirst) beforeFirst.push(counts.roundTrips - before);
      isFirst = false;
      return write.apply(this, pieces);
    };
  }
  return emit.call(this, name, ...given);
};

const session = new Session();
session.connect();
const post = (/** @type {string} */ method, /** @type {object} */ params = {}) =>
  new Promise((resolve, reject) =>
    session.post(method, params, (error, result) => (error === null ? resolve(result) : reject(error))),
  );

/** How much the embedded database has written to its log. */
async function embeddedBytes() {
  if (socketPath === '') return 0;
  isOwn = true;
  const sql = postgres({ path: socketPath, host: 'localhost', user: 'postgres', database: 'postgres', max: 1 });
  const [row] = await sql`select (pg_current_wal_lsn() - '0/0')::float8 as bytes`;
  await sql.end();
  isOwn = false;
  return row?.bytes ?? 0;
}

async function answer(/** @type {any} */ { ask, file }) {
  if (ask === 'profile') {
    await post('Profiler.enable');
    await post('Profiler.setSamplingInterval', { interval: 200 });
    await post('Profiler.start');
    return {};
  }
  if (ask === 'profiled') {
    const { profile } = /** @type {any} */ (await post('Profiler.stop'));
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, JSON.stringify(profile));
    return {};
  }
  if (ask === 'trips') {
    const trips = beforeFirst;
    beforeFirst = [];
    return { trips };
  }
  if (ask === 'statements') return { texts: [...byText].sort(([, one], [, other]) => other - one) };
  if (ask === 'collect') for (let at = 0; at < 3; at += 1) globalThis.gc?.();
  const { user, system } = process.cpuUsage();
  const { heapUsed, rss } = process.memoryUsage();
  const microseconds = user + system;
  return { ...counts, microseconds, heapUsed, rss, embeddedBytes: await embeddedBytes() };
}

process.on('message', async (/** @type {any} */ question) => {
  if (typeof question?.ask === 'string') process.send?.({ id: question.id, ...(await answer(question)) });
});
process.channel?.unref();
