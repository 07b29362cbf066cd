import { z } from 'zod';
import { type Query, type Repository, resource } from './repository.js';

const ticketSchema = z.object({
  /** `TKT-` and a number. */
  id: z.string(),
  title: z.string(),
  status: z.enum(['open', 'in_progress', 'closed']),
  priority: z.enum(['low', 'normal', 'high', 'urgent']),
  assignee: z.string(),
  createdAt: z.number(),
  updatedAt: z.number(),
  /** Whether it was made up, for tenants that have no tickets of their own. */
  isSample: z.boolean(),
});

/** A request for help. Times are milliseconds since 1970. */
export type TicketRecord = Readonly<z.infer<typeof ticketSchema>>;

/** Which tickets, the last changed first. */
export interface TicketQuery extends Query {
  readonly statuses?: readonly TicketRecord['status'][];
}

/** Where sample tickets are stored. */
export type TicketStore = Pick<Repository<TicketRecord, TicketQuery>, 'save' | 'find' | 'list' | 'delete'>;

export const tickets = resource<TicketRecord, TicketQuery>({
  name: 'tickets',
  singular: 'Ticket',
  schema: ticketSchema,
  id: ({ id }) => id,
  columns: {
    status: { type: 'text', of: ({ status }) => status },
    priority: { type: 'text', of: ({ priority }) => priority },
    updated_at: { type: 'number', of: ({ updatedAt }) => updatedAt },
  },
  filters: { statuses: ['in', 'status'] },
  orders: { updatedAt: 'updated_at' },
  indexes: [['tenant', 'updated_at', 'position']],
  memory: { maxCount: 100_000, maxBytes: 32 * 1024 ** 2 },
});
