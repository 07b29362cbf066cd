/** `runnel trace`: what a run did, over time. */
import { writeFile } from 'node:fs/promises';
import { drawTimeline } from '../canvas/draw-timeline.js';
import { timelinePage } from '../canvas/timeline-page.js';
import { EngineError } from '../errors.js';
import { readSettings } from '../settings/read-settings.js';
import { type Command, EXIT, parse } from './command.js';
import type { Terminal } from './terminal.js';
import { readTimeline, type ServerAddress } from './trace-events.js';

export const traceCommand: Command = {
  usage: 'trace <run> [--url URL] [--agent ID] [--html FILE] [--json]',
  summary: 'show what a run did, over time',
  help: `  <run>              id of a run of a server, or a file with events from \`runnel run --events\`;
                     "-" reads them from the standard input
  --url URL          where the server is; else RUNNEL_URL, else where \`runnel serve\` listens
  --agent ID         the agent of the run; without it all agents are asked
  --html FILE        writes one page that needs nothing else, instead of drawing
  --json             prints the timeline as JSON, instead of drawing

One line is one node, from the start of the run on the left to its end on the right. RUNNEL_API_KEY is sent to
a server that wants a key.
Exit codes: 0 shown, 2 there is no such run.`,
  async run(args, terminal) {
    const { values, positionals } = parse(
      traceCommand,
      args,
      { url: { type: 'string' }, agent: { type: 'string' }, html: { type: 'string' }, json: { type: 'boolean' } },
      { least: 1, most: 1 },
    );
    const source = positionals[0] as string;
    const server = addressOf(values.url, values.agent, terminal);
    const timeline = await readTimeline(source, server, terminal);
    if (values.html !== undefined) await write(values.html, timelinePage(timeline, `Run ${source}`));
    if (values.json === true) terminal.out.write(`${JSON.stringify(timeline, null, 2)}\n`);
    else if (values.html === undefined) {
      const { out, env } = terminal;
      const hasColours = out.isTTY === true && (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb';
      const columns = out.columns ?? (Number(env.COLUMNS) || undefined);
      out.write(drawTimeline(timeline, { hasColours, ...(columns === undefined ? {} : { columns }) }));
    }
    return EXIT.finished;
  },
};

/** @throws EngineError USAGE for something that is no address of a server. */
function addressOf(given: string | undefined, agent: string | undefined, { env }: Terminal): ServerAddress {
  const { client } = readSettings(env, 'client');
  const host = env.RUNNEL_HOST?.trim() || '127.0.0.1';
  const name = host === '0.0.0.0' ? '127.0.0.1' : host.includes(':') ? '[::1]' : host;
  const url = (given ?? client.url) || `http://${name}:${env.RUNNEL_PORT?.trim() || '9380'}`;
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new EngineError(
      'USAGE',
      `The address of a server begins with http:// or https://; received ${JSON.stringify(url)}.`,
    );
  }
  return { url: url.replace(/\/+$/, ''), key: client.apiKey, agent };
}

async function write(file: string, page: string): Promise<void> {
  try {
    await writeFile(file, page);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new EngineError('USAGE', `Cannot write "${file}": ${why}`, { cause });
  }
}
