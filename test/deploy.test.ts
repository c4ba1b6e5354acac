import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { METRIC_LIST, SETTINGS } from '#server';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string): string => readFileSync(`${ROOT}${path}`, 'utf8');
const isThere = (program: string): boolean => spawnSync(program, ['--version']).error === undefined;

/** The names that a query may use: `up` is Prometheus' own, and a histogram has three series. */
const known = new Set([
  'up',
  ...METRIC_LIST.flatMap(({ name, type }) => (type === 'histogram' ? ['_bucket', '_sum', '_count'].map((end) => name + end) : [name])),
]);
const namesIn = (query: string): readonly string[] => query.match(/\b(?:parley|process)_\w+|\bup\b/g) ?? [];
/** `{label="value"}` and `by (label)`. */
const labelsIn = (query: string): readonly string[] =>
  [...query.matchAll(/(\w+)(?:=~|!~|!=|=)"|by \(([^)]+)\)/g)].flatMap(([, one, many]) => one ?? (many ?? '').split(', '));

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: { readonly summary: string; readonly runbook: string };
}
const { groups } = parse(read('deploy/prometheus/alerts.yml')) as { groups: readonly { readonly rules: readonly Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);
const dashboard = JSON.parse(read('deploy/grafana/parley.json')) as {
  readonly panels: readonly { readonly title: string; readonly targets: readonly { readonly expr: string }[] }[];
};
const queries = [
  ...rules.map(({ alert, expr }) => [alert, expr] as const),
  ...dashboard.panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const)),
];

describe('alerts and dashboard', () => {
  it.each(queries)('use metrics and labels that exist: %s', (_, query) => {
    expect(namesIn(query).length).toBeGreaterThan(0);
    for (const name of namesIn(query)) expect([...known], name).toContain(name);
    const labels = new Set(['le', 'job', ...METRIC_LIST.flatMap((metric) => metric.labels ?? [])]);
    for (const label of labelsIn(query)) expect([...labels], label).toContain(label);
  });

  it('have a page for each alert, which names it and its query, and no other page', () => {
    for (const { alert, expr, annotations } of rules) {
      const page = read(annotations.runbook);
      expect(page).toContain(`Alert \`${alert}\``);
      expect(page).toContain(`\`${expr}\``);
      expect(page).toContain(`# ${annotations.summary}\n`);
    }
    const pages = readdirSync(`${ROOT}docs/runbooks`).map((name) => `docs/runbooks/${name}`);
    expect(pages.sort()).toEqual(rules.map(({ annotations }) => annotations.runbook).sort());
    const guide = read('docs/guides/operate.md');
    for (const page of pages) expect(guide).toContain(page.replace('docs/', '../'));
  });

  it('pass promtool, where it is installed', () => {
    if (!isThere('promtool')) return;
    const checked = spawnSync('promtool', ['check', 'rules', 'deploy/prometheus/alerts.yml'], { cwd: ROOT, encoding: 'utf8' });
    expect(checked.status, checked.stdout + checked.stderr).toBe(0);
  });
});

/** The flags of `parley serve` in an argument list exist. */
function expectFlags(args: readonly string[]): void {
  const flags = new Set(['config', ...SETTINGS.flatMap(({ flag }) => (flag === undefined ? [] : [flag]))]);
  for (const arg of args) if (arg.startsWith('--')) expect([...flags], arg).toContain(arg.slice(2));
}

describe('the unit of systemd', () => {
  const unit = read('deploy/systemd/parley.service');

  it('runs without rights, reloads with SIGHUP and starts with flags that exist', () => {
    for (const line of [
      'User=parley',
      'NoNewPrivileges=yes',
      'ProtectSystem=strict',
      'CapabilityBoundingSet=',
      'ExecReload=/bin/kill -HUP $MAINPID',
    ])
      expect(unit.split('\n')).toContain(line);
    expectFlags(/^ExecStart=(.*)$/m.exec(unit)?.[1]?.split(' ') ?? []);
  });

  it('passes systemd-analyze, where it is installed', () => {
    if (!isThere('systemd-analyze')) return;
    const checked = spawnSync('systemd-analyze', ['verify', 'deploy/systemd/parley.service'], { cwd: ROOT, encoding: 'utf8' });
    // Faults of the file have a line number. Others are about the machine.
    expect(checked.stderr.split('\n').filter((line) => /parley\.service:\d+:/.test(line))).toEqual([]);
  });
});

interface Container {
  readonly args: readonly string[];
  readonly securityContext: object;
  readonly lifecycle: { readonly preStop: object };
  readonly [probe: string]: unknown;
}

interface PodSet {
  readonly replicas: number;
  readonly template: { readonly spec: { readonly containers: readonly Container[]; readonly securityContext: object } };
}

describe('the manifest of Kubernetes', () => {
  const objects = parseAllDocuments(read('deploy/kubernetes/parley.yaml')).map(
    (document) => document.toJS() as { kind: string; spec: PodSet },
  );

  it('has probes, a preStop, no rights, and flags that exist', () => {
    expect(objects.map(({ kind }) => kind)).toEqual(['Service', 'StatefulSet']);
    const set = objects[1]?.spec;
    const container = set?.template.spec.containers[0];
    expect(set?.replicas).toBe(1);
    expect(set?.template.spec.securityContext).toMatchObject({ runAsNonRoot: true });
    expect(container?.securityContext).toMatchObject({ readOnlyRootFilesystem: true, allowPrivilegeEscalation: false });
    expect(container?.['readinessProbe']).toMatchObject({ httpGet: { path: '/readyz' } });
    expect(container?.['livenessProbe']).toMatchObject({ httpGet: { path: '/healthz' } });
    expect(container?.lifecycle.preStop).toBeDefined();
    expectFlags(container?.args ?? []);
  });
});

describe('the image', () => {
  const file = read('deploy/docker/Dockerfile');

  it('is not run as root, has a health check, and starts with flags that exist', () => {
    const lines = file.split('\n');
    expect(lines.indexOf('USER node')).toBeGreaterThan(lines.findLastIndex((line) => line.startsWith('RUN')));
    expect(file).toContain('HEALTHCHECK');
    expectFlags(JSON.parse(/^CMD (\[.*\])$/m.exec(file)?.[1] ?? '[]') as string[]);
  });

  it('runs on a read-only root in compose', () => {
    const { services } = parse(read('deploy/docker/compose.yaml')) as { services: { parley: { build: { dockerfile: string } } } };
    expect(services.parley).toMatchObject({ read_only: true, cap_drop: ['ALL'] });
    expect(existsSync(`${ROOT}${services.parley.build.dockerfile}`)).toBe(true);
  });
});
