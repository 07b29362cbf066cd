/** Queries of lists of chats and of their sessions, read as RAGFlow reads them. */
import { z } from 'zod';
import { badArgument } from '../../hosting/refusals.js';
import { type BoundedPage, PAGE_BYTES } from '../http/input.js';
import { loosePage, loosePageSize, MAX_PAGE_SIZE, parameter, parameters } from '../ragflow/fields.js';

const ORDERS = { create_time: 'createdAt', update_time: 'updatedAt', name: 'name' } as const;
type Order = (typeof ORDERS)[keyof typeof ORDERS];

/** A parameter that counts as absent when it is empty. */
const filled = parameter.transform((text) => text || undefined);

const listQuery = z.object({
  page: loosePage.describe('From 1; default 1.'),
  page_size: loosePageSize.describe(`At most ${MAX_PAGE_SIZE}; default 30.`),
  orderby: filled.describe('create_time (default), update_time or name.'),
  desc: parameter.transform((text) => text?.toLowerCase() !== 'false').describe('"false": ascending.'),
  id: filled,
  name: filled.describe('The whole name.'),
});

export const chatsQuery = listQuery.extend({
  keywords: filled.describe('Part of the name.'),
  owner_ids: parameters.describe('Tenants; those of others own nothing here.'),
});

export const chatSessionsQuery = listQuery.extend({ user_id: filled });

/** The page that a query asks for, within {@link PAGE_BYTES}. */
export function chatPage({
  page,
  page_size: limit,
}: Pick<z.output<typeof listQuery>, 'page' | 'page_size'>): BoundedPage {
  return { offset: (page - 1) * limit, limit, maxBytes: PAGE_BYTES };
}

type Ordered = Pick<z.output<typeof listQuery>, 'orderby' | 'desc'>;

/** @throws EngineError BAD_REQUEST for another order. */
export function orderOfSessions({ orderby = 'create_time', desc }: Ordered) {
  if (!Object.hasOwn(ORDERS, orderby)) throw badArgument(`invalid orderby field: ${orderby.slice(0, 255)}`);
  return { orderBy: ORDERS[orderby as keyof typeof ORDERS] as Order, descending: desc };
}

/** The same of assistants, whose name is a title. */
export function orderOfChats(query: Ordered) {
  const { orderBy, descending } = orderOfSessions(query);
  return { orderBy: orderBy === 'name' ? ('title' as const) : orderBy, descending };
}
