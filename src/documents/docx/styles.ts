import type { IParagraphStyleOptions, IStylesOptions } from 'docx';
import { headingSize } from '../page.js';

/** Fonts by script; a reader that lacks one takes its own. */
const FONT = { ascii: 'Calibri', hAnsi: 'Calibri', cs: 'Calibri', eastAsia: 'Microsoft YaHei' };
const CODE_FONT = { ascii: 'Consolas', hAnsi: 'Consolas', cs: 'Consolas', eastAsia: 'Microsoft YaHei' };

/** Line height, in 240ths of a line. */
const LINE = 288;

/** Names of the styles that the body uses. */
export const STYLE = {
  code: 'CodeBlock',
  codeText: 'CodeText',
  quote: 'Quote',
  edge: 'PageEdge',
  list: 'ListParagraph',
} as const;

/** Colours without the `#`. */
export const COLOUR = { edge: '595959', line: 'BFBFBF', head: 'F2F2F2', code: 'F5F5F5', watermark: 'D9D9D9' } as const;

/** The styles of a document whose text is `fontSize` points high. */
export function documentStyles(fontSize: number): IStylesOptions {
  const heading = (level: number) => ({
    run: { font: FONT, bold: true, color: '1F1F1F', size: halfPoints(headingSize(level, fontSize)) },
    paragraph: { spacing: { before: 240, after: 120, line: LINE }, keepNext: true },
  });
  return {
    default: {
      document: {
        run: { font: FONT, size: halfPoints(fontSize) },
        paragraph: { spacing: { after: 120, line: LINE } },
      },
      heading1: heading(1),
      heading2: heading(2),
      heading3: heading(3),
      heading4: heading(4),
      heading5: heading(5),
      heading6: heading(6),
      hyperlink: { run: { color: '0563C1', underline: { type: 'single' } } },
    },
    paragraphStyles: [
      paragraphStyle(STYLE.list, 'List Paragraph', { paragraph: { spacing: { after: 60, line: LINE } } }),
      paragraphStyle(STYLE.quote, 'Quote', { run: { color: '404040' } }),
      paragraphStyle(STYLE.edge, 'Page Edge', {
        run: { color: COLOUR.edge, size: halfPoints(9) },
        paragraph: { spacing: { after: 0 } },
      }),
      paragraphStyle(STYLE.code, 'Code Block', {
        run: { font: CODE_FONT, size: halfPoints(fontSize * 0.9) },
        paragraph: { spacing: { after: 120, line: 252 } },
      }),
    ],
    characterStyles: [
      { id: STYLE.codeText, name: 'Code Text', basedOn: 'DefaultParagraphFont', run: { font: CODE_FONT } },
    ],
  };
}

function paragraphStyle(id: string, name: string, options: Partial<IParagraphStyleOptions>): IParagraphStyleOptions {
  return { id, name, basedOn: 'Normal', quickFormat: true, ...options };
}

/** Word measures text in half points. */
function halfPoints(points: number): number {
  return Math.round(points * 2);
}
