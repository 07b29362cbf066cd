/** `runnel chat`: questions about datasets, answered with their sources. */
import { createInterface } from 'node:readline';
import { fromEvent, lastValueFrom, Observable, takeUntil, tap } from 'rxjs';
import type { ChatEvent, Evidence } from '../chat/pipeline/chat-events.js';
import { pageLabel } from '../chat/pipeline/page-label.js';
import { EngineError } from '../errors.js';
import type { Log } from '../logger.js';
import { readSettings } from '../settings/read-settings.js';
import type { ChatSource } from './chat-source.js';
import { type Command, EXIT, parse } from './command.js';
import { excerpt } from './excerpt.js';
import { Screen } from './screen.js';
import type { Terminal } from './terminal.js';

export const chatCommand: Command = {
  usage: 'chat [question] [--dataset NAME …] [--session ID] [--stages] [--json] [--url URL]',
  summary: 'ask questions about datasets, and read where the answers come from',
  help: `  [question]         one question; without it questions are read line by line, of a terminal or a file
  --dataset NAME     name or id of a dataset that is searched; may be repeated. Without it all are
  --session ID       continues a conversation
  --stages           shows what each stage of an answer did
  --json             prints one JSON object a line for each event of an answer
  --url URL          asks a server, which RUNNEL_URL names as well; else the data folder or database of the settings is
                     opened here, which a server that runs does not allow for the embedded one

The answer goes to the standard output, its sources with their pages and everything else to the standard error. Without a
model the passages that it would be given are the answer. Ctrl-C cancels.
Exit codes: 0 answered, 1 failed, 2 bad usage, 130 interrupted.`,
  run,
};

/** Characters of a source that are shown. */
const SHOWN = 160;
const SHOWN_WITHOUT_MODEL = 600;

/** What is printed. */
interface Printing {
  readonly screen: Screen;
  readonly isJson: boolean;
  readonly hasStages: boolean;
  readonly isScripted: boolean;
}

async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parse(
    chatCommand,
    args,
    {
      dataset: { type: 'string', multiple: true },
      session: { type: 'string' },
      stages: { type: 'boolean' },
      json: { type: 'boolean' },
      url: { type: 'string' },
    },
    { least: 0, most: 1 },
  );
  const [question] = positionals;
  if (question?.trim() === '') throw new EngineError('USAGE', 'The question is empty.');
  const screen = new Screen(terminal);
  const source = await openSource(values.url, terminal, screen);
  try {
    const printing = {
      screen,
      isJson: values.json === true,
      hasStages: values.stages === true,
      isScripted: source.isScripted === true,
    };
    if (printing.isScripted) {
      screen.remark(
        'note: no model is configured (OPENAI_BASE_URL …), so answers are the passages that a model would be given',
      );
    }
    const conversation = new Conversation(source, printing, values.dataset, values.session);
    if (question !== undefined) return await conversation.ask(question, terminal.signal);
    return await askEach(conversation, terminal);
  } finally {
    screen.end();
    await source.close();
  }
}

async function openSource(given: string | undefined, terminal: Terminal, screen: Screen): Promise<ChatSource> {
  const { openLocalChats, openServerChats } = await import('./chat-source.js');
  const { client } = readSettings(terminal.env, 'client');
  const url = given ?? client.url;
  if (url !== undefined) {
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
      throw new EngineError(
        'USAGE',
        `--url takes the address of a server, with http:// or https://; received "${url}".`,
      );
    }
    return openServerChats(url, client.apiKey);
  }
  const warn = (fields: object, message: string): void => {
    const { err } = fields as { readonly err?: unknown };
    screen.remark(`warning: ${message}${err instanceof Error ? `: ${err.message}` : ''}`);
  };
  const log: Log = { info: () => {}, warn, error: warn };
  try {
    return await openLocalChats(terminal, log);
  } catch (error) {
    if (!EngineError.is(error) || error.code !== 'CONFLICT') throw error;
    throw new EngineError('CONFIG_INVALID', `${error.message} Or ask it: runnel chat --url http://localhost:9380`, {
      cause: error,
    });
  }
}

/** Asks what is typed, line by line; the first failure of a question is no reason to end at a terminal. */
async function askEach(conversation: Conversation, terminal: Terminal): Promise<number> {
  const input = terminal.openInput();
  const isTyped = terminal.out.isTTY === true;
  const prompt = (): void => void (isTyped && terminal.err.write('> '));
  let exit: number = EXIT.finished;
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
  try {
    prompt();
    for await (const line of lines) {
      if (line.trim() !== '') exit = await conversation.ask(line, terminal.signal);
      if (terminal.signal.aborted) return EXIT.interrupted;
      prompt();
    }
    return isTyped ? EXIT.finished : exit;
  } finally {
    lines.close();
  }
}

