import { map, type Observable } from 'rxjs';
import { z } from 'zod';
import { markdownTable } from '../../documents/markdown-tables.js';
import type { JsonObject } from '../../json.js';
import { fromAbortable } from '../../operators/from-abortable.js';
import type { TicketRecord } from '../../records/tickets.js';
import { entered } from '../fields.js';
import { defineTool, type ToolEvent, type ToolResult, toolResult } from '../tool.js';
import { requireService } from '../tool-services.js';

/** Statuses that tickets are asked for; `open` is everything that is not closed. */
export const TICKET_STATUSES = ['open', 'in_progress', 'closed'] as const;

/** Tickets of one answer. */
const MAX_LISTED = 20;

const STORED: Readonly<Record<(typeof TICKET_STATUSES)[number], readonly TicketRecord['status'][]>> = {
  open: ['open', 'in_progress'],
  in_progress: ['in_progress'],
  closed: ['closed'],
};

/** Looks tickets up. Errors: `TOOL_ARGUMENTS` for an id that is none; `CONFIG_INVALID` without the service. */
export const ticket = defineTool({
  component: 'Ticket',
  name: 'ticket',
  summary: 'Looks up one ticket by its number, or lists the tickets of a status.',
  arguments: {
    id: z
      .preprocess(
        (given) => (typeof given === 'string' ? entered(given.trim().toUpperCase()) : entered(given)),
        z
          .string()
          .regex(/^TKT-\d{1,12}$/, 'must be TKT- and a number')
          .optional(),
      )
      .describe('Number of the ticket, such as TKT-1234; default none.'),
    status: z
      .preprocess(entered, z.enum(TICKET_STATUSES).optional())
      .describe('Which tickets to list; open are all that are not closed. Default all.'),
  },
  params: {},
  outputs: {
    formalized_content: { type: 'string', description: 'The tickets, as a table in Markdown.' },
    json: {
      type: 'array',
      description: '`id`, `title`, `status`, `priority`, `assignee`, `created_at`, `updated_at` of each.',
    },
  },
  timeoutSeconds: 12,
  call({ id, status }, { services }): Observable<ToolEvent> {
    const records = requireService(services, 'business', 'Tool "ticket"');
    if (id !== undefined) {
      return fromAbortable(() => records.ticket(id)).pipe(
        map((found) => (found === undefined ? said(`There is no ticket ${id}.`) : listed([found], 1))),
      );
    }
    const wanted = { limit: MAX_LISTED, ...(status && { statuses: STORED[status] }) };
    return fromAbortable(() => records.tickets(wanted)).pipe(
      map(({ items, total }) =>
        total === 0 ? said(`There are no ${status === undefined ? '' : `${status} `}tickets.`) : listed(items, total),
      ),
    );
  },
});

function said(text: string): ToolResult {
  return toolResult(text, { formalized_content: text, json: [] });
}

function listed(found: readonly TicketRecord[], total: number): ToolResult {
  const header = ['id', 'title', 'status', 'priority', 'assignee', 'created_at', 'updated_at'] as const;
  const json = found.map(({ id, title, status, priority, assignee, createdAt, updatedAt }): JsonObject => {
    const [created_at, updated_at] = [createdAt, updatedAt].map((time) => new Date(time).toISOString()) as [
      string,
      string,
    ];
    return { id, title, status, priority, assignee, created_at, updated_at };
  });
  const table = markdownTable(
    header,
    json.map((row) => header.map((name) => String(row[name]))),
  );
  const more = total > found.length ? `\n\nThese are ${found.length} of ${total} tickets, the last changed first.` : '';
  const note = found.some(({ isSample }) => isSample) ? '\n\nThese are sample data.' : '';
  const text = `${table}${more}${note}`;
  return toolResult(text, { formalized_content: text, json });
}
