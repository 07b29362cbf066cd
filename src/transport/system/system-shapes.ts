/** What a server says of itself. */
import { z } from 'zod';
import { string, whole } from '../shapes.js';

const limitsShape = z.looseObject({
  json_bytes: whole.describe('Largest JSON body.'),
  document_bytes: whole.describe('Largest document.'),
  upload_bytes: whole.describe('Largest upload, all its files together.'),
  upload_files: whole.describe('Files of one upload.'),
  frame_bytes: whole.describe('Largest WebSocket frame.'),
  requests_per_minute: whole.nullable().describe('Requests of one key; null: any number.'),
  frames_per_second: whole.nullable().describe('Frames of one WebSocket; null: any number.'),
  runs_per_minute: whole.nullable().describe('Runs that one WebSocket may start; null: any number.'),
  runs: whole.describe('Runs in progress at once, of all tenants.'),
  run_concurrency: whole.describe('Nodes of one run that may work at once.'),
  run_steps: whole,
  run_timeout_ms: whole,
});

export const systemInfoShape = z.looseObject({
  name: z.literal('runnel'),
  version: string.optional().describe('Absent where the one who started the server did not say.'),
  keys: z.boolean().describe('Whether requests need a key.'),
  studio: z.boolean().describe('Whether browsers get a page at `/`.'),
  tenant: string.optional().describe('With a valid key, or on a server without keys; the same goes for what follows.'),
  made_key: z.boolean().optional().describe('The key was made by its tenant, so it cannot manage keys.'),
  parts: z
    .array(string)
    .optional()
    .describe(
      'What the server has: `agents` and `runs` always; `datasets`, `chat`, `models` (a provider is configured), `mcp`, `code`, `browser`, `databases` (which editors can test).',
    ),
  limits: limitsShape.optional(),
  kept: z
    .looseObject({
      database: string.describe('Such as `embedded`, `postgres` or `memory`.'),
      runs: string.describe('Where runs and their events are: `database` or `redis`.'),
    })
    .optional()
    .describe('Where things are kept; absent where the one who started the server did not say.'),
});

/** What a server says of itself. */
export type SystemInfo = z.output<typeof systemInfoShape>;
