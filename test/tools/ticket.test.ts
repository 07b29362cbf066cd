import { describe, expect, it } from 'vitest';
import { businessOf } from '../../src/records/business.js';
import type { TicketRecord } from '../../src/records/tickets.js';
import { createMemoryStores } from '../../src/stores/memory-stores.js';
import { ticket } from '../../src/tools/everyday/ticket.js';
import { errorOf, resultOf } from './support/upstream.js';

async function ownTickets(count = 3): Promise<{ business: ReturnType<typeof businessOf> }> {
  const stores = createMemoryStores();
  const statuses = ['open', 'in_progress', 'closed'] as const;
  for (let at = 0; at < count; at += 1) {
    const record: TicketRecord = {
      id: `TKT-${at}`,
      title: `Title ${at}`,
      status: statuses[at % 3] ?? 'open',
      priority: 'high',
      assignee: 'Ana',
      createdAt: 0,
      updatedAt: at * 1_000,
      isSample: false,
    };
    await stores.tickets.save('t', record);
  }
  return { business: businessOf(stores, 't', () => 0) };
}

const idsOf = (json: unknown) => (json as { id: string }[]).map(({ id }) => id);

describe('ticket', () => {
  it('finds a ticket by its number, in any case', async () => {
    const { outputs, text } = await resultOf(ticket, '', { args: { id: ' tkt-1 ' }, services: await ownTickets() });
    expect(outputs.json).toEqual([
      {
        id: 'TKT-1',
        title: 'Title 1',
        status: 'in_progress',
        priority: 'high',
        assignee: 'Ana',
        created_at: '1970-01-01T00:00:00.000Z',
        updated_at: '1970-01-01T00:00:01.000Z',
      },
    ]);
    expect(text).toContain('| TKT-1 | Title 1 | in_progress | high | Ana |');
  });

  it.each([
    [{ status: 'open' }, ['TKT-1', 'TKT-0']],
    [{ status: 'in_progress' }, ['TKT-1']],
    [{ status: 'closed' }, ['TKT-2']],
    [{}, ['TKT-2', 'TKT-1', 'TKT-0']],
    [{ id: '', status: null }, ['TKT-2', 'TKT-1', 'TKT-0']],
  ])('lists %j, the last changed first', async (args, ids) => {
    const { outputs } = await resultOf(ticket, '', { args: args as never, services: await ownTickets() });
    expect(idsOf(outputs.json)).toEqual(ids);
  });

  it('lists twenty at most, and says how many there are', async () => {
    const { outputs, text } = await resultOf(ticket, '', { args: {}, services: await ownTickets(25) });
    expect(outputs.json).toHaveLength(20);
    expect(text).toContain('These are 20 of 25 tickets');
  });

  it('says that there is none', async () => {
    const services = await ownTickets(1);
    expect((await resultOf(ticket, '', { args: { id: 'TKT-999' }, services })).text).toBe(
      'There is no ticket TKT-999.',
    );
    expect((await resultOf(ticket, '', { args: { status: 'closed' }, services })).text).toBe(
      'There are no closed tickets.',
    );
  });

  it.each([{ id: '1234' }, { id: "TKT-1' or 1=1" }, { status: 'lost' }])('refuses %j', async (args) => {
    const error = await errorOf(ticket, '', { args: args as never, services: await ownTickets() });
    expect(error).toMatchObject({ code: 'TOOL_ARGUMENTS' });
  });
});
