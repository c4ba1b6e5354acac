import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Outcome, Report } from './report.ts';
import { evidenceOf, problemsOf, reportMarkdown, reportOf, reportYaml } from './report.ts';
import { REQUIREMENTS } from './requirements.ts';

const FOLDER = new URL('./', import.meta.url);
const DOCS = new URL('../../../docs/', import.meta.url);
const about = { version: '0.1.0', date: '2026-11-15', repository: 'https://git.example/parley', maintainer: 'us' };
const all: readonly Outcome[] = REQUIREMENTS.flatMap(({ id }) => [
  { title: `${id}: works`, passed: true },
  { title: `${id} (negative): refuses`, passed: true },
]);

describe('the conformance report', () => {
  it('claims the highest tier whose requirements all pass', () => {
    expect(reportOf(all, about).report.tier_claimed).toBe(3);
    expect(
      reportOf(
        all.filter(({ title }) => !title.includes('PUSH_001')),
        about,
      ).report.tier_claimed,
    ).toBe(1);
    expect(reportOf([], about).report.tier_claimed).toBe(0);
    const onlyPositive = all.filter(({ title }) => title !== 'A2ACLI_SEND_001 (negative): refuses');
    expect(reportOf(onlyPositive, about)).toMatchObject({
      report: { tier_claimed: 0 },
      requirements: { A2ACLI_SEND_001: { status: 'not_measured', note: 'It has no negative case.' } },
    });
    const failing = all.map((outcome) => (outcome.title.includes('SEND_001') ? { ...outcome, passed: false } : outcome));
    expect(reportOf(failing, about).requirements['A2ACLI_SEND_001']).toMatchObject({
      status: 'fail',
      note: expect.stringContaining('SEND_001'),
    });
    expect(reportOf([...all, { title: 'A2ACLI_SEND_001: not this', passed: false }], about)).toMatchObject({
      report: { tier_claimed: 0 },
      requirements: { A2ACLI_SEND_001: { status: 'partial' } },
    });
  });

  it('has problems if it differs from its rows', () => {
    const good = reportOf(all, about);
    expect(problemsOf(good)).toEqual([]);
    const without = reportOf(
      all.filter(({ title }) => !title.includes('TX_005')),
      about,
    );
    expect(problemsOf({ ...without, report: { ...without.report, tier_claimed: 3 } })).toContain('tier 3 is claimed');
    const { A2ACLI_OUT_001: _, ...rows } = good.requirements;
    expect(problemsOf({ ...good, requirements: rows })).toContain('A2ACLI_OUT_001 is missing');
    const { repository: _repository, ...anonymous } = good.report;
    expect(problemsOf({ ...good, report: anonymous })).toContain('repository is missing');
    expect(problemsOf({ ...good, default_001_breakdown: {} })).toContain('DEFAULT_001 passes without its six rows');
  });

  it('in docs/ is valid and matches these tests', () => {
    const published = parse(readFileSync(new URL('cli-conformance.yaml', DOCS), 'utf8')) as Report;
    expect(problemsOf(published)).toEqual([]);
    expect(reportYaml(published)).toBe(readFileSync(new URL('cli-conformance.yaml', DOCS), 'utf8'));
    expect(reportMarkdown(published)).toBe(readFileSync(new URL('cli-conformance.md', DOCS), 'utf8'));
    const sources = readdirSync(FOLDER)
      .filter((name) => name.endsWith('.test.ts'))
      .map((name) => readFileSync(new URL(name, FOLDER), 'utf8'));
    for (const { id, text, clause } of REQUIREMENTS) {
      const cases = (kind: string): number => [...sources.join('\n').matchAll(new RegExp(`${kind}\\(\\s*'${id}'`, 'g'))].length;
      const row = published.requirements[id];
      expect([row?.requirement, row?.spec, row?.evidence], id).toEqual([text, clause, evidenceOf(cases('verifies'), cases('excludes'))]);
    }
  });
});
