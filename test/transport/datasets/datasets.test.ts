/** Datasets over HTTP: shapes, codes and messages as RAGFlow's clients know them. */
import { describe, expect, it } from 'vitest';
import { OTHER, startDatasets } from './support/dataset-server.js';

const HEX = /^[0-9a-f]{32}$/;
const NONE = '0'.repeat(32);
const line = (field: string, message: string, value: string) =>
  `Field: <${field}> - Message: <${message}> - Value: <${value}>`;

describe('datasets', () => {
  it('are created with what RAGFlow fills in', async () => {
    const { ask } = await startDatasets();
    const { code, data } = await ask('POST', '/datasets', { name: '  plant ', description: 'pumps' });
    expect(code).toBe(0);
    expect(data).toMatchObject({
      id: expect.stringMatching(HEX),
      name: 'plant',
      description: 'pumps',
      avatar: null,
      language: 'English',
      embedding_model: '',
      permission: 'me',
      chunk_method: 'naive',
      document_count: 0,
      chunk_count: 0,
      token_num: 0,
      similarity_threshold: 0.2,
      vector_similarity_weight: 0.3,
      pagerank: 0,
      status: '1',
      tenant_id: 'acme',
      parser_config: {
        chunk_token_num: 512,
        delimiter: '\n',
        raptor: { use_raptor: false },
        graphrag: { use_graphrag: false },
      },
    });
    expect(data.create_time).toBeGreaterThan(1e12);
  });

  it('get a number behind a name that is taken, without regard to case', async () => {
    const { ask } = await startDatasets();
    const names = [];
    for (const name of ['Plant', 'plant', 'PLANT']) names.push((await ask('POST', '/datasets', { name })).data.name);
    expect(names).toEqual(['Plant', 'plant(1)', 'PLANT(2)']);
  });

  const ENUM =
    "Input should be 'naive', 'book', 'email', 'laws', 'manual', 'one', 'paper', 'picture', 'presentation', 'qa', 'table', 'tag' or 'resume'";
  it.each([
    [{}, line('name', 'Field required', 'None')],
    [{ name: '' }, line('name', 'String should have at least 1 character', '')],
    [{ name: ' ' }, line('name', 'String should have at least 1 character', ' ')],
    [{ name: 'a'.repeat(129) }, line('name', 'String should have at most 128 characters', `${'a'.repeat(125)}...`)],
    [{ name: 0 }, line('name', 'Input should be a valid string', '0')],
    [{ name: null }, line('name', 'Input should be a valid string', 'None')],
    [{ name: 'a', x: true }, line('x', 'Extra inputs are not permitted', 'True')],
    [{ name: 'a', permission: 'ME' }, line('permission', "Input should be 'me' or 'team'", 'ME')],
    [{ name: 'a', permission: [] }, line('permission', "Input should be 'me' or 'team'", '[]')],
    [{ name: 'a', chunk_method: 'other' }, line('chunk_method', ENUM, 'other')],
    [
      { name: 'a', avatar: 'x' },
      line('avatar', 'missing MIME prefix. Expected format: data:<mime>;base64,<data>', 'x'),
    ],
    [
      { name: 'a', avatar: 'd:image/png,x' },
      line('avatar', "invalid MIME prefix format. Must start with 'data:'", 'd:image/png,x'),
    ],
    [
      { name: 'a', avatar: 'data:a/b;base64,x' },
      line('avatar', "Unsupported MIME type. Allowed: ['image/jpeg', 'image/png']", 'data:a/b;base64,x'),
    ],
    [
      { name: 'a', embedding_model: 'm' },
      line('embedding_model', 'embedding model identifier must follow <model_name>@<provider> format', 'm'),
    ],
    [
      { name: 'a', embedding_model: '@p' },
      line('embedding_model', 'both model_name and provider must be non-empty strings', '@p'),
    ],
    [
      { name: 'a', parser_config: { chunk_token_num: 0 } },
      line('parser_config.chunk_token_num', 'Input should be greater than or equal to 1', '0'),
    ],
    [
      { name: 'a', parser_config: { chunk_token_num: 3.14 } },
      line('parser_config.chunk_token_num', 'Input should be a valid integer', '3.14'),
    ],
    [
      { name: 'a', parser_config: { html4excel: 'x' } },
      line('parser_config.html4excel', 'Input should be a valid boolean', 'x'),
    ],
    [
      { name: 'a', parser_config: { pages: ['x'] } },
      line('parser_config.pages.0', 'Input should be a valid list', 'x'),
    ],
    [
      { name: 'a', parser_config: { filename_embd_weight: 2 } },
      line('parser_config.filename_embd_weight', 'Input should be less than or equal to 1', '2.0'),
    ],
    [
      { name: 'a', parser_config: { graphrag: { method: null } } },
      line('parser_config.graphrag.method', "Input should be 'light', 'general' or 'ner'", 'None'),
    ],
    [
      { name: 'a', parser_config: { x: { y: [1, null, "it's"] } } },
      line('parser_config.x', 'Extra inputs are not permitted', `{'y': [1, None, "it's"]}`),
    ],
  ])('are refused field by field: %j', async (body, message) => {
    const { ask } = await startDatasets();
    expect(await ask('POST', '/datasets', body)).toEqual({ code: 101, message, data: false });
  });

  it('say everything that does not fit, a line each', async () => {
    const { ask } = await startDatasets();
    const { message } = await ask('POST', '/datasets', { name: 1, permission: 2 });
    expect(message.split('\n')).toEqual([
      line('name', 'Input should be a valid string', '1'),
      line('permission', "Input should be 'me' or 'team'", '2'),
    ]);
  });

  it.each([
    ['POST', 'text/xml', '{}', 'Unsupported content type: Expected application/json, got text/xml'],
    ['DELETE', 'text/xml', '{}', 'Unsupported content type: Expected application/json, got text/xml'],
    ['POST', 'application/json', 'a', 'Malformed JSON syntax: Missing commas/brackets or invalid encoding'],
    ['DELETE', 'application/json', '', 'Malformed JSON syntax: Missing commas/brackets or invalid encoding'],
    [
      'POST',
      'application/json',
      '{"__proto__": {}}',
      'Malformed JSON syntax: Missing commas/brackets or invalid encoding',
    ],
    ['POST', 'application/json', '"a"', 'Invalid request payload: expected object, got str'],
    ['POST', 'application/json', '[1]', 'Invalid request payload: expected object, got list'],
  ])('refuse the body of %s %s %s', async (method, type, body, message) => {
    const { url } = await startDatasets();
    const headers = { authorization: 'Bearer one-of-acme-long-key', 'content-type': type };
    const answer = await fetch(`${url}/api/v1/datasets`, { method, headers, ...(body !== '' && { body }) });
    expect([answer.status, await answer.json()]).toEqual([200, { code: 101, message, data: false }]);
  });

  it.each([{}, { authorization: 'Bearer wrong' }])('need a key: %j', async (headers) => {
    const { call } = await startDatasets();
    const { status, body } = await call('GET', '/api/v1/datasets', undefined, headers);
    expect([status, body]).toEqual([401, { code: 401, message: "<Unauthorized '401: Unauthorized'>", data: null }]);
  });

  it('are changed by what is given alone', async () => {
    const { ask, dataset } = await startDatasets();
    const id = await dataset('one', { description: 'x', parser_config: { chunk_token_num: 64 } });
    expect(await ask('PUT', `/datasets/${id}`, {})).toEqual({ code: 102, message: 'no properties were modified' });
    const { data } = await ask('PUT', `/datasets/${id}`, {
      description: null,
      pagerank: 50,
      parser_config: { raptor: { max_token: 600 } },
    });
    expect(data).toMatchObject({
      name: 'one',
      description: null,
      pagerank: 50,
      connectors: [],
      parser_config: { chunk_token_num: 64, raptor: { use_raptor: false, max_token: 600 } },
    });
    const other = await ask('PUT', `/datasets/${id}`, { chunk_method: 'qa' });
    expect(other.data.parser_config).toEqual({
      raptor: { use_raptor: false },
      graphrag: { use_graphrag: false },
      image_context_size: 0,
      table_context_size: 0,
    });
  });

  it.each([
    ['POST', '/datasets//documents/parse'],
    ['DELETE', '/datasets//chunks'],
    ['POST', '/chats//sessions'],
    ['PATCH', '/chats/a/sessions/'],
  ])('are not changed by a path with an empty id, as in RAGFlow: %s %s', async (method, path) => {
    const { ask } = await startDatasets();
    const message = "<MethodNotAllowed '405: Method Not Allowed'>";
    expect(await ask(method, path, {})).toEqual({ code: 100, data: null, message });
  });

  it('say why they are not changed', async () => {
    const { ask, dataset } = await startDatasets();
    const [id] = [await dataset('one'), await dataset('two')];
    const messages = async (path: string, body: object) => {
      const { code, message } = await ask('PUT', path, body);
      return [code, message];
    };
    expect(await messages(`/datasets/${id}`, { name: 'TWO' })).toEqual([102, "Dataset name 'TWO' already exists"]);
    expect(await messages('/datasets/not_uuid', { name: 'x' })).toEqual([
      101,
      line('dataset_id', 'Invalid UUID format', 'not_uuid'),
    ]);
    expect(await messages(`/datasets/${NONE}`, { name: 'x' })).toEqual([
      102,
      `User 'acme' lacks permission for dataset '${NONE}'`,
    ]);
    expect(await messages(`/datasets/${id}`, { embedding_model: 'm@P' })).toEqual([
      102,
      'Provider P not found for model m@P.',
    ]);
    expect(await messages(`/datasets/${id}`, { connectors: [{ id: 'x' }] })).toEqual([
      102,
      expect.stringContaining('no connectors'),
    ]);
  });

  it('are listed in pages, by name and by id', async () => {
    const { ask, dataset } = await startDatasets();
    const ids = [];
    for (const name of ['a', 'b', 'c']) ids.push(await dataset(name));
    const page = await ask('GET', '/datasets?page=2&page_size=2&desc=false&orderby=create_time');
    expect([page.data.map(({ name }: { name: string }) => name), page.total_datasets]).toEqual([['c'], 3]);
    expect((await ask('GET', `/datasets?id=${ids[1]}`)).data).toHaveLength(1);
    expect((await ask('GET', `/datasets?ids=${ids[1]},${ids[2]}`)).data).toHaveLength(2);
    expect((await ask('GET', '/datasets?name=b')).data[0].id).toBe(ids[1]);
    expect((await ask('GET', `/datasets?id=${ids[0]}&name=b`)).data).toEqual([]);
    expect((await ask('GET', '/datasets?name=')).data).toHaveLength(3);
    const status = { unstart_count: 0, running_count: 0, cancel_count: 0, done_count: 0, fail_count: 0 };
    expect((await ask('GET', '/datasets?include_parsing_status=true')).data[0].parsing_status).toEqual(status);
  });

  it.each([
    ['page=0', 101, line('page', 'Input should be greater than or equal to 1', '0')],
    ['page=a', 101, line('page', 'Input should be a valid integer, unable to parse string as an integer', 'a')],
    ['page_size=101', 101, line('page_size', 'Input should be less than or equal to 100', '101')],
    ['orderby=', 101, line('orderby', "Input should be 'create_time' or 'update_time'", '')],
    ['orderby=CREATE_TIME', 101, line('orderby', "Input should be 'create_time' or 'update_time'", 'CREATE_TIME')],
    ['desc=3.14', 101, line('desc', 'Input should be a valid boolean, unable to interpret input', '3.14')],
    ['id=', 101, line('id', 'Invalid UUID format', '')],
    ['id=x', 101, line('id', 'Invalid UUID format', 'x')],
    ['x=y', 101, line('x', 'Extra inputs are not permitted', 'y')],
    ['name=none', 102, "User 'acme' lacks permission for dataset 'none'"],
    [`id=${NONE}`, 102, `User 'acme' lacks permission for dataset '${NONE}'`],
  ])('are not listed by %s', async (query, code, message) => {
    const { ask } = await startDatasets();
    expect(await ask('GET', `/datasets?${query}`)).toMatchObject({ code, message });
  });

  it('are deleted, all or none of those that are named', async () => {
    const { ask, dataset } = await startDatasets();
    const ids = [await dataset('a'), await dataset('b'), await dataset('c')];
    const asks = async (body: object) => {
      const { code, message, data } = await ask('DELETE', '/datasets', body);
      return [code, code === 0 ? data : message];
    };
    expect(await asks({ ids: [ids[0], NONE] })).toEqual([102, `User 'acme' lacks permission for datasets: '${NONE}'`]);
    expect(await asks({ ids: [ids[0], ids[0]] })).toEqual([
      101,
      expect.stringContaining(`Message: <Duplicate ids: '${ids[0]}'>`),
    ]);
    expect(await asks({ ids: ['x'] })).toEqual([101, expect.stringContaining('Invalid UUID format')]);
    expect(await asks({ ids: [] })).toEqual([0, { success_count: 0 }]);
    expect(await asks({ ids: null })).toEqual([0, { success_count: 0 }]);
    expect(await asks({ ids: [ids[0]] })).toEqual([0, { success_count: 1 }]);
    expect(await asks({ delete_all: true })).toEqual([0, { success_count: 2 }]);
    expect((await ask('GET', '/datasets')).data).toEqual([]);
  });

  it('of one tenant are nothing to another', async () => {
    const { ask, dataset } = await startDatasets();
    const id = await dataset('mine');
    expect((await ask('GET', '/datasets', undefined, OTHER)).data).toEqual([]);
    expect(await ask('GET', '/datasets?name=mine', undefined, OTHER)).toMatchObject({ code: 102 });
    await ask('DELETE', '/datasets', { delete_all: true }, OTHER);
    expect(await ask('GET', `/datasets/metadata/flattened?dataset_ids=${id}`, undefined, OTHER)).toMatchObject({
      code: 102,
    });
    expect((await ask('GET', `/datasets/${id}`)).data).toMatchObject({ id, name: 'mine' });
  });

  it('keep which metadata their documents are to have', async () => {
    const { ask, dataset } = await startDatasets();
    const path = `/datasets/${await dataset()}/metadata/config`;
    expect((await ask('GET', path)).data).toEqual({ metadata: [], built_in_metadata: [] });
    const metadata = [{ key: 'tags', type: 'list', enum: ['a'] }];
    const filled = { metadata: [{ ...metadata[0], description: null }], built_in_metadata: [] };
    expect((await ask('PUT', path, { metadata })).data).toEqual(filled);
    expect((await ask('GET', path)).data).toEqual(filled);
    const { code, message } = await ask('PUT', path, { metadata: [{ key: 'a', type: 'x' }] });
    expect([code, message]).toEqual([
      101,
      line('metadata.0.type', "Input should be 'string', 'list', 'time' or 'number'", 'x'),
    ]);
  });

  it('have no graph before one is built, and no summaries and mind maps', async () => {
    const { ask, dataset } = await startDatasets();
    const path = `/datasets/${await dataset()}`;
    expect((await ask('GET', `${path}/graph`)).data).toEqual({ graph: {}, mind_map: {} });
    expect((await ask('GET', `${path}/knowledge_graph`)).data).toEqual({ graph: {}, mind_map: {} });
    expect((await ask('GET', `${path}/trace_graphrag`)).data).toEqual({});
    expect(await ask('POST', `${path}/index?type=raptor`)).toMatchObject({ code: 102 });
    expect(await ask('POST', `${path}/run_raptor`)).toMatchObject({ code: 102 });
    expect(await ask('GET', `${path}/index?type=graph`)).toMatchObject({ code: 0, data: {} });
    expect(await ask('GET', `${path}/index?type=x`)).toMatchObject({ code: 101 });
    expect(await ask('DELETE', `${path}/graph`)).toMatchObject({ code: 0, data: true });
    expect(await ask('DELETE', `${path}/x`)).toMatchObject({ code: 101, message: "Invalid index type 'x'" });
  });
});
