import { describe, expect, it } from 'vitest';
import { countingEnv } from '../../../../test/support/env.ts';
import { card } from './card.ts';

const raw = { name: 'A', url: 'solace:ns/a2a/v1/agent/request/A', version: '1', capabilities: {}, skills: [] };
const read = (document: unknown) => {
  const found = card.read(document, countingEnv());
  if (!found.ok) throw new Error(JSON.stringify(found));
  return found.value;
};

describe("SAM's card", () => {
  it('is recognised by its url', () => {
    expect(card.detect(raw)).toBe('path');
    expect(card.detect({ ...raw, url: 'https://a.example/a2a' })).toBe('no');
    expect(card.detect({ ...raw, url: 1 })).toBe('no');
    expect(card.detect('solace:')).toBe('no');
  });

  it('is read as 0.3 over JSON-RPC by default', () => {
    expect(read(raw).supportedInterfaces).toEqual([{ url: raw.url, protocolBinding: 'JSONRPC', protocolVersion: '0.3' }]);
  });

  it('may repeat the main interface, which is read once', () => {
    const others = [
      { url: raw.url, transport: 'JSONRPC' },
      { url: 'https://a.example/', transport: 'HTTP+JSON' },
    ];
    const found = read({ ...raw, additional_interfaces: others });
    expect(found.supportedInterfaces.map((each) => each.url)).toEqual([raw.url, 'https://a.example/']);
    expect(card.write(found)).toMatchObject({ url: raw.url, preferredTransport: 'JSONRPC', additionalInterfaces: others });
  });

  it('moves the extended card out of the capabilities', () => {
    const found = read({ ...raw, supportsAuthenticatedExtendedCard: true });
    expect(found.capabilities).toEqual({ extendedAgentCard: true });
    expect(card.write(found)).toMatchObject({ supportsAuthenticatedExtendedCard: true, capabilities: {} });
  });

  it('writes the requirements of a skill as 0.3 does', () => {
    const skill = { id: 's', name: 'S', description: '', tags: [], security: [{ oauth: ['read'] }] };
    const found = read({ ...raw, skills: [skill] });
    expect(found.skills[0]?.securityRequirements).toEqual([{ schemes: { oauth: { list: ['read'] } } }]);
    expect(card.write(found)).toMatchObject({ skills: [skill] });
  });

  it.each([
    [{ ...raw, name: undefined }, 'name'],
    [{ ...raw, additionalInterfaces: [{ url: 'u' }] }, 'additionalInterfaces[0].transport'],
    [{ ...raw, capabilities: { extensions: [{}] } }, 'capabilities.extensions[0].uri'],
  ])('reports the path of a bad member', (document, path) => {
    expect(card.read(document, countingEnv())).toMatchObject({ reason: 'invalid', path });
  });
});
