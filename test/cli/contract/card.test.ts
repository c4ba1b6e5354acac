import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { AgentCard } from '#protocol';
import { signCard } from '#protocol';
import { generateSigningKey, joseSigner, publicKeys } from '../../../src/protocol/adapters/jose.ts';
import { CARD } from '../../support/card.ts';
import type { Parley } from '../../support/parley.ts';
import { parleyServe } from '../../support/parley.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { fakeAgent } from '../fake-agent.ts';
import { fieldOf, jsonOf, run } from '../run.ts';
import { verifies } from './requirements.ts';

let node: Parley;
const folder = scratchFolder();
beforeAll(async () => {
  node = await parleyServe({ args: ['script', 'echo', '--memory'] });
});
afterAll(() => node.stop());

describe('card get', () => {
  verifies('A2ACLI_CARD_GET_001', 'finds the same card by host, full URL and file', async () => {
    const host = new URL(node.url).host;
    const full = `${node.url}/.well-known/agent-card.json`;
    const served = (await (await fetch(full, { headers: { 'A2A-Version': '1.0' } })).json()) as AgentCard;
    const file = join(folder, 'card.json');
    writeFileSync(file, JSON.stringify(served));
    for (const ref of [host, node.url, full, pathToFileURL(file).href, file]) {
      const got = await run(['card', 'get', '-a', ref, '-o', 'json']);
      expect([got.code, jsonOf(got)], ref).toEqual([0, served]);
    }
    const text = await run(['card', 'get', host]);
    for (const label of ['Agent', 'Version', 'Interface', 'Capabilities', 'Skill', 'Signature']) expect(fieldOf(text, label)).toMatch(/\S/);
    expect(fieldOf(await run(['send', '-a', file, 'hello']), 'State')).toBe('COMPLETED');
    expect((await run(['card', 'skills', host])).out).toMatch(/^Skill: script\nName: /);
    expect(jsonOf(await run(['card', 'skills', host, '-o', 'json']))).toMatchObject([{ id: 'script' }]);
  });

  verifies('A2ACLI_CARD_GET_002', 'lists each mistake with --validate', async () => {
    expect((await run(['card', 'get', node.url, '--validate'])).code).toBe(0);
    const { version: _, ...bad } = { ...CARD, skills: [{ id: 'x', name: 'x', description: 'x' }], capabilities: { streaming: 'yes' } };
    const file = join(folder, 'bad.json');
    writeFileSync(file, JSON.stringify(bad));
    const lenient = await run(['card', 'get', file, '--validate', '-o', 'json']);
    expect([lenient.code, jsonOf(lenient)]).toMatchObject([1, { error: { code: 'A2ACLI_ERR_CARD_INVALID' } }]);
    for (const mistake of ['version is missing', 'skills[0].tags is missing', 'capabilities.streaming must be true or false'])
      expect(lenient.out).toContain(mistake);
  });

  verifies('A2ACLI_CARD_GET_003', 'gets the extended card by a declared scheme, and only if the card declares one', async () => {
    const bearer = { securitySchemes: { token: { httpAuthSecurityScheme: { scheme: 'Bearer' } } } };
    const agent = await fakeAgent({
      card: bearer,
      on: { GetExtendedAgentCard: () => ({ result: { ...CARD, name: 'Echo for friends' } }) },
    });
    const got = await run(['card', 'get', agent.url, '--extended', '--bearer', 'tok-12345', '-o', 'json']);
    expect(jsonOf(got)).toMatchObject({ name: 'Echo for friends' });
    expect(agent.calls('GetExtendedAgentCard')[0]?.headers.authorization).toBe('Bearer tok-12345');
    await agent.close();
    const none = await fakeAgent({ card: { capabilities: {} }, on: {} });
    const refused = await run(['card', 'get', none.url, '--extended', '-o', 'json']);
    expect([refused.code, jsonOf(refused)]).toMatchObject([1, { error: { code: 'PARLEY_ERR_NOT_DECLARED', a2aCode: null } }]);
    expect(none.requests.filter(({ rpc }) => rpc !== undefined)).toHaveLength(0);
    await none.close();
  });

  verifies('A2ACLI_CARD_GET_004', 'distinguishes verified, unverifiable and absent signatures, and fails for none', async () => {
    const key = await generateSigningKey();
    const [jwks, other] = [join(folder, 'jwks.json'), join(folder, 'other.json')];
    writeFileSync(jwks, JSON.stringify(publicKeys([key])));
    writeFileSync(other, JSON.stringify(publicKeys([await generateSigningKey()])));
    const signed = join(folder, 'signed.json');
    writeFileSync(signed, JSON.stringify(await signCard(CARD, joseSigner({ key }))));
    const forged = join(folder, 'forged.json');
    writeFileSync(forged, JSON.stringify({ ...(await signCard(CARD, joseSigner({ key }))), name: 'Mallory' }));
    const outcomes = [
      [signed, jwks, /^verified /],
      [signed, other, /^unverifiable \(unknown-key\)/],
      [forged, jwks, /^unverifiable \(mismatch\)/],
    ] as const;
    for (const [card, keys, outcome] of outcomes) {
      const got = await run(['card', 'get', card, '--jwks', keys]);
      expect([got.code, fieldOf(got, 'Signature')]).toEqual([0, expect.stringMatching(outcome)]);
    }
    const absent = await run(['card', 'get', node.url, '-o', 'json']);
    expect([absent.code, absent.err]).toEqual([0, expect.stringContaining('signature: absent')]);
  });

  verifies('A2ACLI_CARD_GET_005', 'accepts a catalog entry in place of a card', async () => {
    const catalog = `${node.url}/.well-known/ai-catalog.json`;
    expect(fieldOf(await run(['card', 'get', `${catalog}#echo`]), 'Agent')).toBe('echo');
    expect(fieldOf(await run(['send', '-a', `${catalog}#script`, 'hello']), 'State')).toBe('COMPLETED');
    const open = await run(['card', 'get', catalog, '-o', 'json']);
    expect([open.code, jsonOf(open)]).toMatchObject([
      3,
      { error: { code: 'A2ACLI_ERR_CARD_NOT_FOUND', hint: expect.stringContaining('#script') } },
    ]);
    const typo = await run(['card', 'get', `${catalog}#ecko`]);
    expect(typo.err).toContain('did you mean echo?');
    const entry = join(folder, 'entry.json');
    writeFileSync(entry, JSON.stringify({ identifier: 'urn:air:x:a', type: 'application/a2a-agent-card+json', data: CARD }));
    expect(fieldOf(await run(['card', 'get', entry]), 'Agent')).toBe('Echo');
  });
});
