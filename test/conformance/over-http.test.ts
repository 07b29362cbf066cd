import { describe, expect, it } from 'vitest';
import { readCases } from './case.js';
import { compareCase } from './compare.js';
import { asSeenOverHttp, playOverHttp } from './play-over-http.js';
import { type Client, liveClient, sseClient } from './support/clients.js';

/** Played over a WebSocket too: forms, a cancel, a model that streams. */
const LIVE = [
  'scenarios/quiz',
  'cancellation/next-turn-works',
  'cancellation/while-streaming',
  'llm/history-two-turns',
];

const cases = readCases();

// `globals` are not compared: no event carries the variables that a run leaves. `nodes` are those that events tell of.
describe('golden cases over HTTP and an event stream', () => play(cases, sseClient));

describe('golden cases over a WebSocket', () => {
  play(
    LIVE.map((name) => cases.find((golden) => golden.name === name) ?? expect.unreachable(`there is no case ${name}`)),
    liveClient,
  );
});

function play(list: typeof cases, client: Client): void {
  for (const golden of list) {
    it(golden.name, async () => {
      expect(compareCase(asSeenOverHttp(golden), await playOverHttp(golden, client))).toEqual([]);
    });
  }
}
