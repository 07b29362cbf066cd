/** `runnel prune`: deletes what has expired, and frees its space. */

import { describeSettings, formatSettings, readSettings } from '../settings/read-settings.js';
import { type Command, EXIT, parse } from './command.js';
import { openStores } from './open-stores.js';

export const pruneCommand: Command = {
  usage: 'prune',
  summary: 'delete runs, events, conversations and files that have expired',
  help: `A server prunes by itself, every RUNNEL_PRUNE_EVERY_HOURS. Only one process can use the embedded database: stop the server first.
Redis deletes its records by itself, after RUNNEL_KEEP_RUNS_DAYS. Agents, versions and runs in progress are never deleted.

Environment (default):
${formatSettings(describeSettings('stores'))}`,
  async run(args, terminal) {
    parse(pruneCommand, args, {}, { least: 0, most: 0 });
    const warn = (fields: object, message: string): void => {
      const { err } = fields as { readonly err?: unknown };
      terminal.err.write(`warning: ${message}${err instanceof Error ? `: ${err.message}` : ''}\n`);
    };
    const { stores: settings } = readSettings(terminal.env, 'stores');
    const stores = await openStores(settings, { info: () => {}, warn, error: warn });
    try {
      const { runs, logs, sessions, files, freedBytes } = await stores.prune(Date.now());
      const megabytes = (freedBytes / 1024 ** 2).toFixed(1);
      terminal.out.write(
        `deleted ${runs} runs, ${logs} logs, ${sessions} sessions, ${files} files; the database is ${megabytes} MiB smaller\n`,
      );
      return EXIT.finished;
    } finally {
      await stores.close();
    }
  },
};
