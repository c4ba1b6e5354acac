import { describe, expect, it } from 'vitest';
import { toHttpRequest } from '#bindings';
import { createHostOriginCheck, isLoopback } from './host-origin.ts';

function request(url: string, headers: Readonly<Record<string, string>> = {}, method = 'GET') {
  // Browsers forbid setting Host and Origin on a `Request`; Node allows it.
  return toHttpRequest(new Request(url, { method, headers }));
}

describe('the Host header', () => {
  const guard = createHostOriginCheck({ url: 'https://agents.example.org/a', allowedHosts: ['Lab.Internal', '10.0.0.5'] });
  const accepts = (host: string): boolean => guard.refuse(request(`http://${host}/`)) === undefined;

  for (const host of [
    'localhost',
    'localhost:41242',
    'demo.localhost:1',
    '127.0.0.1:8080',
    '127.9.9.9',
    '[::1]:80',
    'LOCALHOST',
    'localhost.',
  ]) {
    it(`is accepted if it is loopback: ${host}`, () => expect(accepts(host)).toBe(true));
  }
  for (const host of ['agents.example.org', 'agents.example.org:8443', 'lab.internal', '10.0.0.5:41242']) {
    it(`is accepted if it is configured: ${host}`, () => expect(accepts(host)).toBe(true));
  }
  for (const host of [
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '10.0.0.6',
    'agents.example.org.evil.example',
    '[::2]',
    '0.0.0.0',
  ]) {
    it(`is refused otherwise: ${host}`, () => expect(accepts(host)).toBe(false));
  }

  it('must not differ from the host of the URL', () => {
    expect(guard.refuse(request('http://localhost/', { Host: 'evil.example' }))?.status).toBe(403);
    expect(guard.refuse(request('http://evil.example/', { Host: 'localhost' }))?.status).toBe(403);
  });

  it('is refused if it is not a valid host', () => {
    for (const host of ['localhost:99999', 'localhost:', '127.0.0.1:x', '[::1'])
      expect([host, guard.refuse(request('http://localhost/', { Host: host }))?.status]).toEqual([host, 403]);
  });

  it('may be any with allowedHosts *', () => {
    expect(createHostOriginCheck({ allowedHosts: ['*'] }).refuse(request('http://evil.example/'))).toBeUndefined();
  });

  it('is judged the same when the cache is full', () => {
    const own = createHostOriginCheck({});
    for (let at = 0; at < 500; at += 1) expect(own.refuse(request(`http://h${at}.example/`))?.status).toBe(403);
    expect(own.refuse(request('http://h499.example/'))?.status).toBe(403);
    expect(own.refuse(request('http://localhost:9/'))).toBeUndefined();
  });
});

describe('the Origin header', () => {
  const guard = createHostOriginCheck({ allowedOrigins: ['https://app.example.org/', 'http://localhost:3000'] });
  const from = (origin: string) => request('http://localhost:41242/a2a', { Origin: origin }, 'POST');

  for (const origin of ['http://localhost:41242', 'https://app.example.org', 'http://localhost:3000']) {
    it(`is accepted if it is the node’s own or allowed: ${origin}`, () => {
      expect(guard.refuse(from(origin))).toBeUndefined();
      expect(guard.corsHeaders(from(origin))).toMatchObject({ 'Access-Control-Allow-Origin': origin, Vary: 'Origin' });
    });
  }
  for (const origin of [
    'null',
    'https://evil.example',
    'http://localhost:9999',
    'https://localhost:41242',
    'http://app.example.org',
    'https://app.example.org.evil.example',
  ]) {
    it(`is refused otherwise: ${origin}`, () => expect(guard.refuse(from(origin))?.status).toBe(403));
  }

  it('decides the response to a CORS preflight', () => {
    const preflight = request(
      'http://localhost:41242/a2a',
      {
        Origin: 'https://app.example.org',
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': 'content-type,a2a-version',
      },
      'OPTIONS',
    );
    expect(guard.preflight(preflight)).toMatchObject({
      status: 204,
      headers: { 'Access-Control-Allow-Methods': 'GET, HEAD, POST, DELETE', 'Access-Control-Allow-Headers': 'content-type,a2a-version' },
    });
    expect(guard.preflight(request('http://localhost/', {}, 'OPTIONS'))).toBeUndefined();
  });

  it('is not required', () => {
    expect(guard.corsHeaders(request('http://localhost/'))).toBeUndefined();
  });
});

describe('loopback', () => {
  for (const name of ['127.0.0.1', '::1', '[::1]', 'localhost', 'a.b.localhost'])
    it(`is ${name}`, () => expect(isLoopback(name)).toBe(true));
  for (const name of ['0.0.0.0', '::', '128.0.0.1', 'localhost.example', 'xlocalhost', ''])
    it(`is not ${name}`, () => expect(isLoopback(name)).toBe(false));
});
