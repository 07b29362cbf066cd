/** Contributions as they are stored, and as models and users give them. */
import { z } from 'zod';
import { type Contribution, MAX_NAME, type Mention, type Relation } from './facts.js';

const name = z.string().min(1).max(MAX_NAME);

const mentionSchema = z.object({
  name,
  type: z.string().max(100).catch('concept'),
  start: z.number().catch(0),
  end: z.number().catch(0),
  description: z.string().exactOptional(),
  aliases: z.array(name).exactOptional(),
  isTitle: z.boolean().exactOptional(),
  count: z.int().min(0).exactOptional(),
});

const relationSchema = z.object({
  source: name,
  target: name,
  relation: z.string().min(1).max(100),
  description: z.string().catch(''),
  weight: z.number().catch(1),
  isExplicit: z.boolean().catch(true),
});

/** Reads a contribution; what does not have its form is left out, and so are relations whose ends nothing mentions. */
export function readContribution(body: unknown): Contribution {
  const { mentions, relations } = z
    .looseObject({ mentions: z.array(z.unknown()).catch([]), relations: z.array(z.unknown()).catch([]) })
    .catch({ mentions: [], relations: [] })
    .parse(body);
  const read = mentions.flatMap((one): readonly Mention[] => listed(mentionSchema.safeParse(one).data));
  const names = new Set(read.map((one) => one.name));
  const stated = relations.flatMap((one): readonly Relation[] => listed(relationSchema.safeParse(one).data));
  return { mentions: read, relations: stated.filter(({ source, target }) => names.has(source) && names.has(target)) };
}

function listed<T>(value: T | undefined): readonly T[] {
  return value === undefined ? [] : [value];
}
