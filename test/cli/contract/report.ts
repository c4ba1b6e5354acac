import { stringify } from 'yaml';
import { areaOf, REQUIREMENTS } from './requirements.ts';

/** One test, by its name: `A2ACLI_SEND_001: …`, or `A2ACLI_SEND_001 (negative): …`. */
export interface Outcome {
  readonly title: string;
  readonly passed: boolean;
}

type Status = 'pass' | 'partial' | 'fail' | 'not_measured' | 'na';

export interface Row {
  readonly tier: number;
  readonly area: string;
  readonly spec: string;
  readonly requirement: string;
  readonly status: Status;
  readonly note: string | null;
  readonly evidence: string;
}

export interface Totals {
  readonly total: number;
  readonly pass: number;
  readonly partial: number;
  readonly fail: number;
  readonly not_measured: number;
  readonly na: number;
  readonly satisfied: boolean;
}

export interface Report {
  readonly report: Readonly<Record<string, unknown>> & { readonly tier_claimed: number };
  readonly summary: Readonly<Record<'tier_1' | 'tier_2' | 'tier_3', Totals>>;
  readonly requirements: Readonly<Record<string, Row>>;
  readonly default_001_breakdown: Readonly<
    Record<string, { readonly shipped: boolean; readonly overridable: boolean; readonly note: string | null }>
  >;
  readonly error_codes: Readonly<Record<string, { readonly emitted: boolean; readonly note: string | null }>>;
  readonly attestation: Readonly<Record<string, string>>;
}

const MARKS: Readonly<Record<Status, string>> = { pass: '✅', partial: '◐', fail: '❌', not_measured: '⊘', na: '—' };

const DEFAULTS = [
  'transport_server_preference_order',
  'task_completion_wait_by_default',
  'output_human_readable_text',
  'detail_level_concise',
  'protocol_version_highest_mutual',
  'transport_security_tls_on',
];
const LOCAL_CODES = ['USAGE', 'CARD_NOT_FOUND', 'CARD_INVALID', 'UNREACHABLE', 'CREDENTIALS_MISSING', 'AUTH_FAILED', 'TIMEOUT', 'INTERNAL'];

export interface ReportedTool {
  readonly version: string;
  readonly date: string;
  readonly repository: string;
  readonly maintainer: string;
}

/** What the tests found, row by row. A requirement passes only if it has a positive and a negative case, and none of its cases failed. */
export function reportOf(outcomes: readonly Outcome[], { version, date, repository, maintainer }: ReportedTool): Report {
  const requirements = Object.fromEntries(
    REQUIREMENTS.map(({ id, tier, clause, text, missing }) => [
      id,
      { tier, area: areaOf(id), spec: clause, requirement: text, ...verdict(id, outcomes, missing) },
    ]),
  );
  const summary = { tier_1: totalsOf(requirements, 1), tier_2: totalsOf(requirements, 2), tier_3: totalsOf(requirements, 3) };
  const claimed = [summary.tier_1, summary.tier_2, summary.tier_3].findIndex(({ satisfied }) => !satisfied);
  const defaults = requirements['A2ACLI_DEFAULT_001']?.status === 'pass';
  const exits = requirements['A2ACLI_EXIT_001']?.status === 'pass';
  return {
    report: {
      tool: 'parley',
      tool_version: version,
      language: 'TypeScript',
      repository,
      maintainer,
      spec_version: '0.2',
      spec_revision: '2026-08-17',
      report_date: date,
      a2a_versions: ['1.0', '0.3', '0.2', '0.1'],
      agent_tested: 'parley serve (script, echo, demo); the official @a2a-js/sdk 1.3.0 server; agents that misbehave on purpose',
      agent_tck_conformant: 'unknown',
      transports_covered: ['JSON-RPC', 'HTTP+JSON', 'gRPC'],
      tier_claimed: claimed === -1 ? 3 : claimed,
    },
    summary,
    requirements,
    default_001_breakdown: Object.fromEntries(DEFAULTS.map((name) => [name, { shipped: defaults, overridable: defaults, note: null }])),
    error_codes: Object.fromEntries(LOCAL_CODES.map((code) => [`A2ACLI_ERR_${code}`, codeRow(code, exits)])),
    attestation: {
      reported_by: 'npm run cli-report',
      date,
      statement: 'Generated from the tests of test/cli/contract, which run the real program against live agents.',
    },
  };
}

function codeRow(code: string, emitted: boolean): { readonly emitted: boolean; readonly note: string | null } {
  return { emitted, note: code === 'INTERNAL' ? 'for unexpected errors; no test can cause one on purpose' : null };
}

function verdict(id: string, outcomes: readonly Outcome[], missing: string | undefined): Pick<Row, 'status' | 'note' | 'evidence'> {
  const positive = outcomes.filter(({ title }) => title.startsWith(`${id}: `));
  const negative = outcomes.filter(({ title }) => title.startsWith(`${id} (negative): `));
  const all = [...positive, ...negative];
  const failed = all.filter(({ passed }) => !passed);
  const evidence = evidenceOf(positive.length, negative.length);
  if (missing !== undefined) return { status: 'fail', note: missing, evidence };
  if (all.length === 0) return { status: 'not_measured', note: 'No test exercises it.', evidence };
  if (failed.length > 0) {
    return { status: failed.length === all.length ? 'fail' : 'partial', note: failed.map(({ title }) => title).join('; '), evidence };
  }
  if (positive.length > 0 && negative.length > 0) return { status: 'pass', note: null, evidence };
  return { status: 'not_measured', note: `It has no ${positive.length === 0 ? 'positive' : 'negative'} case.`, evidence };
}

