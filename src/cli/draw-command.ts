/** `runnel draw`: a document as a picture in text. */
import { drawDocument } from '../canvas/draw.js';
import { parseDocument } from '../dsl/read.js';
import { type Command, EXIT, parse } from './command.js';
import { readSource } from './read-source.js';

export const drawCommand: Command = {
  usage: 'draw <canvas.json>',
  summary: 'draw a canvas as a Mermaid flowchart',
  help: `  <canvas.json>      the document, version 1 or 2; "-" reads it from the standard input

Solid lines are edges, dotted lines lead where a node may go by its parameters, frames are bodies of loops.
Paste the output into any Mermaid viewer, or into a Markdown file between \`\`\`mermaid and \`\`\`.
Exit codes: 0 drawn, 2 the document is invalid.`,
  async run(args, terminal) {
    const { positionals } = parse(drawCommand, args, {}, { least: 1, most: 1 });
    terminal.out.write(drawDocument(parseDocument(await readSource(positionals[0] as string, terminal))));
    return EXIT.finished;
  },
};
