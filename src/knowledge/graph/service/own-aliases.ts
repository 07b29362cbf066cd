/** Other names of entities that users add by hand. */
import { randomUUID } from 'node:crypto';
import { EngineError } from '../../../errors.js';
import { groupBy } from '../../../group-by.js';
import type { KnowledgeStore } from '../../../records/knowledge-store.js';
import { MAX_NAME } from '../facts.js';
import { UNWRITABLE } from '../given/problems.js';
import type { EntityAlias, KnowledgeGraphs } from '../knowledge-graphs.js';
import { nameKey } from '../names/name-forms.js';

/** What aliases are made of. */
export interface OwnAliasesOptions {
  readonly store: KnowledgeStore;
  readonly ask: KnowledgeGraphs['ask'];
  readonly decisions: KnowledgeGraphs['decisions'];
}

/** Aliases of a dataset. */
const MAX_ALIASES = 5_000;
const KIND = 'alias';

/** The aliases of the graphs of a knowledge base: notes beside what chunks contribute, so that a build changes none and each can be undone. */
export function createOwnAliases({
  store,
  ask,
  decisions,
}: OwnAliasesOptions): Pick<KnowledgeGraphs, 'aliases' | 'addAlias' | 'removeAlias'> {
  const aliases = async (tenant: string, datasetId: string): Promise<readonly EntityAlias[]> => {
    const notes = await store.listNotes(tenant, datasetId, KIND, undefined, MAX_ALIASES);
    return notes.map(({ key, value }) => ({ id: key, entity: String(value.entity), alias: String(value.alias) }));
  };
  return {
    aliases,
    async addAlias(tenant, datasetId, named, given) {
      const alias = given.trim();
      if (alias === '' || alias.length > MAX_NAME || UNWRITABLE.test(alias)) {
        const message = `An alias has 1 to ${MAX_NAME} characters, none of them a control; received ${JSON.stringify(given.slice(0, 200))}.`;
        throw new EngineError('BAD_REQUEST', message);
      }
      const known = await aliases(tenant, datasetId);
      refuseCycle(known, named, alias);
      const entity = await entityOf(ask, tenant, datasetId, named);
      refuseCycle(known, entity.name, alias);
      const [owner] = (await ask(tenant, datasetId, { kind: 'find', name: alias })).entities;
      if (owner?.id === entity.id) throw conflict(`"${alias}" is a name of "${entity.name}" already.`);
      if (owner !== undefined)
        throw conflict(
          `"${alias}" is a name of the entity "${owner.name}"; merge the two if "${entity.name}" is the same.`,
        );
      // That of an entity that is not in the graph now.
      const other = known.find((one) => nameKey(one.alias) === nameKey(alias));
      if (other !== undefined)
        throw conflict(`"${alias}" is an alias of "${other.entity}"; delete the alias ${other.id} first.`);
      const apart = (await decisions(tenant, datasetId)).find(
        ({ kind, names }) => kind === 'apart' && isPair(names, [entity.name, alias]),
      );
      if (apart !== undefined)
        throw conflict(`"${entity.name}" and "${alias}" are kept apart; undo the decision ${apart.id} first.`);
      if (known.length >= MAX_ALIASES)
        throw new EngineError('LIMIT_REACHED', `The graph has ${known.length} aliases; no more are taken.`);
      const added = { id: randomUUID().replaceAll('-', ''), entity: entity.name, alias };
      const value = { entity: entity.name, alias };
      await store.putNotes(tenant, datasetId, KIND, [{ key: added.id, value }]);
      return added;
    },
    removeAlias: async (tenant, datasetId, id) => (await store.deleteNotes(tenant, datasetId, KIND, [id])) > 0,
  };
}

/** The one entity of an id or name. @throws EngineError NOT_FOUND; CONFLICT for a name of several */
async function entityOf(ask: KnowledgeGraphs['ask'], tenant: string, datasetId: string, name: string) {
  const [entity, another] = (await ask(tenant, datasetId, { kind: 'find', name })).entities;
  if (entity === undefined)
    throw new EngineError('NOT_FOUND', `There is no entity "${name.slice(0, 200)}" in the graph of "${datasetId}".`);
  if (another === undefined) return entity;
  throw conflict(
    `"${name}" is a name of several entities, such as "${entity.id}" and "${another.id}"; name one by its id.`,
  );
}

/** @throws EngineError CONFLICT when `entity` is, over one or several steps, an alias of `alias` */
function refuseCycle(known: readonly EntityAlias[], entity: string, alias: string): void {
  const byEntity = groupBy(known, (one) => nameKey(one.entity));
  const [wanted, way] = [nameKey(entity), [nameKey(alias)]];
  const seen = new Set(way);
  // The list grows while it is walked.
  for (const key of way) {
    for (const one of byEntity.get(key) ?? []) {
      const next = nameKey(one.alias);
      if (next === wanted)
        throw conflict(`"${alias}" for "${entity}" would make a cycle: "${one.alias}" is an alias of "${one.entity}".`);
      if (seen.has(next)) continue;
      seen.add(next);
      way.push(next);
    }
  }
}

function isPair(left: readonly [string, string], right: readonly [string, string]): boolean {
  const keys = (pair: readonly string[]): string => JSON.stringify(pair.map((name) => nameKey(name)).sort());
  return keys(left) === keys(right);
}

function conflict(message: string): EngineError {
  return new EngineError('CONFLICT', message);
}
