import { getDocumentProxy } from 'unpdf';
import { expect, it } from 'vitest';
import { convertMarkdown, type DocumentFormat } from '../../src/documents/index.js';
import { htmlPage, pdfPages } from './read-back.js';

const TEXT = `See [the end](#end), [nothing](#nothing), \`[code](#end)\` and <!-- a comment --> more.

| Where |
|---|
| [here](#end) |

\\newpage

${'W'.repeat(300)}<!-- anchor: end --> the end, and <!-- anchor: end --> again; <!-- anchor: no name -->.
`;

const made = async (format: DocumentFormat): Promise<Uint8Array> => (await convertMarkdown(TEXT, { format })).bytes;

it('links within a page lead to places that it has; others are text', async () => {
  const page = htmlPage(await made('html'));
  expect(
    page('a')
      .map((_, link) => `${page(link).text()} ${page(link).attr('href')}`)
      .get(),
  ).toEqual(['the end #end', 'here #end']);
  expect(page('#end')).toHaveLength(1);
  expect(page('body').text()).toContain('nothing, [code](#end) and  more');
});

it('links within a PDF lead to their page, also where a word is too long for its line', async () => {
  const bytes = await made('pdf');
  const pdf = await getDocumentProxy(new Uint8Array(bytes));
  const links = (await (await pdf.getPage(1)).getAnnotations()) as { readonly dest?: string }[];
  expect(links.map(({ dest }) => dest)).toEqual(['end', 'end']);
  const [page] = (await pdf.getDestination('end')) as [never];
  expect(await pdf.getPageIndex(page)).toBe(1);
  expect((await pdfPages(bytes))[1]).toContain('the end, and again;');
});

it('texts without links are written without them', async () => {
  expect(new TextDecoder().decode(await made('txt'))).toContain('See the end, nothing,');
});
