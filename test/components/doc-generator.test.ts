import { lastValueFrom, type Observable, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createRegistry } from '../../src/components/component.js';
import { docGenerator } from '../../src/components/doc-generator.js';
import type { StoredFile } from '../../src/components/services.js';
import { Downloads } from '../../src/components/speaking/files.js';
import type { NodeEvent } from '../../src/graph/node-events.js';
import type { JsonObject } from '../../src/json.js';
import { pdfPages } from '../documents/read-back.js';
import { activationOf, nodeOf, outputsOf, type Surroundings, warningsOf } from './text-activation.js';

type NewFile = Omit<StoredFile, 'id'>;

/** A store that keeps what it is given under one id. */
function store() {
  const saved: NewFile[] = [];
  const save = async (file: NewFile) => {
    saved.push(file);
    return 'id-1';
  };
  return { saved, services: { files: { save, read: async () => undefined } } };
}

/** Runs a node at 2026-11-21 09:30:05, local time. */
function generate(params: JsonObject, around: Surroundings): Promise<NodeEvent[]> {
  const now = () => new Date(2026, 10, 21, 9, 30, 5).getTime();
  const result = nodeOf(docGenerator, params)({ ...activationOf({ random: 0.5, ...around }), now });
  return lastValueFrom((result as Observable<NodeEvent>).pipe(toArray()));
}

