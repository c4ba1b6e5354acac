import { describe, expect, it } from 'vitest';
import { A2AError } from '#protocol';
import { cleaned, cleanedText, createLog, type LogLevel } from './log.ts';

function logging(level: LogLevel = 'debug', secrets: readonly string[] = []) {
  const lines: string[] = [];
  const log = createLog({ level, secrets, write: (line) => lines.push(line), now: () => new Date('2026-03-12T08:30:00Z') });
  return { log, lines, text: () => lines.join('') };
}

describe('a log', () => {
  it('writes one JSON line per event', () => {
    const { log, lines } = logging();
    log.info('ready', { url: 'http://127.0.0.1:1', agents: 2 });
    expect(lines).toEqual(['{"time":"2026-03-12T08:30:00.000Z","level":"info","message":"ready","url":"http://127.0.0.1:1","agents":2}\n']);
  });

  it('adds the facts that every line has', () => {
    const lines: string[] = [];
    createLog({ write: (line) => lines.push(line), fields: { worker: 2 } }).info('ready', { agents: 1 });
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ message: 'ready', worker: 2, agents: 1 });
  });

  it('writes a text with line breaks as one line', () => {
    const { log, lines } = logging();
    log.warn('a\nb\r\n{"level":"error"}', { path: '/x\n/y\u2028z', nul: '\u0000' });
    expect(lines).toHaveLength(1);
    expect(lines[0]?.trimEnd().includes('\n')).toBe(false);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ path: '/x\n/y\u2028z' });
  });

  it('leaves out lines below its level', () => {
    for (const [level, heard] of [
      ['debug', 4],
      ['info', 3],
      ['warn', 2],
      ['error', 1],
      ['silent', 0],
    ] as const) {
      const { log, lines } = logging(level);
      log.debug('x');
      log.info('x');
      log.warn('x');
      log.error('x');
      expect([level, lines.length]).toEqual([level, heard]);
    }
  });

  it('writes an error with its causes and stacks', () => {
    const { log, lines } = logging();
    log.error('failed', new A2AError('INTERNAL_ERROR', undefined, { cause: new Error('disk', { cause: 'worn' }) }));
    const { cause } = JSON.parse(lines[0] ?? '') as { cause: { stack: string; cause: { message: string; cause: string } } };
    expect(cause.stack).toContain('log.test.ts');
    expect([cause.cause.message, cause.cause.cause]).toEqual(['disk', 'worn']);
    log.error('failed', { not: 'an error' });
    expect(lines).toHaveLength(2);
  });

  it('removes secrets, wherever they occur', () => {
    const { log, text } = logging('debug', ['configured-token-1']);
    log.error('upstream refused configured-token-1', new Error('Authorization: Bearer abcdef0123456789 was wrong'), {
      authorization: 'Basic dXNlcjpwYXNz',
      headers: { Cookie: 'session=1', 'x-api-key': 'k-123', 'set-cookie': ['a', 'b'] },
      nested: [{ clientSecret: 'shh', accessToken: { value: 'deep' }, password: 'pw', privateKey: '-----BEGIN' }],
      url: 'https://user:hunter2@example.org/x',
      jwt: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl',
      key: 'sk-proj-0123456789abcdef',
      sentence: 'sent with basic dXNlcjpwYXNzd29yZA==',
    });
    for (const secret of [
      'configured-token-1',
      'abcdef0123456789',
      'dXNlcjpwYXNz',
      'session=1',
      'k-123',
      'shh',
      'deep',
      '"pw"',
      'BEGIN',
      'hunter2',
      'eyJhbGci',
      '0123456789abcdef',
    ]) {
      expect([secret, text().includes(secret)]).toEqual([secret, false]);
    }
    expect(text()).toContain('was wrong');
    expect(text()).toContain('https://[removed]@example.org/x');
  });
});

describe('redaction', () => {
  // With time in the square of the length, each of these takes minutes and the test times out.
  const pieces = ['eyJaaaaaaaa-', 'eyJaaaaaaaa.', '-eyJ', '"', '"a" ', '"a":"\\\\', '://a:', 'bearer ', 'sk-', 'token', ' ', '\\'];
  it.each(pieces)('takes linear time for many repetitions of %j', (piece) => {
    const text = piece.repeat(1_200_000 / piece.length);
    expect(cleanedText(text).length).toBeGreaterThan(0);
    expect(cleaned('text', text)).toBeTypeOf('string');
    expect(cleaned(`${text}\n`, {})).toBeDefined();
  });

  it('finds a token inside other words', () => {
    const jwt = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl';
    for (const text of [jwt, `a.${jwt}`, `a.b.${jwt}`, `x-${jwt}`, `eyJx.${jwt}`, `(${jwt})`, `${jwt} ${jwt}`]) {
      expect(cleanedText(text)).not.toContain('c2lnbmF0dXJl');
    }
  });

  it('removes values whose names contain a line break beside a secret word', () => {
    expect(JSON.stringify({ 'my-token\n': 'abc' }, cleaned)).toBe('{"my-token\\n":"[removed]"}');
  });
});
