import { EngineError } from '../../errors.js';
import type { JsonObject } from '../../json.js';
import type { ChatMessage } from '../../models/messages.js';
import { invalidOption, requireList, requireMethods, requireObject } from '../../operators/invalid-option.js';
import type { SessionEntry, SessionFact, SessionLog, UserInput } from './session-store.js';

/** A question and what was said to it. */
export interface SessionTurn {
  readonly turn: string;
  /** Id of its newest run. */
  readonly run: string;
  /** How it ended, `running` before that. One that another turn followed keeps what it was. */
  readonly status: 'running' | 'succeeded' | 'waiting' | 'failed' | 'cancelled';
  readonly input: readonly ChatMessage[];
  /** What it said behind its input, as it was stored. */
  readonly messages: readonly ChatMessage[];
  /** Id of the checkpoint that it may go on from. */
  readonly checkpoint?: string;
  /** What the next turn begins with in place of everything up to its end. @default the history */
  readonly context?: readonly ChatMessage[];
  /** Values of the session behind it. */
  readonly values: JsonObject;
  /** Messages of the history before it. */
  readonly messagesBefore: number;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
}

/** The last turn, while it runs or waits. */
export interface OpenTurn {
  readonly turn: string;
  readonly run: string;
  readonly status: 'running' | 'waiting';
  readonly checkpoint?: string;
}

/** What the entries of a session say altogether. */
export interface SessionState {
  /** Those that stay, the oldest first. */
  readonly turns: readonly SessionTurn[];
  /**
   * The history: input and messages of the turns that stay. Messages of a turn that did not succeed have `unfinished: true` in their `extra`;
   * the last ones may call tools that gave no result.
   */
  readonly messages: readonly ChatMessage[];
  /** What an agent goes on with: the history, or what it put in place of older messages, and everything since. */
  readonly context: readonly ChatMessage[];
  readonly values: JsonObject;
  /** @default no turn runs or waits */
  readonly open?: OpenTurn;
  /** Inputs that were accepted, and neither delivered nor dropped, the oldest first. */
  readonly waitingInputs: readonly UserInput[];
  /** Ids of all inputs that were ever accepted, also those of turns that were rolled back. */
  readonly seenInputIds: ReadonlySet<string>;
  /** Number of the newest entry; 0: there is none. */
  readonly newest: number;
}

/** A session without entries. */
export const EMPTY_SESSION: SessionState = {
  turns: [],
  messages: [],
  context: [],
  values: {},
  waitingInputs: [],
  seenInputIds: new Set(),
  newest: 0,
};

/**
 * What entries say, on top of what the entries before them said: folding in pieces is folding the whole.
 *
 * A fact about a turn that is not the last one, or about an input that does not wait, changes nothing: no writer that read the newest entry
 * says it.
 *
 * @param state the entries before; it stays as it is. @default there are none
 * @throws EngineError SESSION_INVALID when an entry does not follow the one before
 */
export function foldSession(entries: readonly SessionEntry[], state: SessionState = EMPTY_SESSION): SessionState {
  requireList('foldSession', 'entries', entries, 'a list of entries');
  requireState('foldSession', state);
  const draft: Draft = {
    turns: [...state.turns],
    messages: [...state.messages],
    values: state.values,
    waitingInputs: state.waitingInputs,
    seenInputIds: state.seenInputIds,
    ownSeen: undefined,
    newest: state.newest,
  };
  for (const entry of entries) {
    requireObject('foldSession', 'entries', entry, 'a list of entries');
    if (entry.at !== draft.newest + 1) throw gap(entry.at, draft.newest);
    draft.newest = entry.at;
    apply(draft, entry, entry.time);
  }
  const { ownSeen: _, ...folded } = draft;
  return { ...folded, context: contextOf(draft), ...openOf(draft.turns.at(-1)) };
}

/** The state of a session behind one more entry: for one that just came; {@link foldSession} is for many. @throws EngineError SESSION_INVALID */
export function applyEntry(state: SessionState, entry: SessionEntry): SessionState {
  return foldSession([entry], state);
}

/**
 * Reads what is new in a session, page by page, and folds it on top of what was read before.
 *
 * @param state of the same session. @default nothing was read
 * @throws EngineError as `log.read`
 */
export async function loadSession(
  log: Pick<SessionLog, 'read'>,
  session: string,
  state: SessionState = EMPTY_SESSION,
): Promise<SessionState> {
  requireMethods('loadSession', 'log', log, ['read'], 'sessions, such as memorySessions() gives');
  requireState('loadSession', state);
  for (let folded = state; ; ) {
    const page = await log.read(session, { after: folded.newest });
    if (page.length === 0) return folded;
    folded = foldSession(page, folded);
  }
}

