import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Parley } from '../support/parley.ts';
import { parleyServe } from '../support/parley.ts';
import { scratchFolder } from '../support/scratch.ts';
import type { SdkVersion } from '../support/sdk-server.ts';
import { sdkExpress } from '../support/sdk-server.ts';
import { PATIENTS } from './doctor-cases.ts';
import { jsonOf, run } from './run.ts';

interface Diagnosis {
  readonly healthy: boolean;
  readonly findings: readonly { readonly id: string; readonly level: string; readonly what: string; readonly fix?: string }[];
}

describe('parley doctor', () => {
  it('has more than twenty diagnoses with unique names', () => {
    const names = PATIENTS.map(({ diagnosis }) => diagnosis);
    expect(new Set(names).size).toBe(names.length);
    expect(names.length).toBeGreaterThan(20);
  });

  for (const { name, diagnosis, exit, advice, open, args = [] } of PATIENTS) {
    it(`${name}: ${diagnosis}`, async () => {
      const server = await open();
      const ran = await run(['doctor', server.url, '--json', ...args]);
      const { healthy, findings } = jsonOf<Diagnosis>(ran);
      const first = findings.find(({ level }) => level === 'error');
      expect([first?.id, ran.code, healthy], JSON.stringify(findings)).toEqual([diagnosis, exit, false]);
      expect(first?.fix).toMatch(advice);
      await server.close();
    });
  }
});

describe('parley doctor with healthy agents', () => {
  let node: Parley;
  beforeAll(async () => {
    node = await parleyServe({ args: ['script', '--memory'] });
  });
  afterAll(() => node.stop());

  it('finds no problem with our own server, also with a message', async () => {
    const { code, out } = await run(['doctor', node.url, '--say', 'hello']);
    expect([code, out]).toEqual([0, expect.stringMatching(/^ok: [\s\S]*it streams, \d+ events\nhealthy\n$/)]);
  });

  it.each(['1.3.0', '0.3.13', '0.2.5'] satisfies SdkVersion[])('finds nothing wrong with the official server of %s', async (version) => {
    const sdk = await sdkExpress(version);
    const ran = await run(['doctor', sdk.url, '--say', 'hello', '--json']);
    expect(jsonOf<Diagnosis>(ran).findings.filter(({ level }) => level === 'error')).toEqual([]);
    expect(ran.code).toBe(0);
    await sdk.close();
  });

  it('names the SDKs that can’t read the card, until it has the form for them', async () => {
    const folder = scratchFolder();
    const locked = await parleyServe({ args: ['script', '--memory', '--require-auth', '--auth-folder', folder] });
    const noted = async (form: string): Promise<readonly string[]> => {
      const ran = await run(['doctor', `${locked.url}/.well-known/agent-card.json?card=${form}`, '--json']);
      return jsonOf<Diagnosis>(ran).findings.flatMap(({ id }) => (/^card-(?:go|java)/.test(id) ? [id] : []));
    };
    expect(await noted('superset')).toEqual(['card-go', 'card-java-alpha']);
    expect(await noted('strict')).toEqual(['card-go']);
    expect(await noted('scope-lists')).toEqual(['card-java-alpha']);
    await locked.stop();
  });

  it('rejects an invalid address', async () => {
    const { code, err } = await run(['doctor', 'ftp://agent.example']);
    expect([code, err]).toEqual([2, expect.stringContaining('http')]);
  });
});
