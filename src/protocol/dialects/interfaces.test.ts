import { describe, expect, it } from 'vitest';
import { tenantId } from '../ids.ts';
import type { InterfacePaths } from './interfaces.ts';
import { interfacesFor } from './interfaces.ts';

const BINDINGS: readonly InterfacePaths[] = [
  { protocolBinding: 'JSONRPC', paths: { '1.0': '/a2a', '0.3': '/' } },
  { protocolBinding: 'HTTP+JSON', paths: { '1.0': '', '0.3': '' } },
];

describe('the interfaces of a node', () => {
  it('list each binding in each version, the newest and preferred first', () => {
    expect(interfacesFor('https://a.example', BINDINGS)).toEqual([
      { url: 'https://a.example/a2a', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url: 'https://a.example', protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
      { url: 'https://a.example/', protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
      { url: 'https://a.example', protocolBinding: 'HTTP+JSON', protocolVersion: '0.3' },
    ]);
  });

  it('begin with the preferred binding', () => {
    const bindings = interfacesFor('https://a.example', BINDINGS, { prefer: 'HTTP+JSON' }).map((one) => one.protocolBinding);
    expect(bindings).toEqual(['HTTP+JSON', 'JSONRPC', 'JSONRPC', 'HTTP+JSON']);
  });

  it('name a tenant only for versions with tenants', () => {
    const tenants = interfacesFor('https://a.example', BINDINGS, { tenant: tenantId('t') }).map((one) => one.tenant);
    expect(tenants).toEqual(['t', 't', undefined, undefined]);
  });

  it.each([
    ['http://127.0.0.1:41242/', 'http://127.0.0.1:41242'],
    ['https://A.example:443//', 'https://a.example'],
    ['https://a.example/agents/demo/', 'https://a.example/agents/demo'],
  ])('start with the base URL without its trailing slash: %s', (base, url) => {
    expect(interfacesFor(base, BINDINGS, { prefer: 'HTTP+JSON' })[0]?.url).toBe(url);
    expect(interfacesFor(base, BINDINGS)[0]?.url).toBe(`${url}/a2a`);
  });

  it.each([
    '',
    'a.example',
    '/a2a',
    'ftp://a.example',
    'https://u:p@a.example',
    'https://u@a.example',
    'https://a.example/?k=secret',
    'https://a.example/#x',
  ])('refuse %j', (base) => expect(() => interfacesFor(base, BINDINGS)).toThrow('http(s) address'));
});
