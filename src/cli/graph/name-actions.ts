/** Names of entities: which are one, which are not, and which were added. */
import { EngineError } from '../../errors.js';
import { LOCAL_TENANT } from '../../settings/access.js';
import { EXIT } from '../command.js';
import type { GraphAction, GraphWork } from './graph-action.js';

const OUTCOMES = { same: 'one', apart: 'kept apart' } as const;

export const mergeAction: GraphAction = {
  help: ['A B', 'takes two names for one'],
  takes: [2, 2],
  run: (work) => decide(work, 'same'),
};

export const splitAction: GraphAction = {
  help: ['A B', 'keeps two names apart'],
  takes: [2, 2],
  run: (work) => decide(work, 'apart'),
};

export const aliasAction: GraphAction = {
  help: ['ENTITY ALIAS', 'adds another name of an entity'],
  takes: [2, 2],
  async run({ knowledge, datasetId, given: [entity = '', alias = ''], values, screen }) {
    const added = await knowledge.base.graphs.addAlias(LOCAL_TENANT, datasetId, entity, alias);
    const text = `"${added.alias}" is a name of ${added.entity} from now on (${added.id})\n`;
    screen.answer(values.json === true ? `${JSON.stringify(added)}\n` : text);
    return EXIT.finished;
  },
};

export const namesAction: GraphAction = {
  help: ['', 'what was decided by merge, split and alias, with the ids for undo'],
  takes: [0, 0],
  run: names,
};

export const undoAction: GraphAction = {
  help: ['ID', 'undoes a merge, a split or an alias'],
  takes: [1, 1],
  async run({ knowledge, datasetId, given: [id = ''], screen }) {
    const { graphs } = knowledge.base;
    const isUndone =
      (await graphs.undo(LOCAL_TENANT, datasetId, id)) || (await graphs.removeAlias(LOCAL_TENANT, datasetId, id));
    if (!isUndone)
      throw new EngineError('NOT_FOUND', `No decision and no alias has the id "${id}"; runnel graph names lists them.`);
    screen.answer(`${id} was undone\n`);
    return EXIT.finished;
  },
};

async function decide(
  { knowledge, datasetId, given, values, screen }: GraphWork,
  kind: 'same' | 'apart',
): Promise<number> {
  const decision = await knowledge.base.graphs.decide(LOCAL_TENANT, datasetId, kind, given);
  const text = `${decision.names.join(' and ')} are ${OUTCOMES[kind]} from now on (${decision.id})\n`;
  screen.answer(values.json === true ? `${JSON.stringify(decision)}\n` : text);
  return EXIT.finished;
}

async function names({ knowledge, datasetId, values, screen }: GraphWork): Promise<number> {
  const { graphs } = knowledge.base;
  const [decisions, aliases] = await Promise.all([
    graphs.decisions(LOCAL_TENANT, datasetId),
    graphs.aliases(LOCAL_TENANT, datasetId),
  ]);
  const decided = decisions.map(({ id, kind, names }) => `${id}  ${names.join(' and ')} are ${OUTCOMES[kind]}\n`);
  const added = aliases.map(({ id, entity, alias }) => `${id}  "${alias}" is a name of ${entity}\n`);
  const text = [...decided, ...added].join('') || 'nothing was decided\n';
  screen.answer(values.json === true ? `${JSON.stringify({ decisions, aliases })}\n` : text);
  return EXIT.finished;
}
