import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { startServer } from '../transport/support/server.js';

const FOLDER = new URL('../../deploy/telemetry/', import.meta.url);

interface Dashboard {
  readonly uid: string;
  readonly panels: readonly {
    readonly id: number;
    readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
    readonly targets: readonly { readonly expr: string; readonly datasource: { readonly uid: string } }[];
  }[];
}

const read = (file: string): Promise<string> => readFile(new URL(file, FOLDER), 'utf8');
const dashboard = async (): Promise<Dashboard> => JSON.parse(await read('grafana/dashboards/runnel.json'));

/** Names in a query, as the families are called. */
const metricsIn = (expr: string): string[] =>
  (expr.match(/\b(?:ragflow|runnel|process)_[a-z_]+/g) ?? []).map((name) => name.replace(/_(?:bucket|count|sum)$/, ''));

it('the dashboard asks only for metrics that a server has, and for every one of them', async () => {
  const { url } = await startServer();
  const text = await (await fetch(`${url}/metrics`)).text();
  const served = [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name);
  const { panels } = await dashboard();
  const asked = panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => metricsIn(expr)));
  expect(new Set(asked)).toEqual(new Set(served));
});

it('its labels are those that the metrics have', async () => {
  const labels = new Set([
    'outcome',
    'le',
    'type',
    'model',
    'kind',
    'state',
    'tool',
    'quantile',
    'queue',
    'instance',
    'quota',
    'stage',
    'status',
    'target',
    'verdict',
    'where',
    'limit',
    'per',
    'of',
  ]);
  const { panels } = await dashboard();
  for (const { expr } of panels.flatMap(({ targets }) => targets)) {
    for (const [, names = ''] of expr.matchAll(/by \(([^)]*)\)/g)) {
      for (const name of names.split(',')) expect(labels, expr).toContain(name.trim());
    }
  }
});

it('its panels have numbers of their own and do not overlap', async () => {
  const { panels } = await dashboard();
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, at) => `${x + (at % w)}/${y + Math.floor(at / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
  expect(Math.max(...panels.map(({ gridPos }) => gridPos.x + gridPos.w))).toBeLessThanOrEqual(24);
});

it('its data sources are provisioned, and everything listens on this machine only', async () => {
  const { panels } = await dashboard();
  const sources = await read('grafana/provisioning/datasources/datasources.yaml');
  for (const { datasource } of panels.flatMap(({ targets }) => targets)) {
    expect(sources).toContain(`uid: ${datasource.uid}`);
  }
  const ports = (await read('compose.yaml')).match(/ports: \[.*\]/g) ?? [];
  expect(ports).toHaveLength(4);
  for (const port of ports) expect(port).toMatch(/\["127\.0\.0\.1:\d+:\d+"\]/);
});