/** Questions of one session. */
class Conversation {
  readonly #source: ChatSource;
  readonly #printing: Printing;
  readonly #datasets: readonly string[] | undefined;
  #sessionId: string | undefined;

  constructor(
    source: ChatSource,
    printing: Printing,
    datasets: readonly string[] | undefined,
    sessionId: string | undefined,
  ) {
    this.#source = source;
    this.#printing = printing;
    this.#datasets = datasets;
    this.#sessionId = sessionId;
  }

  /** Gives the exit code. */
  async ask(message: string, signal: AbortSignal): Promise<number> {
    let exit: number = EXIT.failed;
    const { screen, isJson } = this.#printing;
    const events$ = this.#source.ask({ message, sessionId: this.#sessionId, datasets: this.#datasets });
    const show = isJson ? showLine(screen) : showAnswer(message, this.#printing);
    const watched$ = events$.pipe(
      tap((event) => {
        if (event.type === 'session') this.#sessionId = event.session_id;
        if (event.type === 'final') exit = EXIT.finished;
        show(event);
      }),
      takeUntil(aborted(signal)),
    );
    await lastValueFrom(watched$, { defaultValue: undefined });
    screen.end();
    if (!signal.aborted) return exit;
    screen.remark('cancelled');
    return EXIT.interrupted;
  }
}

function aborted(signal: AbortSignal): Observable<unknown> {
  return new Observable((subscriber) => {
    if (signal.aborted) subscriber.next(undefined);
    else subscriber.add(fromEvent(signal, 'abort').subscribe(subscriber));
  });
}

function showLine(screen: Screen): (event: ChatEvent) => void {
  return (event) => screen.answer(`${JSON.stringify(event)}\n`);
}

/** The answer as it comes, then what it is made from; without a model what the script says of passages is left out. */
function showAnswer(question: string, { screen, hasStages, isScripted }: Printing): (event: ChatEvent) => void {
  let isWithSources = false;
  return (event) => {
    switch (event.type) {
      case 'stage_start':
        screen.status(event.name);
        return;
      case 'stage_end':
        if (hasStages) screen.remark(stageLine(event));
        return;
      case 'shortcut':
        if (hasStages) screen.remark(`  short circuit ${event.kind}: ${event.reason}`);
        return;
      case 'evidence':
        isWithSources = true;
        return;
      case 'token':
        if (!(isScripted && isWithSources)) screen.answer(event.content);
        return;
      case 'retract':
        screen.end();
        screen.remark(`the answer begins anew: ${event.reason}`);
        return;
      case 'error':
        screen.end();
        screen.remark(`error: ${event.message} [${event.code}]`);
        return;
      case 'final':
        screen.end();
        showSources(event, { question, screen, isScripted });
        return;
      case 'session':
      case 'thinking':
      case 'research_suggested':
      case 'first_token':
    }
  };
}

function stageLine({ stage, name, status, ms, detail }: Extract<ChatEvent, { type: 'stage_end' }>): string {
  return `  ${stage} ${name}: ${status}, ${ms} ms ${JSON.stringify(detail)}`;
}

/** The sources that an answer cites; all of them where it cites none. Without a model they are the answer. */
function showSources(
  { evidence, citations }: Extract<ChatEvent, { type: 'final' }>,
  { question, screen, isScripted }: Pick<Printing, 'screen' | 'isScripted'> & { readonly question: string },
): void {
  if (isScripted) for (const one of evidence) screen.answer(`${sourceLine(one, question, SHOWN_WITHOUT_MODEL)}\n`);
  if (isScripted || evidence.length === 0) return;
  const cited = new Set(citations.map(({ n }) => n));
  const shown = cited.size === 0 ? evidence : evidence.filter(({ n }) => cited.has(n));
  screen.remark('\nSources:');
  for (const one of shown) {
    const { page = one.page } = citations.find(({ n }) => n === one.n) ?? {};
    screen.remark(sourceLine(page === undefined ? one : { ...one, page }, question, SHOWN));
  }
}

function sourceLine(item: Evidence, question: string, most: number): string {
  const { n, source, text, url, score } = item;
  const about = [pageLabel(item), url ?? '', score === undefined ? '' : score.toFixed(2)];
  const where = about.filter((part) => part !== '').join(', ');
  return `[${n}] ${source}${where === '' ? '' : ` (${where})`}\n    ${excerpt(text, question, most)}`;
}
