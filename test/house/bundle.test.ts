import child from 'node:child_process';
import { once } from 'node:events';
import { Agent, createServer as createHttpServer, IncomingMessage, Server } from 'node:http';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { lateModule } from '../../scripts/bundle.js';
import { passingQueries } from '../../scripts/passing-queries.js';

/** What the bundled command line imports in the place of a part of Node. */
function late<T>(name: string): Promise<T> {
  const text = `import { createRequire } from 'node:module';
const require = createRequire(${JSON.stringify(import.meta.url)});
${lateModule(name)}`;
  return import(/* @vite-ignore */ `data:text/javascript,${encodeURIComponent(text)}`);
}

it('a late class makes instances of the original, knows them and can be extended', async () => {
  const http = await late<typeof import('node:http')>('node:http');
  class Own extends http.Agent {
    readonly isOwn = true;
  }
  const own = new Own({ keepAlive: true });

  expect([
    new http.Agent() instanceof Agent,
    own instanceof Agent,
    own.isOwn,
    Reflect.get(own, 'options').keepAlive,
  ]).toEqual([true, true, true, true]);
  expect(createHttpServer() instanceof http.Server).toBe(true);
  expect({} instanceof http.Server).toBe(false);
  expect(http.IncomingMessage.prototype).toBe(IncomingMessage.prototype);
});

it('a late function takes every form of arguments, and has the members of the original', async () => {
  const http = await late<typeof import('node:http')>('node:http');
  const processes = await late<typeof child>('node:child_process');
  const server = http.createServer((_, response) => response.end('hi'));
  expect(server).toBeInstanceOf(Server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const url = `http://127.0.0.1:${port}/`;
  const forms = [http.get(url), http.get(new URL(url), {}), http.get({ port, host: '127.0.0.1' })];
  const answers = await Promise.all(forms.map(async (request) => (await once(request, 'response'))[0]));
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200]);
  for (const answer of answers) answer.resume();
  server.close();

  expect(Reflect.get(processes.exec, promisify.custom)).toBe(Reflect.get(child.exec, promisify.custom));
  expect(await promisify(processes.execFile)(process.execPath, ['-p', '1'])).toEqual({ stdout: '1\n', stderr: '' });
});

it('queries of postgres.js are as young as what else a statement makes', async () => {
  const url = `data:text/javascript;base64,${Buffer.from(passingQueries()).toString('base64')}`;
  const code = `import { Query } from '${url}';
    const query = new Query(['select 1'], [], () => {}, () => {});
    console.log(%InYoungGeneration(query.resolve), %InYoungGeneration(query.reject));`;
  const flags = ['--allow-natives-syntax', '--input-type=module', '-e', code];
  expect((await promisify(child.execFile)(process.execPath, flags)).stdout).toBe('true true\n');
});

it('queries that are made in another way are not bundled', () => {
  expect(() => passingQueries('export class Query {}')).toThrow('in another way');
});