export function evidenceOf(positive: number, negative: number): string {
  return positive + negative === 0 ? '' : `test/cli/contract: ${positive} positive, ${negative} negative`;
}

function totalsOf(rows: Readonly<Record<string, Row>>, tier: number): Totals {
  const mine = Object.values(rows).filter((row) => row.tier === tier);
  const count = (status: Status): number => mine.filter((row) => row.status === status).length;
  const totals = {
    total: mine.length,
    pass: count('pass'),
    partial: count('partial'),
    fail: count('fail'),
    not_measured: count('not_measured'),
    na: count('na'),
  };
  return { ...totals, satisfied: mine.length > 0 && totals.pass > 0 && totals.pass + totals.na === mine.length };
}

function problemOf(row: Row | undefined, tier: number): string | undefined {
  if (row === undefined) return 'is missing';
  if (row.tier !== tier) return `is of tier ${tier}`;
  if (!(row.status in MARKS)) return `has the unknown status ${row.status}`;
  if (row.spec === '') return 'names no clause';
  return row.status !== 'pass' && (row.note ?? '') === '' ? `is ${row.status} without a note` : undefined;
}

/** Checks a report by the specification's own rules (A2A CLI specification §12), and returns the problems. */
export function problemsOf(report: Report): readonly string[] {
  const { requirements, summary, default_001_breakdown: defaults } = report;
  const problems: string[] = [];
  for (const { id, tier } of REQUIREMENTS) {
    const problem = problemOf(requirements[id], tier);
    if (problem !== undefined) problems.push(`${id} ${problem}`);
  }
  for (const tier of [1, 2, 3] as const) {
    const said = summary[`tier_${tier}`];
    if (JSON.stringify(said) !== JSON.stringify(totalsOf(requirements, tier)))
      problems.push(`the summary of tier ${tier} differs from its rows`);
  }
  for (const member of ['repository', 'maintainer']) if ((report.report[member] ?? '') === '') problems.push(`${member} is missing`);
  const allSix = DEFAULTS.every((name) => defaults[name]?.shipped === true && defaults[name].overridable);
  if (requirements['A2ACLI_DEFAULT_001']?.status === 'pass' && !allSix) problems.push('DEFAULT_001 passes without its six rows');
  const open = [summary.tier_1, summary.tier_2, summary.tier_3].findIndex(({ satisfied }) => !satisfied);
  if (report.report.tier_claimed !== (open === -1 ? 3 : open)) problems.push(`tier ${report.report.tier_claimed} is claimed`);
  return problems;
}

export function reportYaml(report: Report): string {
  return `# Generated by npm run cli-report from the tests of test/cli/contract; do not edit.\n${stringify(report, { lineWidth: 0 })}`;
}

/** The requirements that a tier still misses. */
function openIn(requirements: Report['requirements']): readonly string[] {
  const open = Object.entries(requirements).filter(([, { status }]) => status !== 'pass' && status !== 'na');
  if (open.length === 0) return [];
  return [
    '',
    `Open: ${open.map(([id, { tier, requirement, note }]) => `\`${id}\` of tier ${tier}, ${requirement} (${note ?? ''})`).join('; ')}`,
  ];
}

export function reportMarkdown({ report, summary, requirements }: Report): string {
  const tiers = ([1, 2, 3] as const).map((tier) => {
    const { total, pass, na, satisfied } = summary[`tier_${tier}`];
    return `| ${tier} | ${total} | ${pass} | ${na} | ${total - pass - na} | ${satisfied ? 'yes' : 'no'} |`;
  });
  const rows = ([1, 2, 3] as const).flatMap((tier) => [
    '',
    `## Tier ${tier}`,
    '',
    '| | requirement | clause | meaning | evidence |',
    '|---|---|---|---|---|',
    ...Object.entries(requirements)
      .filter(([, row]) => row.tier === tier)
      .map(
        ([id, { status, spec, requirement, note, evidence }]) =>
          `| ${MARKS[status]} | \`${id}\` | ${spec} | ${requirement} | ${[evidence, note ?? ''].filter((text) => text !== '').join('; ')} |`,
      ),
  ]);
  return [
    '# Conformance to the A2A CLI specification',
    '',
    '```sh',
    'parley help send',
    '```',
    '',
    `The command line follows the A2A project's CLI specification v${String(report['spec_version'])}, revision ${String(report['spec_revision'])} (status Review: its rules may still change). Parley ${String(report['tool_version'])} claims **tier ${report.tier_claimed}**`,
    `on ${String(report['report_date'])}. \`npm run cli-report\` generates this page and [cli-conformance.yaml](cli-conformance.yaml) from tests that run the real`,
    `program against live agents: ${String(report['agent_tested'])}. A requirement passes only with a positive and a negative case. [Use the command line](cli.md) describes the commands.`,
    '',
    '| tier | requirements | pass | not applicable | open | satisfied |',
    '|---|---|---|---|---|---|',
    ...tiers,
    ...openIn(requirements),
    ...rows,
    '',
  ].join('\n');
}
