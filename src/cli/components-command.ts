/** `runnel components`: the catalogue of node types, the same as `docs/components.md`. */
import { componentPage, describeComponent, formatComponent } from '../components/catalogue.js';
import { components } from '../components/index.js';
import { EngineError } from '../errors.js';
import { createRegistry } from '../graph/component.js';
import { type Command, EXIT, parse } from './command.js';

export const componentsCommand: Command = {
  usage: 'components [NAME] [--json]',
  summary: 'describe the node types with their parameters and outputs',
  help: `  NAME               a node type, in any case; without it all are described, as Markdown
  --json             prints JSON instead of text: one description, or a list of them`,
  async run(args, terminal) {
    const { values, positionals } = parse(
      componentsCommand,
      args,
      { json: { type: 'boolean' } },
      { least: 0, most: 1 },
    );
    const [name] = positionals;
    if (name === undefined) {
      terminal.out.write(values.json === true ? json(components.map(describeComponent)) : componentPage(components));
      return EXIT.finished;
    }
    const found = createRegistry(components).get(name.toLowerCase());
    if (found === undefined) {
      const known = components
        .map(({ type }) => type)
        .toSorted()
        .join(', ');
      throw new EngineError('USAGE', `There is no node type "${name}". Known are: ${known}.`);
    }
    const described = describeComponent(found);
    terminal.out.write(values.json === true ? json(described) : formatComponent(described));
    return EXIT.finished;
  },
};

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
