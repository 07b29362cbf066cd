/** `runnel validate`: everything that is wrong with a document. */
import { checkCanvas } from '../canvas/load-canvas.js';
import { type Command, EXIT, parse } from './command.js';
import { readSource } from './read-source.js';

export const validateCommand: Command = {
  usage: 'validate <canvas.json> [--json]',
  summary: 'report every problem of a document with its path',
  help: `  <canvas.json>      the document, version 1 or 2; "-" reads it from the standard input
  --json             prints {"valid": …, "version": …, "components": …, "issues": […]} instead of lines

Exit codes: 0 the document can run (warnings are allowed), 2 it cannot.`,
  async run(args, terminal) {
    const { values, positionals } = parse(validateCommand, args, { json: { type: 'boolean' } }, { least: 1, most: 1 });
    const path = positionals[0] as string;
    const { plan, document, issues } = checkCanvas(await readSource(path, terminal));
    const isValid = plan !== undefined;
    const components = Object.keys(document?.components ?? {}).length;
    const version = document?.version ?? null;
    if (values.json === true) {
      terminal.out.write(`${JSON.stringify({ valid: isValid, version, components, issues }, null, 2)}\n`);
      return isValid ? EXIT.finished : EXIT.usage;
    }
    for (const { severity, path: at, message, code } of issues) {
      terminal.out.write(`${severity}: ${at}: ${message} [${code}]\n`);
    }
    const errors = issues.filter(({ severity }) => severity === 'error').length;
    const warnings = count(issues.length - errors, 'warning');
    terminal.out.write(
      isValid
        ? `${path}: valid, version ${version}, ${count(components, 'component')}, ${warnings}\n`
        : `${path}: ${count(errors, 'error')}, ${warnings}\n`,
    );
    return isValid ? EXIT.finished : EXIT.usage;
  },
};

function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? '' : 's'}`;
}