describe('DocGenerator', () => {
  it('makes a file, keeps it and describes it', async () => {
    const { saved, services } = store();
    const params = {
      content: '# {a@content}',
      output_format: 'html',
      filename: '{a@name}.txt',
      header_text: '{a@name}',
    };
    const outputs = { a: { content: '<think>hm</think>Report\n\n\n\n报告', name: 'Q1 & Q2' } };
    const made = outputsOf(await generate(params, { services, outputs }));
    const [file] = saved;
    expect(file).toMatchObject({ name: 'Q1 & Q2.html', mimeType: 'text/html' });
    const text = new TextDecoder().decode(file?.bytes);
    expect(text).toContain('<title>Q1 &amp; Q2</title>');
    expect(text).toContain('<p class="generated">Generated: 2026-11-21 09:30:05</p>');
    expect(text).toContain('<header>Q1 &amp; Q2</header>\n<h1>Report</h1>\n<p>报告</p>');
    const described = { doc_id: 'id-1', filename: 'Q1 & Q2.html', mime_type: 'text/html', size: file?.bytes.length };
    expect(made).toEqual({ ...described, download: expect.any(String) });
    expect(JSON.parse(String(made.download))).toEqual({
      ...described,
      base64: Buffer.from(file?.bytes ?? []).toString('base64'),
      preview_url: '/api/v1/agents/attachments/id-1/preview?ext=html&mime_type=text%2Fhtml',
      url: '/api/v1/agents/attachments/id-1/download?ext=html&mime_type=text%2Fhtml&filename=Q1+%26+Q2.html',
      include_download_info_in_content: false,
    });
  });

  it('renders its content and its page as templates', async () => {
    const { saved, services } = store();
    const params = {
      content: '{{#each {a@rows}}}- {{this}}\n{{/each}}',
      template_engine: 'handlebars',
      output_format: 'html',
      filename: 'Rows',
      layout: '<h1>{{title}} & {a@rows}</h1>{{{body}}}',
    };
    const made = await generate(params, { services, outputs: { a: { rows: ['x', '<y>'] } } });
    expect(warningsOf(made)).toEqual([]);
    const text = new TextDecoder().decode(saved[0]?.bytes);
    expect(text).toBe('<h1>Rows & {a@rows}</h1><section>\n<ul>\n<li>x</li>\n<li>&lt;y&gt;</li>\n</ul>\n</section>');
  });

  it('fails for a page that cannot be rendered', async () => {
    const params = { content: 'x', output_format: 'html', layout: '{{#if}}' };
    await expect(generate(params, { services: store().services })).rejects.toMatchObject({
      code: 'DOCUMENT_NOT_WRITTEN',
    });
  });

  it.each([
    [{}, 'pdf', 'application/pdf'],
    [{ output_format: 'md' }, 'md', 'text/markdown'],
    [{ output_format: 'markdown' }, 'md', 'text/markdown'],
    [{ output_format: 'txt' }, 'txt', 'text/plain'],
    [{ output_format: '' }, 'pdf', 'application/pdf'],
    [{ output_format: 'docx' }, 'docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
    [{ output_format: 'xlsx' }, 'xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
  ])('makes up a name for %j', async (params, extension, mimeType) => {
    const { saved, services } = store();
    await generate({ content: 'x', ...params }, { services });
    expect(saved.map(({ name, mimeType: type }) => [name, type])).toEqual([
      [`document_20261121_093005_80000000.${extension}`, mimeType],
    ]);
  });

  it('sets what stands around the pages, under the names of both versions', async () => {
    for (const params of [
      { header_text: 'Top', footer_text: 'Foot', watermark_text: 'Draft' },
      { header: 'Top', footer: 'Foot', watermark: 'Draft' },
    ]) {
      const { saved, services } = store();
      await generate({ content: 'x', ...params }, { services });
      expect(await pdfPages(saved[0]?.bytes ?? new Uint8Array())).toEqual([
        'x\nDraft\nTop\nFoot Generated: 2026-11-21 09:30:05 Page 1',
      ]);
    }
    const { saved, services } = store();
    await generate({ content: 'x', add_page_numbers: false, add_timestamp: false }, { services });
    expect(await pdfPages(saved[0]?.bytes ?? new Uint8Array())).toEqual(['x']);
  });

  it('gives a Message what it offers', async () => {
    const { services } = store();
    const quiet = outputsOf(await generate({ content: 'x', output_format: 'txt' }, { services }));
    const downloads = new Downloads();
    expect(downloads.take(quiet.download ?? null)).toBe('');
    expect(downloads.list).toEqual([expect.objectContaining({ doc_id: 'id-1', mime_type: 'text/plain' })]);
    const params = { content: 'x', output_format: 'txt', include_download_info_in_content: true };
    const shown = outputsOf(await generate(params, { services }));
    expect(new Downloads().take(shown.download ?? null)).toContain('"doc_id"');
  });

  it('leaves the bytes of a large file in the store', async () => {
    const { saved, services } = store();
    const params = { content: '{a@content}', output_format: 'txt' };
    const { size, download } = outputsOf(
      await generate(params, { services, outputs: { a: { content: 'x'.repeat(300_000) } } }),
    );
    expect(size).toBe(saved[0]?.bytes.length);
    expect(JSON.parse(String(download))).not.toHaveProperty('base64');
  });

  it('tells about references that name nothing', async () => {
    const { services } = store();
    const events = await generate({ content: 'x{env.no}', output_format: 'txt' }, { services });
    expect(warningsOf(events)).toEqual(['"env.no" names no value; it reads as empty text.']);
  });

  it('fails with the reason, and keeps nothing', async () => {
    const { saved, services } = store();
    await expect(generate({ content: '> '.repeat(50) }, { services })).rejects.toMatchObject({
      code: 'DOCUMENT_NOT_WRITTEN',
      message:
        'Document generation failed: PDF generation failed: the content nests lists and quotes deeper than 32 levels.',
      details: { format: 'pdf' },
    });
    expect(saved).toEqual([]);
  });

  it('keeps nothing that was made for somebody who left', async () => {
    const { saved, services } = store();
    const result = nodeOf(docGenerator, { content: 'x', output_format: 'txt' })(activationOf({ services }));
    (result as Observable<NodeEvent>).subscribe().unsubscribe();
    // The same work, begun later, is over: so is the one before.
    await generate({ content: 'later', output_format: 'txt', filename: 'later' }, { services });
    expect(saved.map(({ name }) => name)).toEqual(['later.txt']);
  });

  it('needs a place for its files', () => {
    const node = nodeOf(docGenerator, { content: 'x' });
    expect(() => node(activationOf({}))).toThrow(
      /Node "x" needs the service "files", .* pass \{ services: \{ files \} \}/,
    );
  });

  it('fails with the store', async () => {
    const services = { files: { save: () => Promise.reject(new Error('disk full')), read: async () => undefined } };
    await expect(generate({ content: 'x', output_format: 'txt' }, { services })).rejects.toThrow('disk full');
  });

  it.each([
    [{}],
    [{ content: '' }],
    [{ content: 'x', output_format: 'rtf' }],
    [{ content: 'x', font_size: 8 }],
    [{ content: 'x', add_timestamp: 'yes' }],
  ])('refuses the parameters %j', (params) => {
    expect(docGenerator.params.safeParse(params).success).toBe(false);
  });

  it('is known by the name of its file in the other version, and needs what it reads', () => {
    expect(createRegistry([docGenerator]).get('docsgenerator')).toBe(docGenerator);
    const params = docGenerator.params.parse({ content: '{a@content}', filename: '{b@name}', font_size: null });
    expect(docGenerator.needs?.(params)).toEqual(['a@content', 'b@name']);
    expect(params.font_size).toBe(12);
  });
});
