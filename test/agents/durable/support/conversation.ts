/** A client that goes on with a conversation until nothing is left to do, whatever became of the process before. */
import { from, merge, type Observable, of, Subject } from 'rxjs';
import {
  createRunner,
  type Runner,
  type RunnerEvent,
  type SessionState,
  type SessionStore,
  type TurnLogs,
  type UserInput,
} from '../../../../src/entries/agents.js';
import { type Client, PROGRAMS, type Program } from './programs.js';

/** What outlives a process. */
export interface World {
  readonly sessions: SessionStore;
  readonly logs: TurnLogs;
  note(what: Noted, line: string): void;
  notes(what: Noted): readonly string[];
}

/** Things that were done, steps that were stored, inputs that were sent and acknowledged, models and people that were asked: lines in their order. */
export type Noted = 'effect' | 'stored' | 'said' | 'accepted' | 'model' | 'question';

/** Every write into sessions and logs goes through it: it may stop the process before or behind one. */
export type Write = <T>(stored: () => Promise<T>, note?: () => void) => Promise<T>;

/** Goes on with the conversation of a program. */
export async function converse(program: keyof typeof PROGRAMS, world: World, write: Write): Promise<SessionState> {
  const input$ = new Subject<UserInput>();
  const client: Client = {
    did: (name, key) => world.note('effect', `${name} ${key}`),
    asked: () => world.note('model', 'asked'),
    say: (input) => {
      const text = JSON.stringify(input);
      if (world.notes('accepted').includes(input.id)) return;
      if (!world.notes('said').includes(text)) world.note('said', text);
      input$.next(input);
    },
  };
  const { agent, question, answerTo, cancel$, stop$ }: Program = PROGRAMS[program](client);
  const runner = createRunner({ agent, ...counted(world, write) });
  const options = { input$, cancel$ };
  let answers: Record<string, unknown> = {};
  for (;;) {
    const { turns, open, waitingInputs } = await runner.session('s');
    const last = turns.at(-1);
    const isOver = open === undefined && last?.status === 'succeeded' && waitingInputs.length === 0;
    const unheard = world.notes('said').map((line) => JSON.parse(line) as UserInput);
    const late = unheard.filter(({ id }) => !world.notes('accepted').includes(id));
    if (isOver && late.length === 0) return runner.session('s');
    const events$ =
      last === undefined
        ? begun(runner, question, { ...options, ...(stop$ && { stop$ }) })
        : isOver
          ? runner.live(from(late), { session: 's' })
          : runner.resume('s', answers, options);
    const end = await read(events$, world, client);
    // All of them were known.
    if (isOver && end === undefined) return runner.session('s');
    if (end?.type !== 'turn-ended' || end.status === 'failed') throw new Error(JSON.stringify(end));
    const [asked] = end.status === 'waiting' ? end.questions : [];
    if (asked !== undefined) world.note('question', asked.address);
    answers = asked === undefined ? {} : { [asked.address]: answerTo(asked.question) };
  }
}

function begun(
  runner: Runner,
  question: string,
  { input$, cancel$, stop$ }: Pick<Program, 'cancel$' | 'stop$'> & { readonly input$: Observable<UserInput> },
): Observable<RunnerEvent> {
  if (stop$ === undefined) return runner.run(question, { session: 's', input$, cancel$ });
  return runner.live(merge(of({ id: 'q', content: question }), input$), { session: 's', cancel$, stop$ });
}

function read(events$: Observable<RunnerEvent>, world: World, client: Client): Promise<RunnerEvent | undefined> {
  return new Promise((resolve, reject) => {
    let last: RunnerEvent | undefined;
    events$.subscribe({
      next: (event) => {
        last = event;
        if (event.type === 'input-accepted') world.note('accepted', event.id);
      },
      error: reject,
      complete: () => resolve(last),
    });
    // What it was not told of it sends again.
    for (const line of world.notes('said')) client.say(JSON.parse(line));
  });
}

function counted({ sessions, logs, note }: World, write: Write): Pick<World, 'sessions' | 'logs'> {
  return {
    sessions: { ...sessions, append: (session, facts, after) => write(() => sessions.append(session, facts, after)) },
    logs: {
      ...logs,
      async open(session, turn) {
        const { log, stored } = await logs.open(session, turn);
        let run = '';
        let hasTaken = false;
        let settled: string[] = [];
        return {
          stored,
          log: {
            append: (event) => {
              hasTaken = true;
              if (event.type === 'node-settled') settled.push(`${run}/${event.token}`);
              return log.append(event);
            },
            snapshot: (checkpoint) => {
              hasTaken = true;
              ({ run } = checkpoint);
              return log.snapshot(checkpoint);
            },
            flush: () => {
              if (!hasTaken) return log.flush();
              const keys = settled;
              hasTaken = false;
              settled = [];
              return write(
                () => log.flush(),
                () => {
                  for (const key of keys) note('stored', key);
                },
              );
            },
            ready: () => log.ready?.(),
            close: () => log.close(),
          },
        };
      },
    },
  };
}
