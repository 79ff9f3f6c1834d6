import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse, stringify } from 'yaml';
import { projectRoot } from '../../../src/config/project-root.js';
import { scrape, type Scrape } from '../../support/readers/exposition.js';
import { until } from '../../support/service/processes.js';
import { demoDatabase } from '../../support/service/database.js';
import { startService, type Service } from '../../support/service/service.js';

type Rule = {
  record?: string;
  alert?: string;
  expr: string;
  labels?: { severity: string };
  annotations?: { summary: string; runbook: string };
};
type RuleTest = {
  alert_rule_test: { alertname: string; exp_alerts: object[] }[];
};
type Panel = { type: string; targets?: { expr: string }[] };

const folder = join(projectRoot, 'deploy', 'prometheus');
const { groups } = parse(readFileSync(join(folder, 'alerts.yaml'), 'utf8')) as {
  groups: { rules: Rule[] }[];
};
const rules = groups.flatMap((group) => group.rules);
const alerts = rules.filter(({ alert }) => alert !== undefined);
const recorded = new Set(rules.flatMap(({ record }) => record ?? []));
const testFiles = readdirSync(folder).filter((name) => name.endsWith('.test.yaml'));
const tests = testFiles.flatMap(
  (name) => (parse(readFileSync(join(folder, name), 'utf8')) as { tests: RuleTest[] }).tests,
);
const dashboard = JSON.parse(
  readFileSync(join(projectRoot, 'deploy', 'grafana', 'crossdock.json'), 'utf8'),
) as {
  panels: Panel[];
};
const shown = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

let service: Service;
let scraped: Scrape;

beforeAll(async () => {
  const database = await demoDatabase();
  // Its metrics exist while the replica serves nothing.
  const replica = { url: database.ownerUrl, maxLagMs: 0, onChange: () => undefined };
  service = await startService({ worker: true, database, replica, env: { METRICS_PORT: '0' } });
  await service.owner.query(
    `insert into installation.background_migrations (name, rows_total) values ('m', 1)`,
  );
  await service.call('getHealth');
  await until(async () => {
    scraped = await scrape(service.metrics?.port ?? 0);
    return ['crossdock_queue_jobs', 'crossdock_background_migration_finished'].every((name) =>
      scraped.series.some((series) => series.name === name),
    );
  });
});

afterAll(() => service.stop());

/** Returns the names of the metrics in an expression, and the labels and values that it selects of each. */
function selectorsOf(expr: string): { name: string; labels: string[] }[] {
  return [...expr.matchAll(/\b((?:crossdock|process|nodejs)[a-z0-9_:]*)(?:\{([^}]*)\})?/g)]
    .filter(([, name]) => name !== undefined && /_|:/.test(name))
    .map(([, name = '', labels = '']) => ({
      name,
      labels: [...labels.matchAll(/(\w+) *=/g)].map(([, label = '']) => label),
    }));
}

/** Prometheus adds these labels to every series. */
const OF_PROMETHEUS = ['job', 'instance'];

describe.each([
  ['the rules', () => rules.map(({ expr }) => expr)],
  ['the dashboard', () => shown],
])('%s', (_name, expressions) => {
  test('select only metrics and labels that a process exports, or that a rule records', () => {
    const selectors = expressions().flatMap(selectorsOf);
    expect(selectors.length).toBeGreaterThan(20);
    const unknown = selectors.filter(({ name, labels }) => {
      if (recorded.has(name)) return labels.length > 0;
      const series = scraped.series.find((each) => each.name === name);
      // A histogram with labels has no series before its first value.
      if (!series) return labels.length > 0 || !scraped.types.has(name.replace(/_(bucket|count|sum)$/, ''));
      return labels.some((label) => !OF_PROMETHEUS.includes(label) && !(label in series.labels));
    });
    expect(unknown).toEqual([]);
  });
});

test('the objectives use buckets that the histograms have', () => {
  const bounds = rules.flatMap(({ expr }) =>
    [...expr.matchAll(/(\w+_bucket)\{[^}]*le="([^"]+)"/g)].map(([, name, le]) => `${name} ${le}`),
  );
  expect(new Set(bounds).size).toBe(2);
  const exported = scraped.series
    .filter(({ name }) => name.endsWith('_bucket'))
    .map(({ name, labels }) => `${name} ${labels['le']}`);
  expect(exported).toEqual(expect.arrayContaining(bounds));
});

test('the dashboard shows every metric of the service', () => {
  const used = new Set(
    shown.flatMap(selectorsOf).map(({ name }) => name.replace(/_(bucket|count|sum)$/, '')),
  );
  const own = [...scraped.types.keys()].filter((name) => name.startsWith('crossdock_'));
  expect(own.filter((name) => !used.has(name))).toEqual([]);
});

test('every alert has a severity, and an entry in docs/operations.md with its name', () => {
  const text = readFileSync(join(projectRoot, 'docs', 'operations.md'), 'utf8');
  const entries = [...text.matchAll(/^#### (\w+)$/gm)].map(([, name]) => name);
  expect(entries.sort()).toEqual(alerts.map(({ alert }) => alert).sort());
  for (const { alert, labels, annotations } of alerts) {
    expect(['page', 'ticket', 'info']).toContain(labels?.severity);
    expect(annotations?.runbook).toBe(`docs/operations.md#${alert?.toLowerCase()}`);
  }
});

test('every alert has a test in which it fires, and one in which it stays silent', () => {
  const cases = tests.flatMap((each) => each.alert_rule_test);
  const named = (isFiring: boolean) =>
    [
      ...new Set(
        cases
          .filter(({ exp_alerts }) => exp_alerts.length > 0 === isFiring)
          .map(({ alertname }) => alertname),
      ),
    ].sort();
  const all = alerts.map(({ alert }) => alert).sort();
  expect(named(true)).toEqual(all);
  expect(named(false)).toEqual(all);
});

describe('promtool', () => {
  const isInstalled = spawnSync('promtool', ['--version']).status === 0;
  const withPromtool = isInstalled ? test : test.skip;
  if (!isInstalled)
    process.stderr.write('Skipped: promtool is not installed (apt-get install prometheus).\n');

  const promtool = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' });
    return status === 0 ? '' : stdout + stderr;
  };

  withPromtool('accepts the rules, and the expressions of the dashboard', () => {
    expect(promtool('check', 'rules', join(folder, 'alerts.yaml'))).toBe('');
    const own = mkdtempSync(join(tmpdir(), 'crossdock-rules-'));
    try {
      const rulesOfPanels = shown.map((expr, n) => ({
        record: `panel:${n}`,
        expr: expr.replaceAll('$__rate_interval', '5m'),
      }));
      writeFileSync(
        join(own, 'rules.yaml'),
        stringify({ groups: [{ name: 'panels', rules: rulesOfPanels }] }),
      );
      expect(promtool('check', 'rules', join(own, 'rules.yaml'))).toBe('');
    } finally {
      rmSync(own, { recursive: true });
    }
  });

  withPromtool(
    'every alert fires when it should, and not otherwise',
    () => expect(promtool('test', 'rules', ...testFiles.map((name) => join(folder, name)))).toBe(''),
    120_000,
  );
});
