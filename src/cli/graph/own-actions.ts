/** What users bring: graphs as files, and rules of a dataset. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { EngineError } from '../../errors.js';
import { isJsonObject, type JsonObject, parseJson, whyNotJson } from '../../json.js';
import { GRAPH_LAYERS, type GraphLayer } from '../../knowledge/graph/facts.js';
import { GRAPH_FORMS, type GraphForm, MAX_GRAPH_BYTES } from '../../knowledge/graph/given/graph-forms.js';
import { LOCAL_TENANT } from '../../settings/access.js';
import { cannot, EXIT } from '../command.js';
import { readSource } from '../read-source.js';
import type { GraphAction, GraphWork } from './graph-action.js';

/** Far more than the terms and patterns that a dataset may have. */
const MAX_RULES_BYTES = 4 * 1_048_576;

export const putAction: GraphAction = {
  help: ['FILE', 'puts a graph of yours in place of the one that was put before; {} takes it away'],
  takes: [1, 1],
  options: ['format'],
  async run({ knowledge, datasetId, given: [file = ''], values, screen, terminal }) {
    const form = formOf(values.format, file);
    const text = await readSource(file, terminal, MAX_GRAPH_BYTES);
    const taken = await knowledge.base.graphs.give(LOCAL_TENANT, datasetId, form, text);
    const told = `${taken.nodes} nodes and ${taken.edges} edges, which name ${taken.chunks} chunks, were put\n`;
    screen.answer(values.json === true ? `${JSON.stringify(taken)}\n` : told);
    return EXIT.finished;
  },
};

export const exportAction: GraphAction = {
  help: ['', 'the whole graph, or the --layers of it, as a file that can be put'],
  takes: [0, 0],
  options: ['layers', 'format', 'out'],
  async run({ knowledge, datasetId, values, screen }) {
    const { out } = values;
    const form = formOf(values.format, out ?? '-');
    const layers = values.layers?.split(',').map((layer) => layerOf(layer.trim()));
    const { text, nodes, edges } = await knowledge.base.graphs.ask(LOCAL_TENANT, datasetId, {
      ...{ kind: 'export', form, layers },
    });
    if (out === undefined) screen.answer(`${text.trimEnd()}\n`);
    else {
      await writeFile(out, text).catch((cause: unknown) => {
        throw cannot(`write "${out}"`, cause);
      });
      screen.remark(`${nodes} nodes and ${edges} edges are in ${out}`);
    }
    return EXIT.finished;
  },
};

export const rulesAction: GraphAction = {
  help: ['[FILE]', 'terms and patterns of the dataset; those of a file replace them'],
  takes: [0, 1],
  async run(work) {
    const { knowledge, datasetId, given, screen } = work;
    const [file] = given;
    const { graphs } = knowledge.base;
    const { terms, patterns, isToBuild } =
      file === undefined
        ? await graphs.rules(LOCAL_TENANT, datasetId)
        : await graphs.setRules(LOCAL_TENANT, datasetId, await readRules(file, work));
    screen.answer(`${JSON.stringify({ terms, patterns }, null, 2)}\n`);
    if (isToBuild) screen.remark('runnel graph build reads by them what was read without them.');
    return EXIT.finished;
  },
};

async function readRules(file: string, { terminal }: GraphWork): Promise<JsonObject> {
  const text = await readSource(file, terminal, MAX_RULES_BYTES);
  const rules = parseJson(text);
  if (isJsonObject(rules)) return rules;
  const why = rules === undefined ? whyNotJson(text) : 'is no object';
  throw new EngineError('USAGE', `Rules are {"terms": [...], "patterns": [...]}; what ${file} holds ${why}.`);
}

/** Without `--format` what the name of the file ends with says it. */
function formOf(given: string | undefined, file: string): GraphForm {
  const name = given ?? (path.extname(file).slice(1).toLowerCase() || GRAPH_FORMS[0]);
  const form = GRAPH_FORMS.find((one) => one === name);
  if (form !== undefined) return form;
  throw new EngineError('USAGE', `--format takes ${GRAPH_FORMS.join(', ')}; received "${name}".`);
}

function layerOf(given: string): GraphLayer {
  const layer = GRAPH_LAYERS.find((one) => one === given);
  if (layer !== undefined) return layer;
  throw new EngineError('USAGE', `--layers takes ${GRAPH_LAYERS.join(', ')}; received "${given}".`);
}