/** @throws EngineError OPTION_INVALID */
function requireState(owner: string, state: SessionState): void {
  const { turns, messages, waitingInputs, seenInputIds } = state ?? {};
  if ([turns, messages, waitingInputs].every(Array.isArray) && seenInputIds instanceof Set) return;
  throw invalidOption(owner, 'state', 'what foldSession gave', state);
}

/** A state that is being made; turns and messages are its own. */
interface Draft {
  readonly turns: SessionTurn[];
  readonly messages: ChatMessage[];
  values: JsonObject;
  waitingInputs: readonly UserInput[];
  seenInputIds: ReadonlySet<string>;
  /** The same set once it is its own: it is large in a long session, and few entries change it. */
  ownSeen: Set<string> | undefined;
  newest: number;
}

function apply(draft: Draft, fact: SessionFact, time: number): void {
  switch (fact.type) {
    case 'turn-started':
      startTurn(draft, fact, time);
      break;
    case 'turn-ended':
      endTurn(draft, fact);
      break;
    case 'turn-resumed':
      resumeTurn(draft, fact);
      break;
    case 'input-accepted':
      accept(draft, fact.input);
      break;
    case 'input-delivered':
    case 'input-dropped':
      draft.waitingInputs = draft.waitingInputs.filter(({ id }) => id !== fact.id);
      break;
    case 'rolled-back':
      rollBack(draft, fact.turn);
      break;
  }
}

type Fact<T extends SessionFact['type']> = Extract<SessionFact, { type: T }>;

function startTurn(draft: Draft, { turn, run, input }: Fact<'turn-started'>, startedAt: number): void {
  const { values, messages } = draft;
  const place = { values, messagesBefore: messages.length, startedAt };
  draft.turns.push({ turn, run, status: 'running', input, messages: [], ...place });
  for (const message of input) messages.push(message);
}

function endTurn(draft: Draft, { turn, status, messages, context, values, checkpoint }: Fact<'turn-ended'>): void {
  const last = draft.turns.at(-1);
  if (last?.turn !== turn) return;
  if (values !== undefined) draft.values = { ...draft.values, ...values };
  const { checkpoint: _, ...before } = last;
  const ended: SessionTurn = {
    ...before,
    ...{ status, messages, values: draft.values },
    ...(context !== undefined && { context }),
    ...(checkpoint !== undefined && { checkpoint }),
  };
  draft.turns[draft.turns.length - 1] = ended;
  draft.messages.length = last.messagesBefore + last.input.length;
  for (const message of messages) draft.messages.push(status === 'succeeded' ? message : unfinished(message));
}

function resumeTurn({ turns }: Draft, { turn, run }: Fact<'turn-resumed'>): void {
  const last = turns.at(-1);
  if (last?.turn === turn) turns[turns.length - 1] = { ...last, run, status: 'running' };
}

function accept(draft: Draft, input: UserInput): void {
  if (draft.seenInputIds.has(input.id)) return;
  draft.ownSeen ??= new Set(draft.seenInputIds);
  draft.ownSeen.add(input.id);
  draft.seenInputIds = draft.ownSeen;
  draft.waitingInputs = [...draft.waitingInputs, input];
}

/** A turn that is not there, or not any more, leaves everything as it is. */
function rollBack(draft: Draft, turn: string): void {
  const { turns, messages } = draft;
  const kept = turn === '' ? 0 : turns.findLastIndex((one) => one.turn === turn) + 1;
  if ((kept === 0 && turn !== '') || kept === turns.length) return;
  messages.length = (turns[kept] as SessionTurn).messagesBefore;
  turns.length = kept;
  draft.values = turns.at(-1)?.values ?? {};
}

/** What the newest turn that made the history shorter left, and everything behind it. */
function contextOf({ turns, messages }: Draft): readonly ChatMessage[] {
  const at = turns.findLastIndex(({ context }) => context !== undefined);
  if (at < 0) return messages;
  const { context = [] } = turns[at] as SessionTurn;
  const next = turns[at + 1];
  return next === undefined ? context : [...context, ...messages.slice(next.messagesBefore)];
}

function unfinished(message: ChatMessage): ChatMessage {
  return { ...message, extra: { ...message.extra, unfinished: true } };
}

function openOf(last: SessionTurn | undefined): { readonly open?: OpenTurn } {
  if (last?.status !== 'running' && last?.status !== 'waiting') return {};
  const { turn, run, status, checkpoint } = last;
  return { open: { turn, run, status, ...(checkpoint !== undefined && { checkpoint }) } };
}

function gap(at: number, newest: number): EngineError {
  return new EngineError(
    'SESSION_INVALID',
    `Entry ${at} of a session does not follow entry ${newest}; give foldSession the entries that are behind its state, in order.`,
  );
}
